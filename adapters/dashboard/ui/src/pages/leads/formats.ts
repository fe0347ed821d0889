// kinds are those of what is imported.
export const kinds = ["leads", "campaigns", "taxonomy"] as const

// media are the media types of files by how their names end.
const media = {
  ndjson: "application/x-ndjson",
  jsonl: "application/x-ndjson",
  csv: "text/csv",
  json: "application/json",
} as const

// mediaOf is the media type that the name of a file tells; undefined: none.
export function mediaOf(name: string): (typeof media)[keyof typeof media] | undefined {
  const ending = /\.([a-z]+)$/.exec(name.toLowerCase().replace(/\.gz$/, ""))?.[1]
  return ending && ending in media ? media[ending as keyof typeof media] : undefined
}
