import { expect, it } from "vitest"
import { mediaOf } from "./formats"

it("tells the format of a file by its name", () => {
  expect(mediaOf("leads.ndjson")).toBe("application/x-ndjson")
  expect(mediaOf("Leads 2026.JSONL.GZ")).toBe("application/x-ndjson")
  expect(mediaOf("leads.csv.gz")).toBe("text/csv")
  expect(mediaOf("a.b.json")).toBe("application/json")
  for (const name of ["leads", "leads.gz", "leads.xlsx", "csv", "leads.csv.zip", "leads.tostring"]) {
    expect(mediaOf(name)).toBeUndefined()
  }
})
