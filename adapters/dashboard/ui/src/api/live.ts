import type { QueryClient } from "@tanstack/react-query"

// Entry is what an entry of the activity says of what changed.
export interface Entry {
  type: string
  subject: { type: string; id: string }
}

// stale are the keys of the queries that an entry made stale: one table, by the first word of its type.
const table: Record<string, (of: Entry) => string[][]> = {
  company: (of) => [["companies"], ["company", of.subject.id]],
  team: () => [["companies"], ["company"]],
  agent: () => [["companies"]],
  token: () => [["tokens"], ["sessions"]],
  webhook: () => [["webhooks"], ["deliveries"]],
  partner: () => [["partners"]],
}

export const stale = (of: Entry): string[][] => table[of.type.split(".")[0] ?? ""]?.(of) ?? []

// follow makes stale what an entry names. Whoever reads a stream of entries calls it for each.
export function follow(queries: QueryClient, entry: Entry) {
  for (const queryKey of stale(entry)) void queries.invalidateQueries({ queryKey })
}
