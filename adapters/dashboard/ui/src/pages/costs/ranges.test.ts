import { describe, expect, it } from "vitest"
import { before, withForecast } from "./ranges"

describe("ranges", () => {
  it("are compared with as much of the one before", () => {
    expect(before({ start: "2026-04-01T00:00:00.000Z", end: "2026-04-11T12:00:00.000Z", label: "monthly" })).toEqual({
      since: "2026-03-01T00:00:00.000Z",
      until: "2026-03-11T12:00:00.000Z",
    })
    expect(before({ start: "2026-03-01T00:00:00.000Z", end: "2026-03-31T12:00:00.000Z", label: "this_month" })).toEqual(
      { since: "2026-02-01T00:00:00.000Z", until: "2026-03-01T00:00:00.000Z" },
    )
    expect(before({ start: "2026-02-01T00:00:00.000Z", end: "2026-03-01T00:00:00.000Z", label: "last_month" })).toEqual(
      { since: "2026-01-01T00:00:00.000Z", until: "2026-02-01T00:00:00.000Z" },
    )
    expect(before({ start: "2026-04-11T00:00:00.000Z", end: "2026-04-11T06:00:00.000Z", label: "today" })).toEqual({
      since: "2026-04-10T00:00:00.000Z",
      until: "2026-04-10T06:00:00.000Z",
    })
    expect(before({ start: "2026-04-04T06:00:00.000Z", end: "2026-04-11T06:00:00.000Z", label: "7d" })).toEqual({
      since: "2026-03-28T06:00:00.000Z",
      until: "2026-04-04T06:00:00.000Z",
    })
  })
  it("end with the days that are expected", () => {
    const period = { start: "2026-04-01T00:00:00.000Z", end: "2026-05-01T00:00:00.000Z", label: "monthly" }
    const forecast = { period, spentUsd: 100, expectedUsd: 300, lowUsd: 200, highUsd: 400 }
    const days = withForecast([{ date: "2026-04-20", usd: 5 }], forecast, Date.parse("2026-04-21T00:00:00.000Z"))
    expect(days).toHaveLength(10)
    expect(days.at(1)).toEqual({ date: "2026-04-22", usd: null, expected: { usd: 20, low: 10, high: 30 } })
    expect(days.at(-1)?.date).toBe("2026-04-30")
    expect(withForecast([], forecast, Date.parse("2026-05-01T00:00:00.000Z"))).toEqual([])
  })
})
