// texts reads the search parameters with some names, and leaves out all others: what a page shows is in its address.
export const texts =
  <K extends string>(...names: K[]) =>
  (search: Record<string, unknown>): Partial<Record<K, string>> => {
    const found: Partial<Record<K, string>> = {}
    for (const name of names) {
      const value = search[name]
      if (typeof value === "string" || typeof value === "number") found[name] = String(value)
    }
    return found
  }

// oneOf is a value if it is one of those known; else undefined, as if the address did not name it.
export const oneOf = <T extends string>(value: string | undefined, known: readonly T[]): T | undefined =>
  known.find((one) => one === value)
