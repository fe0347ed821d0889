import { expect, it } from "vitest"
import { ordered, type Place } from "./found"

const place = (name: string, about?: string): Place => ({ to: `/${name}`, name, about })
const known = [place("Issues"), place("New issue"), place("Companies"), place("Leads"), place("Société", "acme")]
const names = (typed: string, found: Place[] = []) => ordered(typed, known, found).map((one) => one.name)

it("shows all that is known until something is typed", () => {
  expect(names(" ")).toEqual(known.map((one) => one.name))
})

it("has words that begin so before what was found, and letters within words behind it", () => {
  expect(names("is", [place("#3 Is it")])).toEqual(["Issues", "New issue", "#3 Is it"])
  expect(names("ad", [place("Ada")])).toEqual(["Ada", "Leads"])
  expect(names("panies", [])).toEqual(["Companies"])
})

it("knows nothing by letters that only stand in its order", () => {
  expect(names("ma", [place("Max")])).toEqual(["Max"])
})

it("takes several words, in any order, and no accents", () => {
  expect(names("issue new")).toEqual(["New issue"])
  expect(names("societe ac")).toEqual(["Société"])
})
