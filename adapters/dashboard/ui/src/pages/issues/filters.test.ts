import { describe, expect, it } from "vitest"
import { movesOf, moveTo, type Status } from "../../kit/states"
import { isFiltered, queryOf } from "./filters"

describe("filters of issues", () => {
  it("reads states, numbers and days, and leaves out what is none", () => {
    const query = queryOf({ status: "queued,nonsense,done,done", number: "12", since: "2026-04-11", priority: "huge" })
    expect(query.status).toEqual(["queued", "done"])
    expect(query.number).toBe(12)
    expect(query.since).toBe("2026-04-11T00:00:00.000Z")
    expect(query.priority).toBeUndefined()
    expect(queryOf({ number: "-1", q: "a", until: "soon" })).toMatchObject({ number: undefined, q: undefined })
  })
  it("does not take an order for a filter", () => {
    expect(isFiltered({ sort: "due", view: "board" })).toBe(false)
    expect(isFiltered({ label: "x" })).toBe(true)
  })
})

describe("moves of issues", () => {
  const of = (status: Status, more = {}) => ({
    status,
    workflowId: null,
    waitingFor: null,
    assignedTeamId: null,
    assignedAgentId: null,
    ...more,
  })
  it("are those that the state allows", () => {
    expect(movesOf(of("review"))).toEqual(["accept", "reject", "handoff", "cancel"])
    expect(movesOf(of("done"))).toEqual([])
    expect(movesOf(of("review", { waitingFor: "apr_1" }))).toEqual(["handoff", "cancel"])
    expect(movesOf(of("queued", { workflowId: "wf_1" }))).toEqual(["cancel"])
  })
  it("lead to the columns of the board", () => {
    expect(moveTo(of("review"), "done")).toBe("accept")
    expect(moveTo(of("queued"), "done")).toBeUndefined()
    expect(moveTo(of("failed"), "queued")).toBe("retry")
  })
})
