import { expect, it } from "vitest"
import { words } from "./en"

const sources = Object.values(
  import.meta.glob(["../**/*.{ts,tsx}", "!./**", "!../api/schema.d.ts"], {
    query: "?raw",
    import: "default",
    eager: true,
  }),
).join("\n")

// A word is used by its name, or chosen from its group by a name that is computed.
const isUsed = (path: string) => new RegExp(`words\\.${path.replaceAll(".", "\\.")}\\b`).test(sources)

it("has no word that nothing shows", () => {
  const unused = Object.entries(words).flatMap(([group, within]) =>
    typeof within !== "object" || sources.includes(`words.${group}[`)
      ? isUsed(group)
        ? []
        : [group]
      : Object.keys(within)
          .filter((name) => !isUsed(`${group}.${name}`))
          .map((name) => `${group}.${name}`),
  )
  expect(unused).toEqual([])
})
