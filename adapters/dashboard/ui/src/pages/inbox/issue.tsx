import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../../api/client"
import { Checkpoint } from "../../kit/checkpoint"
import { useAgents, useTeams } from "../../kit/company"
import looks from "../../kit/decide.module.css"
import { Changed, text, useVersion, type Version } from "../../kit/forms"
import { Facts, IssueLink, IssueState, Prose } from "../../kit/page"
import { Failure, Field, Form, Modal, Time } from "../../kit/parts"
import { useMay } from "../../kit/queries"
import { Json } from "../../kit/tree"
import { words } from "../../words/en"
import type { DetailProps } from "./page"

type Issue = Schemas["Issue"]
type What = "accept" | "reject" | "answer" | "assign" | "cancel"

// offered are the decisions about each kind of item.
const offered: Record<string, What[]> = {
  review: ["accept", "reject", "cancel"],
  handoff: ["answer", "assign", "cancel"],
  blocked: ["cancel"],
  waiting: ["assign", "cancel"],
}

const keys: Partial<Record<What, string>> = { accept: "a", reject: "d", answer: "r" }

export function IssueDetail({ item, onDone }: DetailProps) {
  const id = item.company.id
  const issue = item.issue.id
  const path = { id, issue }
  const mayWrite = useMay("write", id)
  const [doing, setDoing] = useState<What>()
  const query = useQuery({
    queryKey: [id, "issues", issue],
    queryFn: async () => {
      const { body, etag } = await seen(api.GET("/v1/companies/{id}/issues/{issue}", { params: { path } }))
      return { issue: body.data, etag }
    },
  })
  const comments = useQuery({
    queryKey: [id, "issues", issue, "comments", "last"],
    queryFn: () =>
      ask(api.GET("/v1/companies/{id}/issues/{issue}/comments", { params: { path, query: { limit: 5 } } })),
  })
  const i = query.data?.issue
  if (!i)
    return query.error ? (
      <Failure error={query.error} retry={query.refetch} />
    ) : (
      <p className="muted">{words.loading}</p>
    )
  const finish = (what: string) => {
    setDoing(undefined)
    onDone(what)
  }
  return (
    <>
      <h2>{i.title}</h2>
      <p className="muted">{words.inbox.about[item.kind]}</p>
      <Facts
        of={[
          [words.inbox.issue, <IssueLink key="issue" slug={item.company.slug} of={i} />],
          [words.agents.state, <IssueState key="state" of={i.status} />],
          [words.inbox.agent, item.agent?.name ?? words.inbox.nobody],
          [words.inbox.deadline, <Time key="due" at={i.dueAt} />],
        ]}
      />
      {i.description && (
        <>
          <h3>{words.inbox.description}</h3>
          <Prose>{i.description}</Prose>
        </>
      )}
      {i.result !== null && i.result !== undefined && (
        <>
          <h3>{words.inbox.result}</h3>
          <Json of={i.result} />
        </>
      )}
      {i.error && (
        <>
          <h3>{words.inbox.error}</h3>
          <Json of={i.error} />
        </>
      )}
      {item.kind !== "blocked" && <Checkpoint cid={id} issue={issue} />}
      {item.kind === "blocked" && <Blockers item={item} issue={i} onDone={finish} />}
      <Failure error={comments.error} retry={comments.refetch} />
      {!!comments.data?.data.length && (
        <>
          <h3>{words.inbox.comments}</h3>
          {comments.data.data.toReversed().map((one) => (
            <div key={one.id} className={looks.said}>
              <p className="muted small">
                {one.author} · <Time at={one.createdAt} />
              </p>
              <Prose>{one.body}</Prose>
            </div>
          ))}
        </>
      )}
      {mayWrite && (
        <div className={looks.decide}>
          {offered[item.kind]?.map((what, n) => (
            <button
              key={what}
              type="button"
              data-key={keys[what]}
              className={
                n === 0 && what !== "cancel" ? "button primary" : what === "cancel" ? "button danger" : "button"
              }
              onClick={() => setDoing(what)}
            >
              {words.inbox[what]}
            </button>
          ))}
        </div>
      )}
      {doing && (
        <Decide
          what={doing}
          version={{ of: i, etag: query.data?.etag ?? "" }}
          again={async () => {
            const { data } = await query.refetch()
            return data && { of: data.issue, etag: data.etag }
          }}
          onClose={() => setDoing(undefined)}
          onDone={finish}
        />
      )}
    </>
  )
}

