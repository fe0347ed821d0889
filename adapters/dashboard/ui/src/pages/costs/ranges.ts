// Ranges of costs, in UTC as the API has them.

export const ranges = [
  "today",
  "yesterday",
  "this_week",
  "last_week",
  "7d",
  "this_month",
  "last_month",
  "30d",
  "this_quarter",
  "last_quarter",
] as const

export type Range = (typeof ranges)[number]

interface Period {
  start: string
  end: string // not part of it
  label: string
}

const dayLength = 86_400_000

// months are the lengths of the ranges that are counted in months of the calendar.
const months: Record<string, number> = {
  monthly: 1,
  this_month: 1,
  last_month: 1,
  quarterly: 3,
  this_quarter: 3,
  last_quarter: 3,
}

const days: Record<string, number> = { daily: 1, today: 1, yesterday: 1, weekly: 7, this_week: 7, last_week: 7 }

// before is the range that one is compared with: as much of the month, quarter, week or day before as has gone of this; else as long a
// time right before it.
export function before({ start, end, label }: Period): { since: string; until: string } {
  const [from, to] = [Date.parse(start), Date.parse(end)]
  const back = new Date(from)
  const n = months[label]
  if (n) back.setUTCMonth(back.getUTCMonth() - n)
  else back.setTime(from - (days[label] ? (days[label] as number) * dayLength : to - from))
  // A whole month is compared with a whole month, however long these are; no part reaches into what it is compared with.
  const isWhole = n && to === new Date(from).setUTCMonth(new Date(from).getUTCMonth() + n)
  const until = isWhole ? from : Math.min(from, back.getTime() + (to - from))
  return { since: back.toISOString(), until: new Date(until).toISOString() }
}

interface Forecast {
  period: Period
  spentUsd: number
  expectedUsd: number
  lowUsd: number
  highUsd: number
}

interface Day {
  date: string
  usd: number | null
  expected?: { usd: number; low: number; high: number }
}

// withForecast adds the days to come of a period, each with its even part of what is still expected. Today is one of them: it has a part
// of what its rest will cost.
export function withForecast(
  perDay: { date: string; usd: number }[],
  forecast: Forecast | undefined,
  now: number,
): Day[] {
  if (!forecast) return perDay
  const end = Date.parse(forecast.period.end)
  const rest = (end - now) / dayLength
  if (rest <= 0) return perDay
  const each = (usd: number) => Math.max(0, usd - forecast.spentUsd) / rest
  const expected = { usd: each(forecast.expectedUsd), low: each(forecast.lowUsd), high: each(forecast.highUsd) }
  const known: Day[] = [...perDay]
  for (let at = Math.floor(now / dayLength) * dayLength + dayLength; at < end; at += dayLength) {
    known.push({ date: new Date(at).toISOString().slice(0, 10), usd: null, expected })
  }
  return known
}
