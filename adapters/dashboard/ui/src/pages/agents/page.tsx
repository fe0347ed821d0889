import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask } from "../../api/client"
import { type Agent, AgentState, HoldState, useAgentMoves } from "../../kit/agents"
import { type Company, InCompany, named, useAgents, useTeams } from "../../kit/company"
import { Money } from "../../kit/figures"
import { count } from "../../kit/format"
import { Choose } from "../../kit/forms"
import { Clip, Filters, More, NothingMatches } from "../../kit/page"
import { Actions, Empty, Failure, Table, Time } from "../../kit/parts"
import { useMay, usePages } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { words } from "../../words/en"
import { Hire } from "./hire"
import { Org } from "./org"
import { NewTeam } from "./teams"

export const Agents = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

function Page({ company }: { company: Company }) {
  const { view } = useSearch({ from: "/shell/c/$slug/agents" })
  const mayWrite = useMay("write", company.id)
  const teams = useTeams(company.id)
  const [hiring, setHiring] = useState<{ team?: string }>()
  const [founding, setFounding] = useState(false)
  const { moves, dialogs, showToken } = useAgentMoves(company.id)
  const hire = (team?: string) => setHiring({ team })
  const here = { from: "/c/$slug/agents", to: "/c/$slug/agents" } as const
  return (
    <>
      <div className="heading">
        <h1>{words.agents.title}</h1>
        {mayWrite && (
          <div className="row">
            <button type="button" className="button" onClick={() => setFounding(true)}>
              {words.agents.newTeam}
            </button>
            {!!teams.data?.rows.length && (
              <button type="button" className="button primary" onClick={() => hire()}>
                {words.agents.hire}
              </button>
            )}
          </div>
        )}
      </div>
      <nav className="tabs" aria-label={words.agents.title}>
        <Link {...here} search={(s) => ({ ...s, view: undefined })} activeOptions={{ exact: true }}>
          {words.agents.list}
        </Link>
        <Link {...here} search={(s) => ({ ...s, view: "org" })} activeOptions={{ exact: true }}>
          {words.agents.org}
        </Link>
      </nav>
      <Failure error={teams.error} retry={teams.refetch} />
      {teams.data?.rows.length === 0 ? (
        <Empty title={words.agents.noTeams} text={words.agents.noTeamsText}>
          {mayWrite && (
            <button type="button" className="button" onClick={() => setFounding(true)}>
              {words.agents.newTeam}
            </button>
          )}
        </Empty>
      ) : view === "org" ? (
        <Org company={company} hire={mayWrite ? hire : undefined} moves={moves} />
      ) : (
        <List company={company} hire={mayWrite ? hire : undefined} moves={moves} />
      )}
      {hiring && <Hire company={company} team={hiring.team} onClose={() => setHiring(undefined)} onToken={showToken} />}
      {founding && <NewTeam company={company} onClose={() => setFounding(false)} />}
      {dialogs}
    </>
  )
}

interface ViewProps {
  company: Company
  hire: ((team?: string) => void) | undefined
  moves: ReturnType<typeof useAgentMoves>["moves"]
}

function List({ company, hire, moves }: ViewProps) {
  const search = useSearch({ from: "/shell/c/$slug/agents" })
  const { slug } = useParams({ from: "/shell/c/$slug/agents" })
  const navigate = useNavigate({ from: "/c/$slug/agents" })
  const status = oneOf(search.status, ["active", "paused", "retired"] as const)
  const { team, adapter } = search
  const teams = useTeams(company.id)
  const known = useAgents(company.id).data?.rows
  const teamName = named(teams.data?.rows, (t) => t.name)
  const adapters = [...new Set(known?.map((a) => a.adapter))].sort()
  const list = usePages<Agent>([company.id, "agents", { status, team, adapter }], (cursor) =>
    ask(
      api.GET("/v1/companies/{id}/agents", {
        params: { path: { id: company.id }, query: { status: status && [status], team, adapter, cursor } },
      }),
    ),
  )
  const filter = (change: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  const clear = () => filter({ status: undefined, team: undefined, adapter: undefined })
  const isFiltered = !!(status || team || adapter)
  return (
    <>
      {(isFiltered || !!list.rows?.length) && (
        <Filters>
          <Choose
            label={words.agents.team}
            value={team}
            options={teams.data?.rows.map((t) => [t.id, t.name]) ?? []}
            onChange={(next) => filter({ team: next })}
          />
          <Choose
            label={words.agents.state}
            value={status}
            options={Object.entries(words.agents.states)}
            onChange={(next) => filter({ status: next })}
          />
          <Choose
            label={words.agents.adapter}
            value={adapter}
            options={adapters.map((a) => [a, a])}
            onChange={(next) => filter({ adapter: next })}
          />
          {isFiltered && (
            <button type="button" className="button plain" onClick={clear}>
              {words.figures.clear}
            </button>
          )}
        </Filters>
      )}
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        isFiltered ? (
          <NothingMatches onClear={clear} />
        ) : (
          <Empty title={words.agents.empty} text={words.agents.emptyText}>
            {hire && (
              <button type="button" className="button" onClick={() => hire()}>
                {words.agents.hire}
              </button>
            )}
          </Empty>
        )
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.agents.title}
            rows={list.rows}
            id={(a) => a.id}
            columns={[
              {
                head: words.agents.name,
                cell: (a) => (
                  <Link to="/c/$slug/agents/$agent" params={{ slug, agent: a.id }}>
                    <Clip>{a.name}</Clip>
                  </Link>
                ),
              },
              {
                head: words.agents.state,
                cell: (a) => (
                  <>
                    <AgentState of={a.status} /> <HoldState of={a} />
                  </>
                ),
              },
              { head: words.agents.team, cell: (a) => <Clip>{teamName(a.teamId)}</Clip> },
              { head: words.agents.model, minor: true, cell: (a) => <Clip>{a.model ?? words.figures.none}</Clip> },
              { head: words.agents.adapter, minor: true, cell: (a) => a.adapter },
              {
                head: words.agents.ended,
                number: true,
                cell: (a) => words.agents.endedOf(count(a.stats.tasksCompleted), count(a.stats.tasksFailed)),
              },
              {
                head: words.agents.average,
                number: true,
                minor: true,
                cell: (a) => <Money usd={a.stats.averageTaskUsd} />,
              },
              { head: words.agents.lastActive, cell: (a) => <Time at={a.stats.lastActiveAt} /> },
            ]}
            actions={(a) => <Actions of={a.name} actions={moves(a)} />}
          />
        )
      )}
      <More of={list} />
    </>
  )
}