// Blockers are what blocks an issue and will never be done, unless it is retried.
function Blockers({ item, issue, onDone }: DetailProps & { issue: Issue }) {
  const id = item.company.id
  const mayWrite = useMay("write", id)
  const [key] = useState(once)
  const query = useQuery({
    queryKey: [id, "issues", issue.id, "blockers"],
    queryFn: async () => {
      const found = await Promise.all(
        issue.blockedBy.map((which) =>
          ask(api.GET("/v1/companies/{id}/issues/{issue}", { params: { path: { id, issue: which } } })),
        ),
      )
      return found.map((one) => one.data).filter((one) => one.status === "failed" || one.status === "cancelled")
    },
  })
  const retry = useMutation({
    mutationFn: (which: string) =>
      ask(
        api.POST("/v1/companies/{id}/issues/{issue}/retry", {
          params: { path: { id, issue: which }, header: { "Idempotency-Key": `${key}-${which}` } },
        }),
      ),
    onSuccess: () => onDone(words.inbox.retry),
  })
  return (
    <>
      <h3>{words.inbox.failedBlockers}</h3>
      <Failure error={query.error ?? retry.error} retry={query.error ? query.refetch : undefined} />
      {query.data?.map((one) => (
        <div key={one.id} className="row">
          <IssueState of={one.status} />
          <IssueLink slug={item.company.slug} of={one} narrow />
          {mayWrite && (
            <button type="button" className="button" disabled={retry.isPending} onClick={() => retry.mutate(one.id)}>
              {words.inbox.retryBlocker(`#${one.number}`)}
            </button>
          )}
        </div>
      ))}
    </>
  )
}

interface DecideProps {
  what: What
  version: Version<Issue>
  again: () => Promise<Version<Issue> | undefined>
  onClose: () => void
  onDone: (what: string) => void
}

function Decide({ what, version, again, onClose, onDone }: DecideProps) {
  const { held = version, before, refused } = useVersion(version, again)
  const { of, etag } = held
  const id = of.companyId
  const [key] = useState(once)
  const needsPeople = what === "answer" || what === "assign"
  const path = { id, issue: of.id }
  const params = { path, header: { "Idempotency-Key": key, "If-Match": etag } }
  const assign = (to: string) =>
    ask(
      api.POST("/v1/companies/{id}/issues/{issue}/assign", {
        params: { path, header: { "Idempotency-Key": `${key}-assign` } },
        body: to.startsWith("tm_") ? { teamId: to } : { agentId: to },
      }),
    )
  const run = useMutation({
    mutationFn: async (data: FormData) => {
      const note = text(data, "note")
      switch (what) {
        case "accept":
          return ask(api.POST("/v1/companies/{id}/issues/{issue}/accept", { params }))
        case "reject":
          return ask(api.POST("/v1/companies/{id}/issues/{issue}/reject", { params, body: { note } }))
        case "cancel":
          return ask(
            api.POST("/v1/companies/{id}/issues/{issue}/cancel", { params, body: note ? { reason: note } : {} }),
          )
        case "answer":
          await ask(
            api.POST("/v1/companies/{id}/issues/{issue}/comments", {
              params: { path, header: { "Idempotency-Key": `${key}-comment` } },
              body: { body: note },
            }),
          )
          return assign(text(data, "to"))
        default:
          return assign(text(data, "to"))
      }
    },
    onSuccess: () => onDone(words.inbox[what]),
    onError: refused,
  })
  return (
    <Modal title={words.inbox[what]} open onClose={onClose}>
      <Form
        submit={words.inbox[what]}
        busy={run.isPending}
        error={run.error}
        danger={what === "cancel" || what === "reject"}
        onSubmit={run.mutate}
        onCancel={onClose}
      >
        <p>{`#${of.number} ${of.title}`}</p>
        <Changed before={before} now={of} />
        {what !== "accept" && what !== "assign" && (
          <Field
            label={
              what === "answer" ? words.inbox.answerText : what === "cancel" ? words.inbox.reason : words.inbox.note
            }
            name="note"
            at={what === "answer" ? "body" : what === "cancel" ? "reason" : "note"}
            help={what === "cancel" ? words.inbox.optional : undefined}
            error={run.error}
          >
            {(field) => <textarea {...field} className="input" rows={4} />}
          </Field>
        )}
        {needsPeople && <To of={of} error={run.error} />}
      </Form>
    </Modal>
  )
}

// To chooses who gets an issue: by default who had it.
function To({ of, error }: { of: Issue; error: unknown }) {
  const agents = useAgents(of.companyId)
  const teams = useTeams(of.companyId)
  const active = agents.data?.rows.filter((one) => one.status === "active") ?? []
  const before = active.find((one) => one.id === of.assignedAgentId)
  return (
    <Field label={words.inbox.assignTo} name="to" at="agentId" error={error}>
      {(field) => (
        <select {...field} className="input" key={before?.id} defaultValue={before?.id}>
          {active.map((one) => (
            <option key={one.id} value={one.id}>
              {one.id === before?.id ? words.inbox.asBefore(one.name) : one.name}
            </option>
          ))}
          {teams.data?.rows.map((one) => (
            <option key={one.id} value={one.id}>
              {`${one.name} · ${words.inbox.someAgent}`}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
