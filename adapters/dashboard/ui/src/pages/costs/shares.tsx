import { useQueries, useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { api, ask, type Schemas } from "../../api/client"
import { type Company, named, useAgents, useTeams } from "../../kit/company"
import { Money } from "../../kit/figures"
import { count } from "../../kit/format"
import { Clip } from "../../kit/page"
import { Failure, Table } from "../../kit/parts"
import { words } from "../../words/en"
import looks from "./costs.module.css"
import type { Report } from "./page"
import type { Range } from "./ranges"

interface Row {
  id: string | null
  others?: number
  usd: number
  tokens: Schemas["CostTokens"]
  calls: number
}

interface SharesProps {
  company: Company
  report: Report
  range: Range | undefined
  by: "team" | "agent" | "model"
}

export function Shares({ company, report, range, by }: SharesProps) {
  const { slug } = useParams({ from: "/shell/c/$slug/costs" })
  const teams = named(useTeams(company.id).data?.rows, (t) => t.name)
  const agents = named(useAgents(company.id).data?.rows, (a) => a.name)
  const byAgent = useByAgent(company.id, report, range, by === "agent")
  const rows: Row[] | undefined = {
    team: report.byTeam?.map(({ teamId, ...rest }) => ({ id: teamId, ...rest })),
    agent: byAgent.rows,
    model: report.byModel.map(({ model, ...rest }) => ({ id: model, ...rest })),
  }[by]
  const name = (row: Row) => {
    if (row.others || row.id === null) return words.costs.others(row.others ?? 0)
    if (by === "agent") {
      return (
        <Link to="/c/$slug/agents/$agent" params={{ slug, agent: row.id }}>
          <Clip>{agents(row.id)}</Clip>
        </Link>
      )
    }
    if (by === "team") {
      return (
        <Link to="/c/$slug/agents" params={{ slug }} search={{ team: row.id }}>
          <Clip>{teams(row.id)}</Clip>
        </Link>
      )
    }
    return <Clip>{row.id}</Clip>
  }
  return (
    <>
      <Failure error={byAgent.error} />
      {by === "agent" && byAgent.isCut && <p className="muted small">{words.costs.notAll}</p>}
      {(rows || !byAgent.error) && (
        <Table
          label={words.costs.by}
          rows={rows}
          id={(row) => row.id ?? "others"}
          columns={[
            { head: words.costs[by], cell: name },
            { head: words.costs.usd, number: true, cell: (row) => <Money usd={row.usd} /> },
            {
              head: words.costs.share,
              minor: true,
              cell: (row) => (
                <span className={looks.share}>
                  <span style={{ inlineSize: `${report.total.usd ? (100 * row.usd) / report.total.usd : 0}%` }} />
                </span>
              ),
            },
            { head: words.costs.calls, number: true, cell: (row) => count(row.calls) },
            {
              head: words.costs.tokens,
              number: true,
              minor: true,
              cell: ({ tokens }) => (
                <span title={words.costs.cached(count(tokens.cacheRead))}>
                  {words.costs.tokensOf(
                    count(tokens.input + tokens.cacheRead + tokens.cacheWrite),
                    count(tokens.output),
                  )}
                </span>
              ),
            },
          ]}
        />
      )}
    </>
  )
}

// mostTeams is how many teams are asked for their agents where no answer has those of the whole company.
const mostTeams = 20

// useByAgent reads what each agent has cost: of the current period in one answer, of other ranges team by team.
function useByAgent(id: string, report: Report, range: Range | undefined, wanted: boolean) {
  const current = useQuery({
    queryKey: [id, "dashboard", "cost"],
    queryFn: () => ask(api.GET("/v1/companies/{id}/dashboard/cost", { params: { path: { id } } })),
    enabled: wanted && !range,
  })
  const teams = report.byTeam?.filter((t) => t.teamId) ?? []
  const asked = wanted && range ? teams.slice(0, mostTeams) : []
  const others = useQueries({
    queries: asked.map(({ teamId: team }) => ({
      queryKey: [id, "costs", "team", team, range],
      queryFn: () =>
        ask(
          api.GET("/v1/companies/{id}/costs/teams/{team}", {
            params: { path: { id, team: team ?? "" }, query: { since: range } },
          }),
        ),
    })),
    combine: (answers) => ({
      isPending: answers.some((a) => a.isPending),
      error: answers.find((a) => a.error)?.error,
      rows: answers.flatMap((a) => a.data?.data.byAgent ?? []),
    }),
  })
  const found = range ? (others.isPending ? undefined : others.rows) : current.data?.data.byAgent
  const rows = found
    ?.map(({ agentId, ...rest }): Row => ({ id: agentId, ...rest }))
    .filter((row) => row.id)
    .sort((a, b) => b.usd - a.usd)
    .slice(0, 100)
  return {
    rows,
    error: wanted ? (range ? others.error : current.error) : undefined,
    isCut: !!range && teams.length > mostTeams,
  }
}
