import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { api, ask, type Schemas, seen } from "../api/client"
import { ApiError, asApiError } from "../api/errors"
import { words } from "../words/en"
import { Empty, Failure } from "./parts"
import type { Page } from "./queries"

export type Company = Schemas["Company"]

// companyQuery reads the company with a slug, and its version.
export const companyQuery = (slug: string) =>
  queryOptions({
    queryKey: ["company", slug],
    queryFn: async () => {
      const found = await ask(api.GET("/v1/companies", { params: { query: { slug } } }))
      const id = found.data[0]?.id
      if (!id) throw new ApiError(404, "not_found", words.notFound.title, found.meta.requestId, {}, 0)
      const { body, etag } = await seen(api.GET("/v1/companies/{id}", { params: { path: { id } } }))
      return { company: body.data as Company, etag }
    },
  })

interface InCompanyProps {
  children: (company: Company, etag: string, again: () => Promise<unknown>) => ReactNode
}

// InCompany shows a page of the company that the address names, once it is known; again reads it anew.
export function InCompany({ children }: InCompanyProps) {
  const { slug = "" } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(companyQuery(slug))
  if (data) return children(data.company, data.etag, refetch)
  if (!error) return <p className="muted">{words.loading}</p>
  return asApiError(error).status === 404 ? (
    <Empty title={words.notFound.title} text={slug} />
  ) : (
    <Failure error={error} retry={refetch} />
  )
}

// most is how many pages of 200 rows are read where a page needs all of a list.
const most = 5

// useAll reads a whole list, the first thousand of it; more says whether there is more.
function useAll<T>(
  key: unknown[],
  get: (query: { limit: number; cursor?: string }) => Promise<unknown>,
  enabled = true,
) {
  return useQuery({
    queryKey: key,
    enabled,
    queryFn: async () => {
      const rows: T[] = []
      let cursor: string | undefined
      for (let n = 0; n < most; n++) {
        const page = (await get({ limit: 200, cursor })) as Page<T>
        rows.push(...page.data)
        cursor = page.meta.page.cursor ?? undefined
        if (!cursor) break
      }
      return { rows, more: !!cursor }
    },
    staleTime: 30_000,
  })
}

export const useCompanies = (enabled = true) =>
  useAll<Company>(["companies", "all"], (query) => ask(api.GET("/v1/companies", { params: { query } })), enabled)

export const useTeams = (cid: string) =>
  useAll<Schemas["Team"]>([cid, "teams", "all"], (query) =>
    ask(api.GET("/v1/companies/{id}/teams", { params: { path: { id: cid }, query } })),
  )

export const useAgents = (cid: string) =>
  useAll<Schemas["Agent"]>([cid, "agents", "all"], (query) =>
    ask(api.GET("/v1/companies/{id}/agents", { params: { path: { id: cid }, query } })),
  )

export const useGoals = (cid: string) =>
  useAll<Schemas["Goal"]>([cid, "goals", "all"], (query) =>
    ask(api.GET("/v1/companies/{id}/goals", { params: { path: { id: cid }, query } })),
  )

export const useProjects = (cid: string, enabled = true) =>
  useAll<Schemas["Project"]>(
    [cid, "projects", "all"],
    (query) => ask(api.GET("/v1/companies/{id}/projects", { params: { path: { id: cid }, query } })),
    enabled,
  )

// useRules are the actions that approval rules decide, by the ids of the rules.
export function useRules(cid: string) {
  const all = useAll<Schemas["ApprovalRule"]>([cid, "approval-rules", "all"], (query) =>
    ask(api.GET("/v1/companies/{id}/approval-rules", { params: { path: { id: cid }, query } })),
  )
  return new Map(all.data?.rows.map((rule) => [rule.id, rule.actionName]))
}

// named finds the name of a row by its id, which stands for it while the name is not known.
export const named = <T extends { id: string }>(rows: T[] | undefined, name: (row: T) => string) => {
  const names = new Map(rows?.map((row) => [row.id, name(row)]))
  return (id: string) => names.get(id) ?? id
}

// useStaleIn makes what is known of a company's resources be asked anew.
export function useStaleIn(cid: string, ...resources: string[]) {
  const queries = useQueryClient()
  return () => Promise.all(resources.map((name) => queries.invalidateQueries({ queryKey: [cid, name] })))
}
