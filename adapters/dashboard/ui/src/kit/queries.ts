import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { may, whoIsSignedIn } from "../api/client"
import { over } from "../api/over"

// tick is how often pages outside a company ask anew, while they are seen.
const tick = 30_000

// soon is how often they do while something they show changes by itself.
export const soon = 2_000

export const sessionQuery = { queryKey: ["session"], queryFn: whoIsSignedIn, staleTime: 60_000 }

export const useSession = () => useQuery(sessionQuery).data

export const useMay = (permission: "read" | "write" | "admin", company?: string) =>
  may(useSession(), permission, company)

// Page is a part of a list, as the API answers it.
export interface Page<T> {
  data: T[]
  meta: { page: { cursor: string | null } }
}

// usePages reads a list page by page. What belongs to a company, so that its key begins with the id of one, is told by the stream
// when it is stale.
// changes is true for rows that change by themselves.
export function usePages<T>(
  key: unknown[],
  get: (cursor: string | undefined) => Promise<unknown>,
  changes?: (row: T) => boolean,
) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => get(pageParam) as Promise<Page<T>>,
    initialPageParam: undefined as string | undefined,
    structuralSharing: false, // it would look through all rows that were read before, at each page
    getNextPageParam: (last) => last.meta.page.cursor ?? undefined,
    refetchInterval: ({ state }) => {
      if (String(key[0]).startsWith("cmp_") || over.is()) return false
      return changes && state.data?.pages.some((page) => page.data.some(changes)) ? soon : tick
    },
  })
  return { ...query, rows: query.data?.pages.flatMap((page) => page.data) }
}

// useStale makes lists be asked anew.
export function useStale(...keys: string[]) {
  const queries = useQueryClient()
  return () => Promise.all(keys.map((key) => queries.invalidateQueries({ queryKey: [key] })))
}
