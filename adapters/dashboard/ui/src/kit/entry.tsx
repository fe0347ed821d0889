import { Link } from "@tanstack/react-router"
import type { Schemas } from "../api/client"
import { words } from "../words/en"
import { Actor } from "./actor"
import looks from "./entry.module.css"
import { Time } from "./parts"
import { Tree } from "./tree"

export type Entry = Schemas["ActivityEntry"]

// about is what an entry is about, as far as it says.
export function about(of: Entry): string {
  const said = of.payload.title ?? of.payload.name
  const title = typeof said === "string" ? said : ""
  return number(of) ? words.shell.issue(number(of) ?? 0, title) : title
}

const number = (of: Entry) => (typeof of.payload.number === "number" ? of.payload.number : undefined)

// Subject leads to what an entry is about, where there is a page of it.
function Subject({ slug, of, name }: LineProps) {
  const issue = number(of)
  if (of.subject.type === "issue" && issue)
    return (
      <Link
        to="/c/$slug/issues/$number"
        params={{ slug, number: String(issue) }}
        className={looks.clip}
        title={about(of)}
      >
        {about(of)}
      </Link>
    )
  if (of.subject.type === "agent")
    return (
      <Link to="/c/$slug/agents/$agent" params={{ slug, agent: of.subject.id }}>
        {about(of) || name(of.subject.id)}
      </Link>
    )
  return <span className="mono small">{of.subject.id}</span>
}

interface LineProps {
  slug: string
  of: Entry
  name: (agent: string) => string
}

// EntryLine is an entry of the activity on a line, with its payload on demand.
export function EntryLine({ slug, of, name }: LineProps) {
  return (
    <li className={looks.entry}>
      <div className={looks.line}>
        <code>{of.action}</code>
        <Subject slug={slug} of={of} name={name} />
        <span className="muted small">
          {words.activity.by} <Actor slug={slug} of={of.actor} name={name} />
        </span>
        <span className="muted small">
          <Time at={of.at} />
        </span>
      </div>
      <details>
        <summary className="small muted">{words.activity.payload}</summary>
        <Tree of={of.payload} />
      </details>
    </li>
  )
}
