import { describe, expect, it } from "vitest"
import {
  ago,
  clockApart,
  day,
  dayOf,
  daysUntil,
  dollars,
  longDay,
  size,
  slugOf,
  startOf,
  teamsOf,
  whole,
} from "./format"

const now = Date.parse("2026-04-11T12:00:00.000Z")

describe("formats", () => {
  it("tells how long ago something was", () => {
    expect(ago("2026-04-11T11:59:59.000Z", now, "en")).toBe("now")
    expect(ago("2026-04-11T11:57:00.000Z", now, "en")).toBe("3 min. ago")
    expect(ago("2026-04-10T11:00:00.000Z", now, "en")).toBe("yesterday")
    expect(ago("2026-04-14T12:00:00.000Z", now, "en")).toBe("in 3 days")
  })
  it("shows money", () => {
    expect(dollars(1500, 2, "en")).toBe("$1,500.00")
    expect(dollars(0.123456, 6, "en")).toBe("$0.123456")
  })
  it("shows numbers and sizes", () => {
    expect(whole(1234567, "en")).toBe("1,234,567")
    expect(size(1, "en")).toBe("1 byte")
    expect(size(1023, "en")).toBe("1,023 bytes")
    expect(size(1024, "en")).toBe("1 kB")
    expect(size(5 * 1024 * 1024 + 600_000, "en")).toBe("5.6 MB")
    expect(size(1024 ** 3, "en")).toBe("1 GB")
    expect(size(3000 * 1024 ** 4, "en")).toBe("3,000 TB")
  })
  it("tells clocks that are apart", () => {
    expect(clockApart("2026-04-11T12:00:04.000Z", now)).toBe(0)
    expect(clockApart("2026-04-11T12:00:09.000Z", now)).toBe(9)
    expect(clockApart("2026-04-11T11:59:00.000Z", now)).toBe(-60)
  })
  it("has the days of UTC, wherever the browser is", () => {
    expect(dayOf("2026-04-11T23:59:59.999Z")).toBe("2026-04-11")
    expect(dayOf("2026-04-12T01:30:00+02:00")).toBe("2026-04-11")
    expect(startOf("2026-04-11")).toBe("2026-04-11T00:00:00.000Z")
    expect(startOf("soon")).toBeUndefined()
    expect(day("2026-04-11", "en")).toBe("Apr 11, 2026")
    expect(longDay("2026-04-11", "en")).toBe("Saturday, April 11, 2026")
  })
  it("counts begun days", () => {
    expect(daysUntil("2026-04-11T12:00:00.001Z", now)).toBe(1)
    expect(daysUntil("2026-04-01T12:00:00.000Z", now)).toBe(0)
  })
})

describe("forms", () => {
  it("proposes slugs", () => {
    expect(slugOf("  Ärger & Söhne, GmbH ")).toBe("arger-sohne-gmbh")
    expect(slugOf("🦆")).toBe("")
    expect(slugOf(`${"x".repeat(59)} y`)).toBe("x".repeat(59))
  })
  it("reads starting teams", () => {
    expect(teamsOf("Research 2\n\n  Sales team  10 ")).toEqual({
      teams: [
        { name: "Research", headcount: 2 },
        { name: "Sales team", headcount: 10 },
      ],
    })
    expect(teamsOf("Research")).toEqual({ teams: [], wrong: "Research" })
  })
})
