import { Link } from "@tanstack/react-router"
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react"
import { type Company, named, useAgents, useProjects } from "../../kit/company"
import { dollars } from "../../kit/format"
import { IssueState } from "../../kit/page"
import { Time } from "../../kit/parts"
import type { Issue } from "../../kit/states"
import { words } from "../../words/en"
import looks from "./issues.module.css"

interface ListProps {
  company: Company
  of: { rows?: Issue[]; error: unknown; hasNextPage: boolean; isFetching: boolean; fetchNextPage: () => unknown }
  chosen: Map<string, Issue>
  onChoose?: (issue: Issue) => void
  sort?: Sort
}

export type Sort = "created" | "updated" | "priority" | "due"

// age is the time that a row shows: the one that the rows are sorted by.
const age = (of: Issue, sort: Sort) => (sort === "updated" ? of.updatedAt : sort === "due" ? of.dueAt : of.createdAt)

const narrow = matchMedia("(width < 720px)")

// List shows the rows that are in sight. With the focus on one, j and k move it, and x selects.
export function List({ company, of, chosen, onChoose, sort = "created" }: ListProps) {
  const rows = of.rows ?? []
  const place = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  const agents = useAgents(company.id)
  const name = named(agents.data?.rows, (agent) => agent.name)
  const projects = useProjects(company.id)
  const project = named(projects.data?.rows, (one) => one.title)
  useLayoutEffect(() => setTop(place.current?.offsetTop ?? 0))
  const window = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (narrow.matches ? 68 : 40),
    overscan: 8,
    scrollMargin: top,
  })
  const { measure } = window
  useEffect(() => {
    narrow.addEventListener("change", measure)
    return () => narrow.removeEventListener("change", measure)
  }, [measure])
  const shown = window.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  const { hasNextPage, isFetching, error, fetchNextPage } = of
  const mayRead = hasNextPage && !isFetching && !error // after an error, when somebody asks for it
  useEffect(() => {
    if (mayRead && last >= rows.length - 40) void fetchNextPage()
  }, [mayRead, fetchNextPage, last, rows.length])
  const keys = (event: KeyboardEvent, issue: Issue, at: number) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === "x") onChoose?.(issue)
    if (event.key !== "j" && event.key !== "k") return
    event.preventDefault()
    const next = at + (event.key === "j" ? 1 : -1)
    window.scrollToIndex(next)
    requestAnimationFrame(() => place.current?.querySelector<HTMLElement>(`[data-index="${next}"] a`)?.focus())
  }
  return (
    <div className="panel">
      <div className={`${looks.heads} muted small`} aria-hidden>
        {onChoose && <span className={looks.box} />}
        <span>{words.issues.heads.number}</span>
        <span>{words.issues.name}</span>
        <span>{words.issues.status}</span>
        <span>{words.issues.priority}</span>
        <span>{words.issues.agent}</span>
        <span className={looks.project}>{words.issues.project}</span>
        <span className={looks.cost}>{words.issues.heads.cost}</span>
        <span>{words.issues.heads[sort]}</span>
      </div>
      <ul
        className={looks.list}
        ref={place}
        aria-label={words.issues.title}
        aria-busy={!of.rows}
        style={{ blockSize: of.rows ? window.getTotalSize() : 200 }}
      >
        {shown.map((item) => {
          const issue = rows[item.index]
          if (!issue) return null
          return (
            <li
              key={issue.id}
              className={looks.row}
              data-index={item.index}
              style={{ blockSize: item.size, transform: `translateY(${item.start - top}px)` }}
            >
              {onChoose && (
                <input
                  type="checkbox"
                  aria-label={words.issues.select(issue.number)}
                  checked={chosen.has(issue.id)}
                  onChange={() => onChoose(issue)}
                />
              )}
              <span className={`muted ${looks.number}`}>#{issue.number}</span>
              <Link
                className={looks.title}
                to="/c/$slug/issues/$number"
                params={{ slug: company.slug, number: String(issue.number) }}
                title={issue.title}
                onKeyDown={(event) => keys(event, issue, item.index)}
              >
                {issue.title}
              </Link>
              <span className={looks.state}>
                <IssueState of={issue.status} />
              </span>
              <span className={`muted ${looks.priority}`}>{words.issues.priorities[issue.priority]}</span>
              <span className={`muted ${looks.agent}`}>{issue.assignedAgentId && name(issue.assignedAgentId)}</span>
              <span className={`muted ${looks.project}`} title={issue.projectId ? project(issue.projectId) : undefined}>
                {issue.projectId && project(issue.projectId)}
              </span>
              <span className={`muted ${looks.cost}`}>
                {issue.budget.spentUsd > 0 && dollars(issue.budget.spentUsd)}
              </span>
              <span className={`muted ${looks.at}`}>
                {age(issue, sort) ? <Time at={age(issue, sort)} /> : words.figures.none}
              </span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
