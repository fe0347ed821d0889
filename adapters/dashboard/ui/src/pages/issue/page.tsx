import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask } from "../../api/client"
import { ApiError, asApiError } from "../../api/errors"
import { Actor } from "../../kit/actor"
import { type Company, InCompany, named, useAgents, useProjects, useTeams } from "../../kit/company"
import { dollars } from "../../kit/format"
import { NewIssue, useIssue } from "../../kit/issues"
import { Markdown } from "../../kit/markdown"
import { MoveIssues } from "../../kit/moves"
import { Facts, IssueLink, IssueState } from "../../kit/page"
import { Empty, Failure, Time } from "../../kit/parts"
import { useMay } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { type Issue, type Move, movesOf } from "../../kit/states"
import { Tree } from "../../kit/tree"
import { words } from "../../words/en"
import { Edit } from "./edit"
import looks from "./issue.module.css"
import { Costs, Happened, Runs, Thread } from "./parts"

export const IssuePage = () => <InCompany>{(company) => <Found key={company.id} company={company} />}</InCompany>

const tabs = ["thread", "runs", "costs", "activity"] as const

function Found({ company }: { company: Company }) {
  const cid = company.id
  const { number } = useParams({ from: "/shell/c/$slug/issues/$number" })
  const id = useQuery({
    queryKey: [cid, "number", number],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const missing = () => new ApiError(404, "not_found", words.issue.gone, "", {}, 0)
      if (!/^[1-9]\d{0,14}$/.test(number)) throw missing()
      const found = await ask(
        api.GET("/v1/companies/{id}/issues", { params: { path: { id: cid }, query: { number: Number(number) } } }),
      )
      const first = found.data[0]
      if (!first) throw missing()
      return first.id
    },
  })
  const issue = useIssue(cid, id.data)
  const error = id.error ?? issue.error
  if (issue.data)
    return (
      <>
        <Failure error={error} retry={issue.refetch} />
        <Page key={issue.data.issue.id} company={company} {...issue.data} again={issue.refetch} />
      </>
    )
  if (!error) return <p className="muted">{words.loading}</p>
  return asApiError(error).status === 404 ? (
    <Empty title={words.issue.gone} text={`#${number}`} />
  ) : (
    <Failure error={error} retry={id.error ? id.refetch : issue.refetch} />
  )
}

function Other({ company, id }: { company: Company; id: string }) {
  const other = useIssue(company.id, id).data?.issue
  if (!other) return <span className="mono small">{id}</span>
  return (
    <span className={looks.other}>
      <IssueLink slug={company.slug} of={other} narrow />
      <IssueState of={other.status} />
    </span>
  )
}

interface PageProps {
  company: Company
  issue: Issue
  etag: string
  again: () => Promise<{ data?: { issue: Issue; etag: string } }>
}

