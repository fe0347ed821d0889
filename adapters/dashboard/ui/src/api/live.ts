import type { QueryClient } from "@tanstack/react-query"
import type { Category, Schemas } from "./client"

// Entry is what an entry of the activity says of what changed.
export type Entry = Pick<Schemas["ActivityEntry"], "category" | "action" | "subject" | "related" | "payload">

// table has what of a company an entry made stale, by its category: the second parts of the keys of queries, whose first is the id of the
// company. "lists" are none of these: they do not jump, but count what is new.
const table = {
  agent: ["agents", "teams", "dashboard", "secrets"],
  approval: ["approvals", "approval-rules", "inbox", "dashboard", "issues"],
  budget: ["budgets", "costs", "dashboard", "inbox"],
  goal: ["goals", "dashboard"],
  project: ["projects", "goals", "dashboard"],
  run: ["runs", "issues", "dashboard", "costs"],
  secret: ["secrets"],
  store: ["budgets", "costs", "issues", "agents", "dashboard", "inbox", "runs"],
  task: ["issues", "inbox", "dashboard", "goals", "projects", "runs", "workflows"],
  team: ["teams", "agents", "dashboard", "budgets"],
  workflow: ["workflows"],
  // The company itself is told below; the others are of the instance.
  company: [],
  backup: [],
  campaign: [],
  import: [],
  key: [],
  lead: [],
  partner: [],
  taxonomy: [],
  token: [],
  webhook: [],
} satisfies Record<Category, string[]>

// stale are the keys of the queries that an entry of a company made stale.
export function stale(cid: string, of: Entry): string[][] {
  const keys = ((table as Record<string, string[]>)[of.category] ?? []).map((name) => [cid, name])
  if (of.related.issueId) keys.push([cid, "issue", of.related.issueId])
  if (of.category === "company" || of.category === "team") keys.push(["companies"], ["company"])
  return keys
}

// patched is a row that an entry is about, with what the entry says of it: a row that is shown changes in place.
export function patched<T extends { id: string }>(row: T, of: Entry): T {
  if (of.subject.id !== row.id) return row
  const known = Object.entries(of.payload).filter(([name]) => name in row && name !== "id")
  return { ...row, ...Object.fromEntries(known) }
}

// Counts of what is new since a list was read, by company and list.
const counts = new Map<string, number>()
const watchers = new Set<() => void>()

function count(key: string, by: number) {
  counts.set(key, by && (counts.get(key) ?? 0) + by)
  for (const tell of watchers) tell()
}

export const fresh = {
  of: (cid: string, list: string) => counts.get(`${cid} ${list}`) ?? 0,
  clear: (cid: string, list: string) => count(`${cid} ${list}`, 0),
  watch: (tell: () => void) => {
    watchers.add(tell)
    return () => watchers.delete(tell)
  },
}

interface Pages {
  pages: { data: { id: string }[] }[]
}

// follower tells the queries of a company what entries made stale: at once, and then once a second at most.
export function follower(queries: QueryClient, cid: string) {
  const waiting = new Map<string, string[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    for (const queryKey of waiting.values()) void queries.invalidateQueries({ queryKey })
    const again = waiting.size > 0
    waiting.clear()
    timer = again ? setTimeout(flush, 1000) : undefined
  }
  const follow = (entry: Entry) => {
    for (const key of stale(cid, entry)) waiting.set(key.join(" "), key)
    timer ??= setTimeout(flush, 50)
    count(`${cid} activity`, 1)
    if (entry.action === "issue.created") count(`${cid} issues`, 1)
    else if (entry.subject.type === "issue") {
      queries.setQueriesData<Pages>({ queryKey: [cid, "lists", "issues"] }, (old) =>
        old?.pages.some((page) => page.data.some((row) => row.id === entry.subject.id))
          ? { ...old, pages: old.pages.map((page) => ({ ...page, data: page.data.map((row) => patched(row, entry)) })) }
          : old,
      )
    }
  }
  return { follow, stop: () => clearTimeout(timer) }
}

const hiddenFor = 30_000 // before a tab that is not seen gives its connection back
const pollEvery = 15_000
const oldest = 600_000 // of a place to go on from

// live follows what happens in a company, until what it returns is called. It tells onChange whether the stream is up. When something
// may have been missed before it began, all is asked anew.
export function live(
  queries: QueryClient,
  cid: string,
  onChange: (isLive: boolean) => void,
  hasMissed: boolean,
): () => void {
  let source: EventSource | undefined
  let place = ""
  let since = Date.now()
  let failures = 0
  let hiding: ReturnType<typeof setTimeout> | undefined
  let opening: ReturnType<typeof setTimeout> | undefined
  let polling: ReturnType<typeof setInterval> | undefined
  const to = follower(queries, cid)
  const everything = () => {
    void queries.invalidateQueries({ queryKey: [cid] })
    void queries.invalidateQueries({ queryKey: ["company"] })
  }
  const down = () => {
    onChange(false)
    polling ??= setInterval(everything, pollEvery)
  }
  const up = () => {
    onChange(true)
    if (polling === undefined) return
    void queries.refetchQueries({ type: "active", predicate: ({ state }) => !!state.error })
    clearInterval(polling)
    polling = undefined
  }
  const open = () => {
    clearTimeout(opening)
    const missed = !place || failures > 1 || Date.now() - since > oldest
    if (missed) place = ""
    const query = place ? `?lastEventId=${encodeURIComponent(place)}` : ""
    const first = new EventSource(`/v1/companies/${cid}/activity/stream${query}`)
    source = first
    first.onopen = () => {
      if (missed && (hasMissed || failures > 0 || polling !== undefined || Date.now() - since > oldest)) everything()
      failures = 0
      up()
    }
    first.onmessage = (event) => {
      place = event.lastEventId
      since = Date.now()
      if (event.data) to.follow(JSON.parse(event.data) as Entry)
    }
    first.onerror = () => {
      down()
      if (first.readyState !== EventSource.CLOSED) return // the browser tries again
      failures++
      void queries.invalidateQueries({ queryKey: ["session"] }) // it may be over
      opening = setTimeout(open, Math.min(5_000 * failures, 30_000))
    }
  }
  const close = () => {
    clearTimeout(opening)
    source?.close()
    source = undefined
  }
  const seen = () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(close, hiddenFor)
    else if (!source) open()
  }
  document.addEventListener("visibilitychange", seen)
  // A page that was left may be kept, to come back to. Its stream would then go on, and hold one of six connections to the server.
  window.addEventListener("pagehide", close)
  window.addEventListener("pageshow", seen)
  open()
  return () => {
    document.removeEventListener("visibilitychange", seen)
    window.removeEventListener("pagehide", close)
    window.removeEventListener("pageshow", seen)
    clearTimeout(hiding)
    clearInterval(polling)
    close()
    to.stop()
  }
}
