import type { Schemas } from "../api/client"
import { words } from "../words/en"
import { BudgetBar, ProgressBar } from "./figures"
import { dollars } from "./format"
import { amount, text } from "./forms"
import { Field } from "./parts"
import looks from "./purposes.module.css"

// Purposes are what work is for: goals and projects.

// Budget is what a purpose has cost, of what it may.
export function Budget({ of, budget }: { of: string; budget: Schemas["PurposeBudget"] }) {
  if (budget.usd === null) {
    return budget.spentUsd ? (
      <span className="muted small">{words.goals.spent(dollars(budget.spentUsd))}</span>
    ) : (
      <span className="muted">{words.figures.none}</span>
    )
  }
  return (
    <div className={looks.bar}>
      <BudgetBar of={of} spent={budget.spentUsd} limit={budget.usd} />
      <span className="muted small">{words.goals.spentOf(dollars(budget.spentUsd), dollars(budget.usd))}</span>
    </div>
  )
}

// Progress is how far the issues of a purpose are.
export const Progress = ({ of, progress }: { of: string; progress: Schemas["Progress"] }) => (
  <ProgressBar
    of={of}
    done={progress.tasksDone}
    inFlight={progress.tasksInFlight}
    queued={progress.tasksQueued}
    total={progress.tasksTotal}
  />
)

interface FieldsProps {
  of?: { title: string; description: string; budget: Schemas["PurposeBudget"] }
  error: unknown
}

export const PurposeFields = ({ of, error }: FieldsProps) => (
  <>
    <Field label={words.goals.name} name="title" error={error}>
      {(field) => <input {...field} className="input" autoComplete="off" defaultValue={of?.title} />}
    </Field>
    <Field label={words.goals.description} name="description" error={error}>
      {(field) => <textarea {...field} className="input" rows={5} defaultValue={of?.description} />}
    </Field>
    <Field label={words.goals.budgetUsd} name="usd" at="budget" help={words.goals.limitHelp} error={error}>
      {(field) => (
        <input
          {...field}
          className="input"
          inputMode="decimal"
          autoComplete="off"
          defaultValue={of?.budget.usd ?? ""}
        />
      )}
    </Field>
  </>
)

// purposeOf reads what these fields hold.
export const purposeOf = (data: FormData) => ({
  title: text(data, "title"),
  description: text(data, "description"),
  budget: { usd: amount(data, "usd", "budget") },
})
