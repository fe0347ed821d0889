import { describe, expect, it } from "vitest"
import { isStale, secretsIn } from "./names"

describe("secrets", () => {
  it("are named by the variables of agents", () => {
    const env = { A: { secret: "anthropic" }, B: "plain", C: { secret: "github" }, D: null }
    expect([...secretsIn({ command: ["x"], env })]).toEqual(["anthropic", "github"])
    expect(secretsIn({ url: "https://a.example" }).size).toBe(0)
  })
  it("are stale after 90 days", () => {
    const now = Date.parse("2026-04-11T12:00:00.000Z")
    expect(isStale("2026-01-11T12:00:00.000Z", now)).toBe(true)
    expect(isStale("2026-01-12T12:00:00.000Z", now)).toBe(false)
  })
})
