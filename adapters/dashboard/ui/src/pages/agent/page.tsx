import { useQueries, useQuery } from "@tanstack/react-query"
import { Link, useParams, useSearch } from "@tanstack/react-router"
import { useMemo } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { asApiError } from "../../api/errors"
import { type Agent as AgentData, AgentState, HoldState, holdOf, useAgent, useAgentMoves } from "../../kit/agents"
import { ApprovalState } from "../../kit/approval"
import { SpendChart } from "../../kit/chart"
import { type Company, InCompany, named, useTeams } from "../../kit/company"
import { Money, Stats } from "../../kit/figures"
import { count, dollars, lasted } from "../../kit/format"
import { Clip, IssueLink } from "../../kit/page"
import { Actions, Empty, Failure, type Mood, Pill, Table, Time } from "../../kit/parts"
import { words } from "../../words/en"
import { Hold } from "./hold"
import { Settings } from "./settings"

export const Agent = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

function Page({ company }: { company: Company }) {
  const { slug, agent: id } = useParams({ from: "/shell/c/$slug/agents/$agent" })
  const { tab } = useSearch({ from: "/shell/c/$slug/agents/$agent" })
  const { moves, dialogs } = useAgentMoves(company.id)
  const query = useAgent(company.id, id)
  const teamName = named(useTeams(company.id).data?.rows, (t) => t.name)
  if (!query.data) {
    if (!query.error) return <p className="muted">{words.loading}</p>
    return asApiError(query.error).status === 404 ? (
      <Empty title={words.agent.gone} text={words.agent.goneText(id)}>
        <Link className="button" to="/c/$slug/agents" params={{ slug }}>
          {words.agents.title}
        </Link>
      </Empty>
    ) : (
      <Failure error={query.error} retry={query.refetch} />
    )
  }
  const { agent, etag } = query.data
  const hold = holdOf(agent)
  // What one can undo, or do often, is a button; the rest is behind the menu.
  const all = moves(agent, etag)
  const first = all.find((m) => m.what === "pause" || m.what === "resume")
  const here = { to: "/c/$slug/agents/$agent", params: { slug, agent: id }, activeOptions: { exact: true } } as const
  return (
    <>
      <div className="heading">
        <div>
          <p className="small">
            <Link to="/c/$slug/agents" params={{ slug }}>
              {words.agents.title}
            </Link>
          </p>
          <h1>{agent.name}</h1>
          <div className="row">
            <AgentState of={agent.status} />
            <HoldState of={agent} />
            <span className="muted">{agent.role}</span>
            <span className="muted">{`· ${teamName(agent.teamId)}`}</span>
            {agent.model && <span className="muted">{`· ${agent.model}`}</span>}
          </div>
        </div>
        <div className="row">
          {first && (
            <button type="button" className="button" onClick={first.run}>
              {first.name}
            </button>
          )}
          <Actions of={agent.name} actions={all.filter((m) => m !== first)} />
        </div>
      </div>
      <nav className="tabs" aria-label={agent.name}>
        <Link {...here} search={{}}>
          {words.agent.overview}
        </Link>
        <Link {...here} search={{ tab: "settings" }}>
          {words.agent.settings}
        </Link>
      </nav>
      <Failure error={query.error} retry={query.refetch} />
      {hold && <Hold company={company} agent={agent} hold={hold} />}
      {tab === "settings" ? (
        <Settings company={company} agent={agent} etag={etag} again={query.refetch} />
      ) : (
        <Overview company={company} agent={agent} />
      )}
      {dialogs}
    </>
  )
}

