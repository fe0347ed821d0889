import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, seen } from "../api/client"
import { words } from "../words/en"
import { useStaleIn } from "./company"
import { useDraft } from "./draft"
import { amount, invalid, text } from "./forms"
import { Who } from "./moves"
import { Field, Form, Modal } from "./parts"
import { type Issue, priorities } from "./states"

// useIssue reads an issue, and its version.
export const useIssue = (cid: string, id: string | undefined) =>
  useQuery({
    queryKey: [cid, "issue", id],
    enabled: !!id,
    queryFn: async () => {
      const { body, etag } = await seen(
        api.GET("/v1/companies/{id}/issues/{issue}", { params: { path: { id: cid, issue: id ?? "" } } }),
      )
      return { issue: body.data as Issue, etag }
    },
  })

// labelsOf reads labels that commas separate.
export const labelsOf = (data: FormData) =>
  text(data, "labels")
    .split(",")
    .map((label) => label.trim())
    .filter(Boolean)

// instantOf reads a field of a local day and time: null if it is empty.
export function instantOf(data: FormData, name: string): string | null {
  const typed = text(data, name)
  return typed ? new Date(typed).toISOString() : null
}

// idsOf reads numbers of issues, and asks for the ids.
export async function idsOf(cid: string, data: FormData, name: string): Promise<string[]> {
  const ids: string[] = []
  for (const word of text(data, name)
    .split(/[\s,]+/)
    .filter(Boolean)) {
    const number = /^#?(\d{1,15})$/.exec(word)?.[1]
    if (!number) throw invalid(name, words.issues.wrongNumber(word))
    const found = await ask(
      api.GET("/v1/companies/{id}/issues", { params: { path: { id: cid }, query: { number: Number(number) } } }),
    )
    const id = found.data[0]?.id
    if (!id) throw invalid(name, words.issues.wrongNumber(word))
    ids.push(id)
  }
  return ids
}

interface NewProps {
  cid: string
  parent?: Pick<Issue, "id" | "number" | "projectId">
  onClose: () => void
  onMade: (issue: Issue) => void
}

// NewIssue files an issue. What is typed is kept when it is closed.
export function NewIssue({ cid, parent, onClose, onMade }: NewProps) {
  const stale = useStaleIn(cid, "lists", "issues", "issue", "counts")
  const draft = useDraft(`${cid} new ${parent?.id ?? ""}`)
  const [key] = useState(once)
  const make = useMutation({
    mutationFn: (data: FormData) => {
      const who = text(data, "who")
      const usd = amount(data, "usd", "budget")
      return ask(
        api.POST("/v1/companies/{id}/issues", {
          params: { path: { id: cid }, header: { "Idempotency-Key": key } },
          body: {
            title: text(data, "title"),
            description: String(data.get("description")),
            priority: text(data, "priority") as Issue["priority"],
            labels: labelsOf(data),
            requiresReview: data.get("review") === "on",
            dueAt: instantOf(data, "dueAt"),
            ...(who && (who.startsWith("agt_") ? { assignedAgentId: who } : { assignedTeamId: who })),
            ...(usd !== null && { budget: { perTaskUsd: usd } }),
            ...(parent && { parentId: parent.id, projectId: parent.projectId }),
          },
        }),
      )
    },
    onSuccess: async ({ data }) => {
      draft.clear()
      onMade(data)
      await stale()
    },
  })
  const { values } = draft
  return (
    <Modal title={parent ? words.issues.createBelow(parent.number) : words.issues.create} open onClose={onClose}>
      <div onChange={(event) => event.target instanceof HTMLElement && keepOf(event.target, draft.keep)}>
        <Form
          submit={words.issues.file}
          busy={make.isPending}
          error={make.error}
          onSubmit={make.mutate}
          onCancel={onClose}
        >
          <Field label={words.issues.name} name="title" error={make.error}>
            {(field) => <input {...field} className="input" autoComplete="off" defaultValue={values.title} />}
          </Field>
          <Field label={words.issues.description} name="description" help={words.issues.markdown} error={make.error}>
            {(field) => <textarea {...field} className="input" rows={5} defaultValue={values.description} />}
          </Field>
          <Who cid={cid} error={make.error} none={words.issues.anybody} />
          <Field label={words.issues.priority} name="priority" error={make.error}>
            {(field) => (
              <select {...field} className="input" defaultValue={values.priority ?? "normal"}>
                {priorities.map((one) => (
                  <option key={one} value={one}>
                    {words.issues.priorities[one]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={words.issues.labels} name="labels" help={words.issues.labelsHelp} error={make.error}>
            {(field) => <input {...field} className="input" autoComplete="off" defaultValue={values.labels} />}
          </Field>
          <Field label={words.issues.budget} name="usd" at="budget" error={make.error}>
            {(field) => (
              <input {...field} className="input" inputMode="decimal" autoComplete="off" defaultValue={values.usd} />
            )}
          </Field>
          <Field label={words.issues.due} name="dueAt" error={make.error}>
            {(field) => <input {...field} className="input" type="datetime-local" defaultValue={values.dueAt} />}
          </Field>
          <label className="choice">
            <input type="checkbox" name="review" defaultChecked />
            {words.issues.review}
          </label>
        </Form>
      </div>
    </Modal>
  )
}

// keepOf gives the form of a control to whoever keeps what is in it.
export const keepOf = (control: HTMLElement, keep: (form: HTMLFormElement) => void) => {
  const form = control.closest("form")
  if (form) keep(form)
}
