import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { useStaleIn } from "../../kit/company"
import { useDraft } from "../../kit/draft"
import { changes } from "../../kit/format"
import { amount, Conflict, invalid, text, useSave } from "../../kit/forms"
import { idsOf, instantOf, keepOf, labelsOf } from "../../kit/issues"
import { Field, Form, Modal } from "../../kit/parts"
import { type Issue, priorities } from "../../kit/states"
import { words } from "../../words/en"

interface EditProps {
  cid: string
  issue: Issue
  etag: string
  again: () => Promise<unknown>
  onClose: () => void
}

type Patch = Schemas["IssuePatch"]

const local = (at: string | null) => {
  if (!at) return ""
  const day = new Date(at)
  return new Date(day.getTime() - day.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

// Edit changes the fields of an issue. It sends only what was changed; what is typed stays until it is saved or dropped.
export function Edit({ cid, issue, etag, again, onClose }: EditProps) {
  const stale = useStaleIn(cid, "issue", "issues", "lists")
  const draft = useDraft(`${cid} edit ${issue.id}`)
  const [begun] = useState(issue) // what the form was filled with
  const [wrong, setWrong] = useState<unknown>()
  const ids = [...begun.blockedBy, ...(begun.parentId ? [begun.parentId] : [])]
  const numbers = useQuery({
    queryKey: [cid, "issue", "numbers", ids],
    queryFn: async () => {
      const found = new Map<string, number>()
      for (const one of ids) {
        const { data } = await ask(
          api.GET("/v1/companies/{id}/issues/{issue}", { params: { path: { id: cid, issue: one } } }),
        )
        found.set(one, data.number)
      }
      return found
    },
  }).data
  const save = useSave<Patch>(
    etag,
    (patch, version) =>
      ask(
        api.PATCH("/v1/companies/{id}/issues/{issue}", {
          params: { path: { id: cid, issue: issue.id }, header: { "If-Match": version } },
          body: patch,
        }),
      ),
    again,
    async () => {
      draft.clear()
      onClose()
      await stale()
    },
  )
  const submit = async (data: FormData) => {
    setWrong(undefined)
    try {
      const parents = await idsOf(cid, data, "parentId")
      if (parents.length > 1) throw invalid("parentId", words.issues.wrongNumber(text(data, "parentId")))
      const attempts = Number(text(data, "maxAttempts"))
      if (!Number.isInteger(attempts)) throw invalid("maxAttempts", words.figures.wrongNumber)
      const before = fields(begun)
      const due = text(data, "dueAt")
      const patch = changes(before, {
        title: text(data, "title"),
        description: String(data.get("description")).replace(/\r\n/g, "\n"),
        priority: text(data, "priority") as Issue["priority"],
        labels: labelsOf(data),
        budget: { perTaskUsd: amount(data, "usd", "budget") },
        maxAttempts: attempts,
        requiresReview: data.get("requiresReview") === "on",
        dueAt: due === local(begun.dueAt) ? begun.dueAt : instantOf(data, "dueAt"),
        parentId: parents[0] ?? null,
        blockedBy: await idsOf(cid, data, "blockedBy"),
      })
      if (patch) save.save(patch)
      else {
        draft.clear()
        onClose()
      }
    } catch (error) {
      setWrong(error)
    }
  }
  const error = wrong ?? save.error
  const { values } = draft
  const of = (name: string, otherwise: string | number) => values[name] ?? otherwise
  return (
    <Modal title={`${words.issue.edit} #${issue.number}`} open onClose={onClose}>
      <Conflict
        mine={save.mine}
        now={fields(issue)}
        busy={save.busy}
        onSave={() => save.mine && save.save(save.mine)}
        onDrop={() => {
          save.drop()
          draft.clear()
          onClose()
        }}
      />
      {numbers && (
        <div onChange={(event) => event.target instanceof HTMLElement && keepOf(event.target, draft.keep)}>
          <Form submit={words.save} busy={save.busy} error={error} onSubmit={submit} onCancel={onClose}>
            <Field label={words.issues.name} name="title" error={error}>
              {(field) => <input {...field} className="input" defaultValue={of("title", begun.title)} />}
            </Field>
            <Field label={words.issues.description} name="description" help={words.issues.markdown} error={error}>
              {(field) => (
                <textarea {...field} className="input" rows={8} defaultValue={of("description", begun.description)} />
              )}
            </Field>
            <Field label={words.issues.priority} name="priority" error={error}>
              {(field) => (
                <select {...field} className="input" defaultValue={of("priority", begun.priority)}>
                  {priorities.map((one) => (
                    <option key={one} value={one}>
                      {words.issues.priorities[one]}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Field label={words.issues.labels} name="labels" help={words.issues.labelsHelp} error={error}>
              {(field) => <input {...field} className="input" defaultValue={of("labels", begun.labels.join(", "))} />}
            </Field>
            <Field label={words.issues.budget} name="usd" at="budget" error={error}>
              {(field) => (
                <input
                  {...field}
                  className="input"
                  inputMode="decimal"
                  defaultValue={of("usd", begun.budget.perTaskUsd ?? "")}
                />
              )}
            </Field>
            <Field label={words.issue.maxAttempts} name="maxAttempts" error={error}>
              {(field) => (
                <input
                  {...field}
                  className="input"
                  inputMode="numeric"
                  defaultValue={of("maxAttempts", begun.maxAttempts)}
                />
              )}
            </Field>
            <Field label={words.issues.due} name="dueAt" error={error}>
              {(field) => (
                <input
                  {...field}
                  className="input"
                  type="datetime-local"
                  defaultValue={of("dueAt", local(begun.dueAt))}
                />
              )}
            </Field>
            <Field label={words.issue.parentNumber} name="parentId" error={error}>
              {(field) => (
                <input
                  {...field}
                  className="input"
                  defaultValue={of("parentId", begun.parentId ? (numbers.get(begun.parentId) ?? "") : "")}
                />
              )}
            </Field>
            <Field label={words.issue.blockerNumbers} name="blockedBy" error={error}>
              {(field) => (
                <input
                  {...field}
                  className="input"
                  defaultValue={of("blockedBy", begun.blockedBy.map((id) => numbers.get(id)).join(", "))}
                />
              )}
            </Field>
            <label className="choice">
              <input type="checkbox" name="requiresReview" defaultChecked={begun.requiresReview} />
              {words.issues.review}
            </label>
          </Form>
        </div>
      )}
    </Modal>
  )
}

const fields = (of: Issue) => ({
  title: of.title,
  description: of.description,
  priority: of.priority,
  labels: of.labels,
  budget: { perTaskUsd: of.budget.perTaskUsd },
  maxAttempts: of.maxAttempts,
  requiresReview: of.requiresReview,
  dueAt: of.dueAt,
  parentId: of.parentId,
  blockedBy: of.blockedBy,
})
