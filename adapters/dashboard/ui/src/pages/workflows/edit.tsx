import { useMutation } from "@tanstack/react-query"
import { ArrowDown, ArrowUp, Trash2 } from "lucide-react"
import { useRef, useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { type Company, useStaleIn, useTeams } from "../../kit/company"
import { mergePatch } from "../../kit/format"
import { amount, EditForm, text } from "../../kit/forms"
import { Field, Form, Modal } from "../../kit/parts"
import { words } from "../../words/en"
import type { Workflow } from "./page"
import looks from "./workflows.module.css"

type Gate = Schemas["Gate"]

interface Step {
  place: number // tells the steps of a form apart while they move
  key: string
  title: string
  instructions: string
  team: string
  gate: Gate
}

const empty = (place: number, n: number): Step => ({
  place,
  key: `step-${n}`,
  title: "",
  instructions: "",
  team: "",
  gate: "none",
})

const stepsOf = (w: Workflow): Step[] =>
  w.steps.map((step, place) => ({
    place,
    key: step.key,
    title: step.title,
    instructions: step.instructions,
    team: step.team ?? "",
    gate: step.gate,
  }))

const sent = (steps: Step[]) =>
  steps.map(({ key, title, instructions, team, gate }) => ({ key, title, instructions, team: team || null, gate }))

interface FieldsProps {
  company: Company
  of?: Workflow
  error: unknown
}

// Steps are edited as a list, and are one field of the form.
function Steps({ company, of, error }: FieldsProps) {
  const adding = useRef<HTMLButtonElement>(null)
  const [steps, setSteps] = useState<Step[]>(() => (of ? stepsOf(of) : [empty(0, 1)]))
  const teams = useTeams(company.id).data?.rows
  const change = (n: number, part: Partial<Step>) =>
    setSteps(steps.map((step, at) => (at === n ? { ...step, ...part } : step)))
  const move = (n: number, by: number) => {
    const next = [...steps]
    const [step] = next.splice(n, 1)
    if (step) next.splice(n + by, 0, step)
    setSteps(next)
  }
  const remove = (n: number) => {
    adding.current?.focus() // the button that has the focus goes with the step
    setSteps(steps.filter((_, at) => at !== n))
  }
  const add = () => setSteps([...steps, empty(Math.max(-1, ...steps.map((s) => s.place)) + 1, steps.length + 1)])
  return (
    <fieldset className="field plain">
      <legend className="label">{words.workflows.steps}</legend>
      <input type="hidden" name="steps" value={JSON.stringify(sent(steps))} />
      <ol className={looks.edit}>
        {steps.map((step, n) => (
          <li key={step.place} className="panel inset stack">
            <div className={looks.head}>
              <strong>{words.workflows.step(n + 1)}</strong>
              <span className="row">
                <button
                  type="button"
                  className="button plain icon"
                  aria-label={words.workflows.up(n + 1)}
                  disabled={n === 0}
                  onClick={() => move(n, -1)}
                >
                  <ArrowUp size={16} aria-hidden />
                </button>
                <button
                  type="button"
                  className="button plain icon"
                  aria-label={words.workflows.down(n + 1)}
                  disabled={n === steps.length - 1}
                  onClick={() => move(n, 1)}
                >
                  <ArrowDown size={16} aria-hidden />
                </button>
                <button
                  type="button"
                  className="button plain icon"
                  aria-label={words.workflows.removeStep(n + 1)}
                  disabled={steps.length === 1}
                  onClick={() => remove(n)}
                >
                  <Trash2 size={16} aria-hidden />
                </button>
              </span>
            </div>
            <Field label={words.workflows.stepTitle} name={`steps.${n}.title`} error={error}>
              {(field) => (
                <input
                  {...field}
                  className="input"
                  autoComplete="off"
                  value={step.title}
                  onChange={(e) => change(n, { title: e.target.value })}
                />
              )}
            </Field>
            <div className={looks.pair}>
              <Field label={words.workflows.team} name={`steps.${n}.team`} error={error}>
                {(field) => (
                  <select
                    {...field}
                    className="input"
                    value={step.team}
                    onChange={(e) => change(n, { team: e.target.value })}
                  >
                    <option value="">{words.workflows.noTeam}</option>
                    {teams?.map((t) => (
                      <option key={t.id} value={t.id}>
                        {t.name}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
              <Field label={words.workflows.gate} name={`steps.${n}.gate`} error={error}>
                {(field) => (
                  <select
                    {...field}
                    className="input"
                    value={step.gate}
                    onChange={(e) => change(n, { gate: e.target.value as Gate })}
                  >
                    {Object.entries(words.workflows.gates).map(([gate, name]) => (
                      <option key={gate} value={gate}>
                        {name}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            </div>
            <Field label={words.workflows.key} name={`steps.${n}.key`} help={words.workflows.keyHelp} error={error}>
              {(field) => (
                <input
                  {...field}
                  className="input mono"
                  autoComplete="off"
                  value={step.key}
                  onChange={(e) => change(n, { key: e.target.value })}
                />
              )}
            </Field>
            <Field label={words.workflows.instructions} name={`steps.${n}.instructions`} error={error}>
              {(field) => (
                <textarea
                  {...field}
                  className="input"
                  value={step.instructions}
                  onChange={(e) => change(n, { instructions: e.target.value })}
                />
              )}
            </Field>
          </li>
        ))}
      </ol>
      <button type="button" className="button" ref={adding} onClick={add}>
        {words.workflows.addStep}
      </button>
    </fieldset>
  )
}

function Fields({ company, of, error }: FieldsProps) {
  return (
    <>
      <Field label={words.workflows.name} name="name" error={error}>
        {(field) => <input {...field} className="input" autoComplete="off" defaultValue={of?.name} />}
      </Field>
      <Field label={words.workflows.description} name="description" error={error}>
        {(field) => <textarea {...field} className="input" defaultValue={of?.description} />}
      </Field>
      <Field label={words.workflows.budgetUsd} name="usd" at="budget" help={words.workflows.limitHelp} error={error}>
        {(field) => (
          <input {...field} className="input" inputMode="decimal" autoComplete="off" defaultValue={of?.budget?.usd} />
        )}
      </Field>
      <Steps company={company} of={of} error={error} />
    </>
  )
}

function fieldsOf(data: FormData) {
  const usd = amount(data, "usd", "budget")
  return {
    name: text(data, "name"),
    description: text(data, "description"),
    budget: usd === null ? null : { usd },
    steps: JSON.parse(text(data, "steps")) as ReturnType<typeof sent>,
  }
}

export function NewWorkflow({ company, onClose }: { company: Company; onClose: () => void }) {
  const [key] = useState(once)
  const stale = useStaleIn(company.id, "workflows", "budgets")
  const make = useMutation({
    mutationFn: async (data: FormData) => {
      const { budget, ...rest } = fieldsOf(data)
      return ask(
        api.POST("/v1/companies/{id}/workflows", {
          params: { path: { id: company.id }, header: { "Idempotency-Key": key } },
          body: { ...rest, ...(budget && { budget }) },
        }),
      )
    },
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  return (
    <Modal title={words.workflows.create} open onClose={onClose}>
      <Form
        submit={words.workflows.create}
        busy={make.isPending}
        error={make.error}
        onSubmit={make.mutate}
        onCancel={onClose}
      >
        <Fields company={company} error={make.error} />
      </Form>
    </Modal>
  )
}

interface EditProps {
  company: Company
  workflow: Workflow
  etag: string
  again: () => Promise<unknown>
  onClose: () => void
}

const editable = (of: Workflow) => ({
  name: of.name,
  description: of.description,
  budget: of.budget as { usd: number } | null,
  steps: sent(stepsOf(of)),
})

export function Edit({ company, workflow, etag, again, onClose }: EditProps) {
  const path = { id: company.id, workflow: workflow.id }
  const stale = useStaleIn(company.id, "workflows", "budgets")
  return (
    <>
      <p className="muted">{words.workflows.editText(workflow.version + 1)}</p>
      <EditForm
        of={workflow}
        etag={etag}
        submit={words.save}
        patch={(data, of) => mergePatch(editable(of), fieldsOf(data))}
        send={(body, version) =>
          ask(
            api.PATCH("/v1/companies/{id}/workflows/{workflow}", {
              params: { path, header: { "If-Match": version } },
              body,
            }),
          )
        }
        again={again}
        done={async () => {
          await stale()
          onClose()
        }}
        onCancel={onClose}
      >
        {(of, error) => <Fields company={company} of={of} error={error} />}
      </EditForm>
    </>
  )
}
