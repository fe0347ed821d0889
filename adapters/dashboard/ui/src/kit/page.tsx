import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Schemas } from "../api/client"
import { words } from "../words/en"
import looks from "./page.module.css"
import { Empty, type Mood, Pill } from "./parts"

// Clip is a text on one line, on a phone on two, and all of it on hover.
export const Clip = ({ children, wide }: { children: string; wide?: boolean }) => (
  <span className={wide ? `${looks.clip} ${looks.wide}` : looks.clip} title={children}>
    {children}
  </span>
)

export const Filters = ({ children }: { children: ReactNode }) => <div className={looks.filters}>{children}</div>

export const NothingMatches = ({ onClear }: { onClear: () => void }) => (
  <Empty title={words.figures.filtered} text={words.figures.filteredText}>
    <button type="button" className="button" onClick={onClear}>
      {words.figures.clear}
    </button>
  </Empty>
)

export const Facts = ({ of }: { of: [name: string, value: ReactNode][] }) => (
  <dl className={looks.facts}>
    {of.map(([name, value]) => (
      <div key={name} style={{ display: "contents" }}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

// Prose is a text of several lines, as it was written.
export const Prose = ({ children }: { children: string }) => <p className={looks.prose}>{children}</p>

interface MoreProps {
  of: { hasNextPage: boolean; isFetching: boolean; fetchNextPage: () => unknown }
}

export const More = ({ of }: MoreProps) =>
  of.hasNextPage && (
    <button type="button" className="button" onClick={() => of.fetchNextPage()} disabled={of.isFetching}>
      {words.loadMore}
    </button>
  )

const moods: Record<Schemas["Issue"]["status"], Mood> = {
  queued: "quiet",
  assigned: "quiet",
  running: "good",
  review: "warning",
  handoff: "warning",
  done: "good",
  failed: "bad",
  cancelled: "quiet",
}

export const IssueState = ({ of }: { of: Schemas["Issue"]["status"] }) => (
  <Pill mood={moods[of]}>{words.work.issueStates[of]}</Pill>
)

interface IssueLinkProps {
  slug: string
  of: Pick<Schemas["Issue"], "number" | "title">
  narrow?: boolean
}

export const IssueLink = ({ slug, of, narrow }: IssueLinkProps) => {
  const to: string = `/c/${slug}/issues/${of.number}`
  return (
    <Link to={to}>
      <Clip wide={!narrow}>{`#${of.number} ${of.title}`}</Clip>
    </Link>
  )
}
