import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask } from "../../api/client"
import { type Company, named, useAgents } from "../../kit/company"
import { MoveIssues } from "../../kit/moves"
import { IssueState } from "../../kit/page"
import { Actions, Failure } from "../../kit/parts"
import { type Issue, type Move, movesOf, moveTo, type Status, statuses } from "../../kit/states"
import { words } from "../../words/en"
import type { queryOf } from "./filters"
import looks from "./issues.module.css"

interface BoardProps {
  company: Company
  query: ReturnType<typeof queryOf>
  mayWrite: boolean
}

// Board has a column for each state. Cards go only where a move leads, by dragging or by their menu.
export function Board({ company, query, mayWrite }: BoardProps) {
  const cid = company.id
  const [dragged, setDragged] = useState<Issue>()
  const [moving, setMoving] = useState<{ move: Move; issue: Issue }>()
  const { sort: _, ...filters } = query
  const counts = useQuery({
    queryKey: [cid, "issues", "counts", filters],
    queryFn: () => ask(api.GET("/v1/companies/{id}/issues/counts", { params: { path: { id: cid }, query: filters } })),
  }).data?.data
  const columns = query.status ?? statuses
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keyboard
    <section className={looks.board} tabIndex={0} aria-label={words.issues.board}>
      {columns.map((status) => (
        <Column
          key={status}
          company={company}
          status={status}
          query={query}
          count={counts && `${counts.byStatus[status]}${counts.truncated ? "+" : ""}`}
          takes={!!dragged && !!moveTo(dragged, status)}
          mayWrite={mayWrite}
          onDrag={setDragged}
          onDrop={() => {
            const move = dragged && moveTo(dragged, status)
            if (move) setMoving({ move, issue: dragged })
            setDragged(undefined)
          }}
          onMove={(issue, move) => setMoving({ issue, move })}
        />
      ))}
      {moving && (
        <MoveIssues cid={cid} move={moving.move} issues={[moving.issue]} onClose={() => setMoving(undefined)} />
      )}
    </section>
  )
}

interface ColumnProps extends BoardProps {
  status: Status
  count: string | undefined
  takes: boolean
  onDrag: (issue: Issue | undefined) => void
  onDrop: () => void
  onMove: (issue: Issue, move: Move) => void
}

function Column({ company, status, query, count, takes, mayWrite, onDrag, onDrop, onMove }: ColumnProps) {
  const cid = company.id
  const agents = useAgents(cid)
  const name = named(agents.data?.rows, (agent) => agent.name)
  const list = useQuery({
    queryKey: [cid, "issues", "board", { ...query, status }],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/issues", {
          params: { path: { id: cid }, query: { ...query, status: [status], limit: 125 } },
        }),
      ),
  })
  const title = words.work.issueStates[status]
  return (
    <section
      className={takes ? `${looks.column} ${looks.takes}` : looks.column}
      aria-label={words.issues.column(title, count ?? "")}
      onDragOver={(event) => takes && event.preventDefault()}
      onDrop={onDrop}
    >
      <h2>
        <IssueState of={status} /> <span className="muted">{count}</span>
      </h2>
      <Failure error={list.error} retry={list.refetch} />
      <ul>
        {list.data?.data.map((issue) => (
          <li
            key={issue.id}
            className={looks.card}
            draggable={mayWrite}
            onDragStart={(event) => {
              event.dataTransfer.effectAllowed = "move"
              onDrag(issue)
            }}
            onDragEnd={() => onDrag(undefined)}
          >
            <div>
              <Link
                to="/c/$slug/issues/$number"
                params={{ slug: company.slug, number: String(issue.number) }}
                title={issue.title}
              >
                {issue.title}
              </Link>
              <p className="muted small">
                #{issue.number} {issue.assignedAgentId && name(issue.assignedAgentId)}
              </p>
            </div>
            {mayWrite && (
              <Actions
                of={`#${issue.number}`}
                actions={movesOf(issue).map((move) => ({
                  name: words.issues.moves[move],
                  danger: move === "cancel",
                  run: () => onMove(issue, move),
                }))}
              />
            )}
          </li>
        ))}
      </ul>
      {list.data?.meta.page.cursor && (
        <Link to="/c/$slug/issues" params={{ slug: company.slug }} search={{ status }}>
          {words.issues.allOf}
        </Link>
      )}
    </section>
  )
}
