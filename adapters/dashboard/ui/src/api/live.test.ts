import { QueryClient } from "@tanstack/react-query"
import { describe, expect, it } from "vitest"
import { type Entry, follower, fresh, patched, stale } from "./live"

const entry = (category: string, action: string, id = "iss_1"): Entry => ({
  category,
  action,
  subject: { type: "issue", id },
  related: { issueId: id, agentId: null, runId: null },
  payload: { status: "done", number: 7, comment: "hello" },
})

describe("live", () => {
  it("knows what an entry makes stale", () => {
    expect(stale("cmp_1", entry("task", "issue.completed"))).toContainEqual(["cmp_1", "issue", "iss_1"])
    expect(stale("cmp_1", entry("task", "issue.completed"))).not.toContainEqual(["cmp_1", "lists"])
    expect(stale("cmp_1", entry("store", "store.restored"))).toContainEqual(["cmp_1", "budgets"])
    expect(
      stale("cmp_1", { ...entry("lead", "lead.imported"), related: { issueId: null, agentId: null, runId: null } }),
    ).toEqual([])
  })
  it("changes only the row that an entry is about, and only what the row has", () => {
    const row = { id: "iss_1", status: "queued", number: 7 }
    expect(patched(row, entry("task", "issue.completed"))).toEqual({ id: "iss_1", status: "done", number: 7 })
    expect(patched(row, entry("task", "issue.completed", "iss_2"))).toBe(row)
  })
  it("counts new issues instead of showing them", () => {
    const queries = new QueryClient()
    queries.setQueryData(["cmp_1", "lists", "issues", {}], { pages: [{ data: [{ id: "iss_1", status: "queued" }] }] })
    const to = follower(queries, "cmp_1")
    to.follow(entry("task", "issue.created", "iss_2"))
    to.follow(entry("task", "issue.completed"))
    to.stop()
    expect(fresh.of("cmp_1", "issues")).toBe(1)
    expect(queries.getQueryData(["cmp_1", "lists", "issues", {}])).toEqual({
      pages: [{ data: [{ id: "iss_1", status: "done" }] }],
    })
    fresh.clear("cmp_1", "issues")
    expect(fresh.of("cmp_1", "issues")).toBe(0)
  })
})
