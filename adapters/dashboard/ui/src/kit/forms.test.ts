import { describe, expect, it } from "vitest"
import { count, lasted, mergePatch, objectOf } from "./format"
import { oneOf, texts } from "./search"

describe("merge patches", () => {
  it("hold what differs, and null for what is gone", () => {
    const before = { command: ["a"], env: { A: "1", B: { secret: "x" } }, usage: "none" }
    expect(mergePatch(before, { command: ["a", "b"], env: { A: "1" } })).toEqual({
      command: ["a", "b"],
      env: { B: null },
      usage: null,
    })
    expect(mergePatch(before, structuredClone(before))).toEqual({})
  })
  it("are made of objects of JSON only", () => {
    expect(objectOf(' {"a": 1} ')).toEqual({ a: 1 })
    expect(objectOf("")).toEqual({})
    for (const text of ["{", "[]", "null", "5", '"a"']) expect(objectOf(text)).toBeUndefined()
  })
})

describe("addresses", () => {
  it("hold texts under known names", () => {
    expect(texts("team", "status")({ team: 2024, status: "active", other: "x" })).toEqual({
      team: "2024",
      status: "active",
    })
    expect(texts("team")({ team: { a: 1 } })).toEqual({})
    expect(oneOf("wrong", ["active"])).toBeUndefined()
  })
})

describe("figures", () => {
  it("are short", () => {
    expect(count(9_999, "en")).toBe("9,999")
    expect(count(12_946_345, "en")).toBe("12.9M")
    expect(lasted("2026-04-11T12:00:00.000Z", "2026-04-11T13:02:03.000Z")).toBe("1 h 2 min")
    expect(lasted("2026-04-11T12:00:00.000Z", "2026-04-11T12:00:04.400Z")).toBe("4 s")
  })
})
