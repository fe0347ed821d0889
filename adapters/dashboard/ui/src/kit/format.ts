// Formats of what is shown. All take the locale of the browser unless a test gives another.

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
]

export function ago(at: string, now: number, locale?: string): string {
  const seconds = (Date.parse(at) - now) / 1000
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" })
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit)
  }
  return format.format(0, "second")
}

export const exact = (at: string, locale?: string) =>
  `${new Date(at).toLocaleString(locale, { dateStyle: "medium", timeStyle: "long" })} (${at})`

export const dollars = (usd: number, digits = 2, locale?: string) =>
  new Intl.NumberFormat(locale, {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(usd)

// clockApart is by how many seconds the clock of the server, which answered at a time of this browser, is ahead; 0: less than five,
// which the way of the answer may have taken.
export function clockApart(server: string, seenAt: number): number {
  const seconds = Math.round((Date.parse(server) - seenAt) / 1000)
  return Math.abs(seconds) < 5 ? 0 : seconds
}

// daysUntil counts begun days.
export const daysUntil = (at: string, now: number) => Math.max(0, Math.ceil((Date.parse(at) - now) / 86_400_000))

// slugOf proposes a slug for a name.
export const slugOf = (name: string) =>
  name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60)
    .replace(/-+$/, "")

export interface StartingTeam {
  name: string
  headcount: number
}

// teamsOf reads a line for each team, its name and its number of places; or returns the line that is wrong.
export function teamsOf(text: string): { teams: StartingTeam[]; wrong?: string } {
  const teams: StartingTeam[] = []
  for (const line of text.split("\n").map((l) => l.trim())) {
    if (!line) continue
    const match = /^(.*\S)\s+(\d{1,4})$/.exec(line)
    if (!match) return { teams: [], wrong: line }
    teams.push({ name: match[1] as string, headcount: Number(match[2]) })
  }
  return { teams }
}

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

// mergePatch is the JSON merge patch (RFC 7396) that makes before after: what is gone is null, what stays is left out.
export function mergePatch(before: Json, after: Json): Json {
  const patch: Json = {}
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [a, b] = [before[key], after[key]]
    if (!(key in after)) patch[key] = null
    else if (isObject(a) && isObject(b)) {
      const inner = mergePatch(a, b)
      if (Object.keys(inner).length) patch[key] = inner
    } else if (JSON.stringify(a) !== JSON.stringify(b)) patch[key] = b
  }
  return patch
}

// objectOf reads an object of JSON; undefined: the text is none.
export function objectOf(text: string): Json | undefined {
  if (!text.trim()) return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

// count is a number as people write it, short if it is large: 12.9M.
export const count = (n: number, locale?: string) =>
  new Intl.NumberFormat(locale, n < 10_000 ? {} : { notation: "compact", maximumFractionDigits: 1 }).format(n)

// whole is a number as people write it, to the last digit.
export const whole = (n: number, locale?: string) => new Intl.NumberFormat(locale).format(n)

// size is a number of bytes as people write it, in powers of 1,024.
export function size(bytes: number, locale?: string): string {
  const names = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"]
  let unit = 0
  let rest = bytes
  while (rest >= 1024 && unit < names.length - 1) {
    rest /= 1024
    unit++
  }
  const format = {
    style: "unit",
    unit: names[unit],
    unitDisplay: unit ? "short" : "long",
    maximumFractionDigits: rest < 10 && unit > 0 ? 1 : 0,
  } as const
  return new Intl.NumberFormat(locale, format).format(rest)
}

// day is a calendar day of UTC, such as 2026-04-11, as people write it.
export const day = (date: string, locale?: string) => written(date, { year: "numeric", month: "short" }, locale)

// longDay has the day of the week too.
export const longDay = (date: string, locale?: string) =>
  written(date, { weekday: "long", year: "numeric", month: "long" }, locale)

const written = (date: string, how: Intl.DateTimeFormatOptions, locale?: string) =>
  new Date(`${date.slice(0, 10)}T00:00:00Z`).toLocaleDateString(locale, { timeZone: "UTC", day: "numeric", ...how })

// dayOf is the calendar day of UTC in which an instant lies, such as 2026-04-11.
export const dayOf = (at: string) => new Date(at).toISOString().slice(0, 10)

// startOf is the instant at which a calendar day of UTC begins; undefined: the text is none.
export function startOf(date: string | undefined): string | undefined {
  const at = Date.parse(date ?? "")
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

// lasted is how long something took.
export function lasted(from: string, to: string | number): string {
  const seconds = Math.max(0, Math.round(((typeof to === "number" ? to : Date.parse(to)) - Date.parse(from)) / 1000))
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h ? `${h} h ${m} min` : m ? `${m} min ${s} s` : `${s} s`
}