function Overview({ company, agent }: { company: Company; agent: AgentData }) {
  const { slug } = useParams({ from: "/shell/c/$slug/agents/$agent" })
  const running = useQuery({
    queryKey: [company.id, "issues", { agent: agent.id, status: "running" }],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/issues", {
          params: { path: { id: company.id }, query: { agent: agent.id, status: ["running"], limit: 10 } },
        }),
      ),
  })
  const costs = useQuery({
    queryKey: [company.id, "costs", "agent", agent.id],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/costs/agents/{agent}", {
          params: { path: { id: company.id, agent: agent.id }, query: { since: "30d" } },
        }),
      ),
  })
  const ended = agent.stats.tasksCompleted + agent.stats.tasksFailed
  const days = useMemo(() => costs.data?.data.trend?.perDay ?? [], [costs.data])
  const today = days.at(-1)?.usd
  return (
    <>
      <Stats
        of={[
          {
            name: words.agent.today,
            value: <Money usd={today} />,
            about:
              agent.budget.dailyUsd === null
                ? words.agent.noLimit
                : words.agent.ofLimit(dollars(agent.budget.dailyUsd)),
          },
          {
            name: words.agent.success,
            value: ended ? `${Math.floor((100 * agent.stats.tasksCompleted) / ended)} %` : words.figures.none,
            about: words.agent.ofEnded(ended),
          },
          { name: words.agent.average, value: <Money usd={agent.stats.averageTaskUsd} />, about: words.agent.perIssue },
          {
            name: words.agent.lastActive,
            value: <Time at={agent.stats.lastActiveAt} />,
            about: agent.stats.adapterFailures > 0 && words.agent.adapterFailures(agent.stats.adapterFailures),
          },
        ]}
      />
      <section className="stack" aria-label={words.agent.now}>
        <h2>{words.agent.now}</h2>
        <Failure error={running.error} retry={running.refetch} />
        {running.data?.data.length === 0 && (
          <p className="muted">{agent.status === "active" ? words.agent.nothing : words.agent.nothingPaused}</p>
        )}
        {!!running.data?.data.length && (
          <ul className="panel">
            {running.data.data.map((issue) => (
              <li key={issue.id} className="row inset">
                <Pill mood="good">{words.agent.runStates.running}</Pill>
                <IssueLink slug={slug} of={issue} />
                <span className="muted small">
                  {words.agent.attempt(issue.attempt)}
                  {issue.startedAt && ` · ${words.agent.runningSince(lasted(issue.startedAt, Date.now()))}`}
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <Failure error={costs.error} retry={costs.refetch} />
      {costs.data && (
        <SpendChart
          title={words.agent.chart}
          summary={words.agent.chartSummary(
            dollars(costs.data.data.total.usd),
            dollars(Math.max(0, ...days.map((d) => d.usd))),
          )}
          days={days}
          limit={agent.budget.dailyUsd ?? undefined}
        />
      )}
      <Runs company={company} agent={agent} slug={slug} />
      <Approvals company={company} agent={agent} />
    </>
  )
}

const runMoods: Record<Schemas["Run"]["status"], Mood> = {
  running: "good",
  succeeded: "good",
  failed: "bad",
  expired: "bad",
  cancelled: "quiet",
}

interface PartProps {
  company: Company
  agent: AgentData
}

// Runs are those on the issues that the agent worked on last: the API lists the runs of one issue.
function Runs({ company, agent, slug }: PartProps & { slug: string }) {
  const id = company.id
  const issues = useQuery({
    queryKey: [id, "issues", { agent: agent.id, sort: "updated" }],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/issues", {
          params: { path: { id }, query: { agent: agent.id, sort: "updated", limit: 8 } },
        }),
      ),
  })
  const begun = issues.data?.data.filter((i) => i.startedAt) ?? []
  const read = useQueries({
    queries: begun.map((issue) => ({
      queryKey: [id, "runs", issue.id, issue.updatedAt],
      queryFn: () =>
        ask(api.GET("/v1/companies/{id}/issues/{issue}/runs", { params: { path: { id, issue: issue.id } } })),
    })),
    combine: (answers) => ({
      isPending: answers.some((a) => a.isPending),
      error: answers.find((a) => a.error)?.error,
      runs: answers.flatMap((a) => a.data?.data ?? []),
    }),
  })
  const rows = read.runs
    .filter((run) => run.agentId === agent.id)
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt))
    .slice(0, 10)
  const issue = new Map(begun.map((i) => [i.id, i]))
  const isLoading = issues.isPending || read.isPending
  return (
    <section className="stack" aria-label={words.agent.runs}>
      <div>
        <h2>{words.agent.runs}</h2>
        <p className="muted small">{words.agent.runsText}</p>
      </div>
      <Failure error={issues.error ?? read.error} retry={issues.error ? issues.refetch : undefined} />
      {!isLoading && rows.length === 0 && !issues.error ? (
        <p className="muted">{`${words.agent.noRuns} ${words.agent.noRunsText}`}</p>
      ) : (
        !issues.error && (
          <Table
            label={words.agent.runs}
            rows={isLoading ? undefined : rows}
            id={(r) => r.id}
            columns={[
              {
                head: words.agent.issue,
                cell: (r) => {
                  const of = issue.get(r.issueId)
                  return of && <IssueLink slug={slug} of={of} />
                },
              },
              {
                head: words.agent.state,
                cell: (r) => <Pill mood={runMoods[r.status]}>{words.agent.runStates[r.status]}</Pill>,
              },
              { head: words.agent.started, cell: (r) => <Time at={r.startedAt} /> },
              { head: words.agent.took, minor: true, cell: (r) => lasted(r.startedAt, r.finishedAt ?? Date.now()) },
              {
                head: words.agent.tokens,
                number: true,
                minor: true,
                cell: (r) => count(r.tokens.input + r.tokens.output + r.tokens.cacheRead + r.tokens.cacheWrite),
              },
              { head: words.agent.cost, number: true, cell: (r) => <Money usd={r.costReported ? r.costUsd : null} /> },
            ]}
          />
        )
      )}
    </section>
  )
}

function Approvals({ company, agent }: PartProps) {
  const list = useQuery({
    queryKey: [company.id, "approvals", { agent: agent.id }],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/approvals", {
          params: { path: { id: company.id }, query: { agent: agent.id, limit: 10 } },
        }),
      ),
  })
  return (
    <section className="stack" aria-label={words.agent.approvals}>
      <h2>{words.agent.approvals}</h2>
      <Failure error={list.error} retry={list.refetch} />
      {list.data?.data.length === 0 && <p className="muted">{words.agent.noApprovals}</p>}
      {!!list.data?.data.length && (
        <Table
          label={words.agent.approvals}
          rows={list.data.data}
          id={(a) => a.id}
          columns={[
            {
              head: words.agent.action,
              cell: (a) => (
                <Link to="/c/$slug/approvals" params={{ slug: company.slug }} search={{ open: a.id }}>
                  <Clip>{a.action}</Clip>
                </Link>
              ),
            },
            { head: words.agent.state, cell: (a) => <ApprovalState of={a.status} /> },
            { head: words.agent.asked, cell: (a) => <Time at={a.requestedAt} /> },
            { head: words.agent.cost, number: true, cell: (a) => <Money usd={a.cost?.usd} /> },
          ]}
        />
      )}
    </section>
  )
}
