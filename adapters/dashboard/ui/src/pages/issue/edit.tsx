import { useQuery } from "@tanstack/react-query"
import { api, ask } from "../../api/client"
import { useStaleIn } from "../../kit/company"
import { useDraft } from "../../kit/draft"
import { mergePatch } from "../../kit/format"
import { amount, EditForm, invalid, text } from "../../kit/forms"
import { idsOf, instantOf, keepOf, labelsOf } from "../../kit/issues"
import { Field, Modal } from "../../kit/parts"
import { type Issue, priorities } from "../../kit/states"
import { words } from "../../words/en"

interface EditProps {
  cid: string
  issue: Issue
  etag: string
  again: () => Promise<unknown>
  onClose: () => void
}

const local = (at: string | null) => {
  if (!at) return ""
  const day = new Date(at)
  return new Date(day.getTime() - day.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

// Edit changes the fields of an issue. It sends only what was changed; what is typed stays until it is saved or dropped.
export function Edit({ cid, issue, etag, again, onClose }: EditProps) {
  const stale = useStaleIn(cid, "issue", "issues", "lists")
  const draft = useDraft(`${cid} edit ${issue.id}`)
  const ids = [...issue.blockedBy, ...(issue.parentId ? [issue.parentId] : [])]
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
  const patch = async (data: FormData, shown: Issue) => {
    const parents = await idsOf(cid, data, "parentId")
    if (parents.length > 1) throw invalid("parentId", words.issues.wrongNumber(text(data, "parentId")))
    const attempts = Number(text(data, "maxAttempts"))
    if (!Number.isInteger(attempts)) throw invalid("maxAttempts", words.figures.wrongNumber)
    const due = text(data, "dueAt")
    return mergePatch(fields(shown), {
      title: text(data, "title"),
      description: String(data.get("description")).replace(/\r\n/g, "\n"),
      priority: text(data, "priority") as Issue["priority"],
      labels: labelsOf(data),
      budget: { perTaskUsd: amount(data, "usd", "budget") },
      maxAttempts: attempts,
      requiresReview: data.get("requiresReview") === "on",
      dueAt: due === local(shown.dueAt) ? shown.dueAt : instantOf(data, "dueAt"),
      parentId: parents[0] ?? null,
      blockedBy: await idsOf(cid, data, "blockedBy"),
    })
  }
  const { values } = draft
  const of = (name: string, otherwise: string | number) => values[name] ?? otherwise
  return (
    <Modal title={`${words.issue.edit} #${issue.number}`} open onClose={onClose}>
      {numbers && (
        <div onChange={(event) => event.target instanceof HTMLElement && keepOf(event.target, draft.keep)}>
          <EditForm
            of={issue}
            etag={etag}
            submit={words.save}
            patch={patch}
            send={(body, version) =>
              ask(
                api.PATCH("/v1/companies/{id}/issues/{issue}", {
                  params: { path: { id: cid, issue: issue.id }, header: { "If-Match": version } },
                  body,
                }),
              )
            }
            again={again}
            done={() => {
              draft.clear()
              onClose()
              return stale()
            }}
            onDrop={() => {
              draft.clear()
              onClose()
            }}
            onCancel={onClose}
          >
            {(shown, error) => (
              <>
                <Field label={words.issues.name} name="title" error={error}>
                  {(field) => <input {...field} className="input" defaultValue={of("title", shown.title)} />}
                </Field>
                <Field label={words.issues.description} name="description" help={words.issues.markdown} error={error}>
                  {(field) => (
                    <textarea
                      {...field}
                      className="input"
                      rows={8}
                      defaultValue={of("description", shown.description)}
                    />
                  )}
                </Field>
                <Field label={words.issues.priority} name="priority" error={error}>
                  {(field) => (
                    <select {...field} className="input" defaultValue={of("priority", shown.priority)}>
                      {priorities.map((one) => (
                        <option key={one} value={one}>
                          {words.issues.priorities[one]}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
                <Field label={words.issues.labels} name="labels" help={words.issues.labelsHelp} error={error}>
                  {(field) => (
                    <input {...field} className="input" defaultValue={of("labels", shown.labels.join(", "))} />
                  )}
                </Field>
                <Field label={words.issues.budget} name="usd" at="budget" error={error}>
                  {(field) => (
                    <input
                      {...field}
                      className="input"
                      inputMode="decimal"
                      defaultValue={of("usd", shown.budget.perTaskUsd ?? "")}
                    />
                  )}
                </Field>
                <Field label={words.issue.maxAttempts} name="maxAttempts" error={error}>
                  {(field) => (
                    <input
                      {...field}
                      className="input"
                      inputMode="numeric"
                      defaultValue={of("maxAttempts", shown.maxAttempts)}
                    />
                  )}
                </Field>
                <Field label={words.issues.due} name="dueAt" error={error}>
                  {(field) => (
                    <input
                      {...field}
                      className="input"
                      type="datetime-local"
                      defaultValue={of("dueAt", local(shown.dueAt))}
                    />
                  )}
                </Field>
                <Field label={words.issue.parentNumber} name="parentId" error={error}>
                  {(field) => (
                    <input
                      {...field}
                      className="input"
                      defaultValue={of("parentId", shown.parentId ? (numbers.get(shown.parentId) ?? "") : "")}
                    />
                  )}
                </Field>
                <Field label={words.issue.blockerNumbers} name="blockedBy" error={error}>
                  {(field) => (
                    <input
                      {...field}
                      className="input"
                      defaultValue={of("blockedBy", shown.blockedBy.map((id) => numbers.get(id)).join(", "))}
                    />
                  )}
                </Field>
                <label className="choice">
                  <input type="checkbox" name="requiresReview" defaultChecked={shown.requiresReview} />
                  {words.issues.review}
                </label>
              </>
            )}
          </EditForm>
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
