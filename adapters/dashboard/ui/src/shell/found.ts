// Place is where the search leads.
export interface Place {
  to: string // its path, by which it is known
  name: string
  about?: string
}

export const named = (rows: Place[], to: string | undefined) => rows.find((row) => row.to === to)

const plain = (text: string) =>
  text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()

// ordered are the places that what was typed may mean, the likeliest first: those known here with a word that begins so, then what the
// API has found, then those with such letters within a word.
export function ordered(typed: string, known: Place[], found: Place[]): Place[] {
  const words = plain(typed).split(/\s+/).filter(Boolean)
  if (!words.length) return known
  const text = (of: Place) => plain(`${of.name} ${of.about ?? ""}`)
  const begins = (of: Place) => words.every((word) => ` ${text(of)}`.includes(` ${word}`))
  const has = (of: Place) => words.every((word) => text(of).includes(word))
  return [...known.filter(begins), ...found, ...known.filter((one) => has(one) && !begins(one))]
}