function Page({ company, issue, etag, again }: PageProps) {
  const cid = company.id
  const { slug } = company
  const navigate = useNavigate()
  const tab = oneOf(useSearch({ from: "/shell/c/$slug/issues/$number" }).tab, tabs) ?? "thread"
  const mayWrite = useMay("write", cid)
  const [doing, setDoing] = useState<Move | "edit" | "child">()
  const agents = named(useAgents(cid).data?.rows, (agent) => agent.name)
  const teams = named(useTeams(cid).data?.rows, (team) => team.name)
  const projects = named(useProjects(cid, !!issue.projectId).data?.rows, (one) => one.title)
  const below = useQuery({
    queryKey: [cid, "issues", { parent: issue.id }],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/issues", {
          params: { path: { id: cid }, query: { parent: issue.id, limit: 200 } },
        }),
      ),
  })
  const isOpen = !issue.finishedAt && !["done", "failed", "cancelled"].includes(issue.status)
  const close = () => setDoing(undefined)
  const none = <span className="muted">{words.activity.none}</span>
  return (
    <>
      <div className="stack tight">
        <div className="row">
          <span className="muted">#{issue.number}</span>
          <IssueState of={issue.status} />
          {issue.waitingFor && <span className="muted small">{words.issue.waiting}</span>}
        </div>
        <h1>{issue.title}</h1>
      </div>
      {mayWrite && (
        <div className="row">
          {movesOf(issue).map((move, at) => (
            <button
              key={move}
              type="button"
              className={move === "cancel" ? "button danger" : at === 0 ? "button primary" : "button"}
              onClick={() => setDoing(move)}
            >
              {words.issues.moves[move]}
            </button>
          ))}
          {isOpen && (
            <button type="button" className="button" data-key="e" onClick={() => setDoing("edit")}>
              {words.issue.edit}
            </button>
          )}
          <button type="button" className="button" onClick={() => setDoing("child")}>
            {words.issue.child}
          </button>
        </div>
      )}
      <div className={looks.sides}>
        <div className="stack">
          <section className="panel inset" aria-label={words.issue.description}>
            {issue.description ? (
              <Markdown>{issue.description}</Markdown>
            ) : (
              <p className="muted">{words.issue.noDescription}</p>
            )}
          </section>
          {issue.error && (
            <section className="panel inset stack tight" aria-label={words.issue.error}>
              <h2>{words.issue.error}</h2>
              <Tree of={issue.error} />
            </section>
          )}
          {issue.result !== null && issue.result !== undefined && (
            <section className="panel inset stack tight" aria-label={words.issue.result}>
              <h2>{words.issue.result}</h2>
              {typeof issue.result === "string" ? <Markdown>{issue.result}</Markdown> : <Tree of={issue.result} />}
            </section>
          )}
          <nav className="tabs" aria-label={words.issue.tabList}>
            {tabs.map((one) => (
              <Link
                key={one}
                to="/c/$slug/issues/$number"
                params={{ slug, number: String(issue.number) }}
                search={{ tab: one === "thread" ? undefined : one }}
                activeOptions={{ exact: true }}
                aria-current={one === tab ? "page" : undefined}
              >
                {words.issue.tabs[one]}
              </Link>
            ))}
          </nav>
          {tab === "thread" && <Thread company={company} issue={issue} mayWrite={mayWrite} name={agents} />}
          {tab === "runs" && <Runs company={company} issue={issue} name={agents} />}
          {tab === "costs" && <Costs company={company} issue={issue} />}
          {tab === "activity" && <Happened company={company} issue={issue} name={agents} />}
        </div>
        <aside className="panel inset stack" aria-label={words.issue.facts}>
          <Facts
            of={[
              [words.issues.priority, words.issues.priorities[issue.priority]],
              [
                words.issues.agent,
                issue.assignedAgentId ? (
                  <Link to="/c/$slug/agents/$agent" params={{ slug, agent: issue.assignedAgentId }}>
                    {agents(issue.assignedAgentId)}
                  </Link>
                ) : (
                  none
                ),
              ],
              [words.issues.team, issue.assignedTeamId ? teams(issue.assignedTeamId) : none],
              [
                words.issues.project,
                issue.projectId ? (
                  <Link to="/c/$slug/projects" params={{ slug }} search={{ open: issue.projectId }}>
                    {projects(issue.projectId)}
                  </Link>
                ) : (
                  none
                ),
              ],
              [words.issues.labels, issue.labels.length ? issue.labels.join(", ") : none],
              [
                words.issue.cost,
                issue.budget.perTaskUsd === null
                  ? dollars(issue.budget.spentUsd, 6)
                  : words.issue.costOf(dollars(issue.budget.spentUsd, 6), dollars(issue.budget.perTaskUsd)),
              ],
              [words.issue.attempt, words.issue.attempts(issue.attempt, issue.maxAttempts)],
              [words.issue.due, issue.dueAt ? <Time key="due" at={issue.dueAt} /> : none],
              [words.issue.created, <Time key="created" at={issue.createdAt} />],
              [words.issue.changed, <Time key="changed" at={issue.updatedAt} />],
              [words.issue.by, <Actor key="by" slug={slug} of={issue.createdBy} name={agents} />],
            ]}
          />
          {issue.parentId && (
            <section className="stack tight">
              <h2>{words.issue.parent}</h2>
              <Other company={company} id={issue.parentId} />
            </section>
          )}
          {issue.retryOf && (
            <section className="stack tight">
              <h2>{words.issue.retryOf}</h2>
              <Other company={company} id={issue.retryOf} />
            </section>
          )}
          {issue.blockedBy.length > 0 && (
            <section className="stack tight">
              <h2>{words.issue.blockers}</h2>
              {issue.blockedBy.map((id) => (
                <Other key={id} company={company} id={id} />
              ))}
            </section>
          )}
          {!!below.data?.data.length && (
            <section className="stack tight">
              <h2>{words.issue.children}</h2>
              {below.data.data.map((one) => (
                <span key={one.id} className={looks.other}>
                  <IssueLink slug={slug} of={one} narrow />
                  <IssueState of={one.status} />
                </span>
              ))}
            </section>
          )}
        </aside>
      </div>
      {doing === "edit" && <Edit cid={cid} issue={issue} etag={etag} again={again} onClose={close} />}
      {doing === "child" && (
        <NewIssue
          cid={cid}
          parent={issue}
          onClose={close}
          onMade={(made) => {
            close()
            void navigate({ to: "/c/$slug/issues/$number", params: { slug, number: String(made.number) } })
          }}
        />
      )}
      {doing && doing !== "edit" && doing !== "child" && (
        <MoveIssues
          cid={cid}
          move={doing}
          issues={[issue]}
          version={{ of: issue, etag }}
          again={async () => {
            const { data } = await again()
            return data && { of: data.issue, etag: data.etag }
          }}
          onClose={close}
        />
      )}
    </>
  )
}
