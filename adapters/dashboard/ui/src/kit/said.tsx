import type { Schemas } from "../api/client"
import { Actor } from "./actor"
import { named, useAgents } from "./company"
import looks from "./decide.module.css"
import { Prose } from "./page"
import { Time } from "./parts"

interface SaidProps {
  company: { id: string; slug: string }
  of: Pick<Schemas["Comment"], "id" | "author" | "body" | "createdAt">[]
}

// Said is what was said about something that is to be decided.
export function Said({ company, of }: SaidProps) {
  const name = named(useAgents(company.id).data?.rows, (agent) => agent.name)
  return of.map((one) => (
    <div key={one.id} className={looks.said}>
      <p className="muted small">
        <Actor slug={company.slug} of={one.author} name={name} /> · <Time at={one.createdAt} />
      </p>
      <Prose>{one.body}</Prose>
    </div>
  ))
}
