import { useQueries, useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { api, ask } from "../../api/client"
import { type Company, named, useAgents, useTeams } from "../../kit/company"
import { type CostRow, CostsOf } from "../../kit/costs"
import { Clip } from "../../kit/page"
import { Failure } from "../../kit/parts"
import { words } from "../../words/en"
import type { Report } from "./page"
import type { Range } from "./ranges"

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
  const rows: CostRow[] | undefined = {
    team: report.byTeam?.map(({ teamId, ...rest }) => ({ id: teamId, ...rest })),
    agent: byAgent.rows,
    model: report.byModel.map(({ model, ...rest }) => ({ id: model, ...rest })),
  }[by]
  const name = (id: string) => {
    if (by === "agent") {
      return (
        <Link to="/c/$slug/agents/$agent" params={{ slug, agent: id }}>
          <Clip>{agents(id)}</Clip>
        </Link>
      )
    }
    if (by === "team") {
      return (
        <Link to="/c/$slug/agents" params={{ slug }} search={{ team: id }}>
          <Clip>{teams(id)}</Clip>
        </Link>
      )
    }
    return <Clip>{id}</Clip>
  }
  return (
    <>
      <Failure error={byAgent.error} />
      {by === "agent" && byAgent.isCut && <p className="muted small">{words.costs.notAll}</p>}
      {(rows || !byAgent.error) && <CostsOf rows={rows} head={words.costs[by]} name={name} total={report.total.usd} />}
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
    ?.map(({ agentId, ...rest }): CostRow => ({ id: agentId, ...rest }))
    .filter((row) => row.id)
    .sort((a, b) => b.usd - a.usd)
    .slice(0, 100)
  return {
    rows,
    error: wanted ? (range ? others.error : current.error) : undefined,
    isCut: !!range && teams.length > mostTeams,
  }
}
