import { startOf } from "../../kit/format"
import { oneOf } from "../../kit/search"
import { statuses } from "../../kit/states"

export type Search = Partial<
  Record<
    | ("view" | "new" | "status" | "agent" | "team" | "project" | "goal" | "workflow" | "parent")
    | ("label" | "priority" | "number" | "q" | "since" | "until" | "sort"),
    string
  >
>

// queryOf is what the API is asked with the filters of an address; what it would refuse as no value at all is left out.
export function queryOf(search: Search) {
  const status = search.status?.split(",").flatMap((one) => oneOf(one, statuses) ?? [])
  const number = Number(search.number)
  return {
    status: status?.length ? [...new Set(status)] : undefined,
    agent: search.agent,
    team: search.team,
    project: search.project,
    goal: search.goal,
    workflow: search.workflow,
    parent: search.parent,
    label: search.label,
    priority: oneOf(search.priority, ["low", "normal", "high", "urgent"] as const),
    number: Number.isSafeInteger(number) && number > 0 ? number : undefined,
    q: search.q && search.q.trim().length >= 2 ? search.q.trim() : undefined,
    since: startOf(search.since),
    until: startOf(search.until),
    sort: oneOf(search.sort, ["created", "updated", "priority", "due"] as const),
  }
}

// isFiltered reports whether an address leaves out any issues.
export const isFiltered = (search: Search) => {
  const { sort: _, ...filters } = queryOf(search)
  return Object.values(filters).some((value) => value !== undefined)
}
