import type { ReactNode } from "react"
import type { Schemas } from "../api/client"
import { words } from "../words/en"
import { Money } from "./figures"
import looks from "./figures.module.css"
import { count, dollars } from "./format"
import { Table } from "./parts"

// Kinds is what of costs was for models, tools and services.
export const Kinds = ({ of }: { of: Schemas["CostReport"]["breakdown"] }) => (
  <span className={looks.kinds}>{[of.llm, of.tools, of.runtimeServices].map((usd) => dollars(usd)).join(" · ")}</span>
)

// CostRow is what one of several has cost.
export interface CostRow {
  id: string | null // null: others together
  others?: number // how many
  usd: number
  tokens: Schemas["CostTokens"]
  calls: number
}

interface CostsOfProps {
  rows: CostRow[] | undefined
  head: string // what the rows are of
  name: (id: string) => ReactNode
  total: number // US dollars
}

// CostsOf shows what each of several has cost, and which part of all that is.
export const CostsOf = ({ rows, head, name, total }: CostsOfProps) => (
  <Table
    label={words.costs.by}
    rows={rows}
    id={(row) => row.id ?? "others"}
    columns={[
      {
        head,
        cell: (row) => (row.others || row.id === null ? words.costs.others(row.others ?? 0) : name(row.id)),
      },
      { head: words.costs.usd, number: true, cell: (row) => <Money usd={row.usd} /> },
      {
        head: words.costs.share,
        minor: true,
        cell: (row) => (
          <span className={looks.share}>
            <span style={{ inlineSize: `${total ? (100 * row.usd) / total : 0}%` }} />
          </span>
        ),
      },
      { head: words.costs.calls, number: true, cell: (row) => count(row.calls) },
      { head: words.costs.tokens, number: true, minor: true, cell: ({ tokens }) => <Tokens of={tokens} /> },
    ]}
  />
)

// Tokens is how many went in and came out, with those of caches on hover.
export const Tokens = ({ of }: { of: Schemas["CostTokens"] }) => (
  <span title={words.costs.cached(count(of.cacheRead))}>
    {words.costs.tokensOf(count(of.input + of.cacheRead + of.cacheWrite), count(of.output))}
  </span>
)
