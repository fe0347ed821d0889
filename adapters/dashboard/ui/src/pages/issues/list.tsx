import { Link } from "@tanstack/react-router"
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react"
import { type Company, named, useAgents } from "../../kit/company"
import { dollars } from "../../kit/format"
import { IssueState } from "../../kit/page"
import { Time } from "../../kit/parts"
import type { Issue } from "../../kit/states"
import { words } from "../../words/en"
import looks from "./issues.module.css"

interface ListProps {
  company: Company
  of: { rows?: Issue[]; hasNextPage: boolean; isFetching: boolean; fetchNextPage: () => unknown }
  chosen: Map<string, Issue>
  onChoose?: (issue: Issue) => void
}

const narrow = matchMedia("(width < 720px)")

// List shows the rows that are in sight. With the focus on one, j and k move it, and x selects.
export function List({ company, of, chosen, onChoose }: ListProps) {
  const rows = of.rows ?? []
  const place = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  const agents = useAgents(company.id)
  const name = named(agents.data?.rows, (agent) => agent.name)
  useLayoutEffect(() => setTop(place.current?.offsetTop ?? 0))
  const window = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (narrow.matches ? 68 : 40),
    overscan: 8,
    scrollMargin: top,
  })
  const shown = window.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  const { hasNextPage, isFetching, fetchNextPage } = of
  useEffect(() => {
    if (hasNextPage && !isFetching && last >= rows.length - 40) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage, last, rows.length])
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
    <ul
      className={`panel ${looks.list}`}
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
            <span className={`muted ${looks.cost}`}>{issue.budget.spentUsd > 0 && dollars(issue.budget.spentUsd)}</span>
            <span className={`muted ${looks.at}`}>
              <Time at={issue.updatedAt} />
            </span>
          </li>
        )
      })}
    </ul>
  )
}
