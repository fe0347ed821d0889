import { Link } from "@tanstack/react-router"
import type { Schemas } from "../api/client"
import { words } from "../words/en"
import looks from "./entry.module.css"
import { Time } from "./parts"
import { Tree } from "./tree"

export type Entry = Schemas["ActivityEntry"]

const number = (of: Entry) => (typeof of.payload.number === "number" ? of.payload.number : undefined)

// Subject leads to what an entry is about, where there is a page of it.
function Subject({ slug, of }: { slug: string; of: Entry }) {
  const issue = number(of)
  if (of.subject.type === "issue" && issue) {
    const title = typeof of.payload.title === "string" ? of.payload.title : ""
    return (
      <Link to="/c/$slug/issues/$number" params={{ slug, number: String(issue) }} className={looks.clip} title={title}>
        #{issue} {title}
      </Link>
    )
  }
  if (of.subject.type === "agent")
    return (
      <Link to="/c/$slug/agents/$agent" params={{ slug, agent: of.subject.id }}>
        {typeof of.payload.name === "string" ? of.payload.name : of.subject.id}
      </Link>
    )
  return <span className="mono small">{of.subject.id}</span>
}

// EntryLine is an entry of the activity on a line, with its payload on demand.
export function EntryLine({ slug, of }: { slug: string; of: Entry }) {
  const actor = of.actor.startsWith("agent:") ? of.actor.slice(6) : undefined
  return (
    <li className={looks.entry}>
      <div className={looks.line}>
        <code>{of.action}</code>
        <Subject slug={slug} of={of} />
        <span className="muted small">
          {actor ? (
            <Link to="/c/$slug/agents/$agent" params={{ slug, agent: actor }}>
              {words.activity.by(of.actor)}
            </Link>
          ) : (
            words.activity.by(of.actor)
          )}
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
