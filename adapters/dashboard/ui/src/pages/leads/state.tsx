import type { Schemas } from "../../api/client"
import { type Mood, Pill } from "../../kit/parts"
import { words } from "../../words/en"

type Import = Schemas["Import"]

export const nameOf = (of: Import) => of.name ?? words.leads.unnamed(of.kind)

const moods: Record<Import["status"], Mood> = { running: "good", done: "good", failed: "bad", interrupted: "warning" }

// share is how much of the pass that it is in is done, in percent; 0: that is not known.
export const share = ({ progress, bytes }: Import) =>
  progress ? Math.min(100, Math.floor((100 * progress.bytes) / bytes)) : 0

// phase is what a running import does, and how far it is.
export const phase = (of: Import) =>
  of.progress ? words.leads.phase(words.leads.phases[of.progress.phase], share(of)) : ""

// State says how an import is. One that has rejected lines is done, and wants to be looked at.
export function State({ of }: { of: Import }) {
  if (of.status !== "done") return <Pill mood={moods[of.status]}>{phase(of) || words.leads.states[of.status]}</Pill>
  if (of.rejected > 0)
    return <Pill mood="warning">{(of.dryRun ? words.leads.checkedBut : words.leads.doneBut)(of.rejected)}</Pill>
  return <Pill mood="good">{of.dryRun ? words.leads.checked : words.leads.states.done}</Pill>
}
