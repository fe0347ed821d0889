import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../api/client"
import { words } from "../words/en"
import { Checkpoint } from "./checkpoint"
import looks from "./decide.module.css"
import { Money } from "./figures"
import { count, dollars } from "./format"
import { Changed, json, text, useVersion, type Version } from "./forms"
import { Facts, IssueLink, Prose } from "./page"
import { Failure, Field, Form, Modal, type Mood, Pill, Time } from "./parts"
import { useMay } from "./queries"
import { NewRule } from "./rule"
import { Said } from "./said"
import { Json } from "./tree"

export type Approval = Schemas["Approval"]
type What = "approve" | "edit" | "deny" | "ask"

// dear is from how many dollars on the cost is said again before it is approved.
const dear = 10

const moods: Record<Approval["status"], Mood> = {
  pending: "warning",
  asked_question: "quiet",
  approved: "good",
  approved_with_edits: "good",
  denied: "bad",
  expired: "quiet",
}

export const ApprovalState = ({ of }: { of: Approval["status"] }) => (
  <Pill mood={moods[of]}>{words.approvals.states[of]}</Pill>
)

// decider names who, or what, has decided.
export function decider(of: Approval, rules: Map<string, string>, token: (actor: string) => string): string {
  if (of.decidedBy === null) return of.decidedAt === null ? words.figures.none : words.approvals.nobody
  if (!of.decidedBy.startsWith("rule:")) return token(of.decidedBy)
  const rule = rules.get(of.decidedBy.slice("rule:".length))
  return rule === undefined ? words.approvals.oldRule : words.approvals.byRule(rule)
}

export const useApproval = (id: string, approval: string) =>
  useQuery({
    queryKey: [id, "approvals", approval],
    queryFn: async () => {
      const { body, etag } = await seen(
        api.GET("/v1/companies/{id}/approvals/{approval}", { params: { path: { id, approval } } }),
      )
      return { approval: body.data, etag }
    },
  })

interface DetailProps {
  company: { id: string; slug: string }
  of: string // the id of the approval
  agent: string | undefined // its name
  issue: { number: number; title: string } | undefined
  about?: string
  decidedBy?: string
  onDone: (what: string) => void
}

// ApprovalDetail is what an agent asks for, with what can be decided about it.
export function ApprovalDetail({ company, of, agent, issue, about, decidedBy, onDone }: DetailProps) {
  const { id, slug } = company
  const mayWrite = useMay("write", id)
  const [doing, setDoing] = useState<{ what: What | "always"; key: string }>()
  const query = useApproval(id, of)
  const a = query.data?.approval
  if (!a)
    return query.error ? (
      <Failure error={query.error} retry={query.refetch} />
    ) : (
      <p className="muted">{words.loading}</p>
    )
  const isOpen = a.status === "pending" || a.status === "asked_question"
  const begin = (what: What | "always") => setDoing({ what, key: once() })
  return (
    <>
      {about && <p className="muted">{isOpen ? about : words.inbox.gone}</p>}
      <Facts
        of={[
          [words.approvals.state, <ApprovalState key="state" of={a.status} />],
          [words.inbox.agent, agent ?? words.inbox.nobody],
          [words.inbox.action, <code key="action">{a.actionName || words.none}</code>],
          [words.inbox.issue, issue && <IssueLink key="issue" slug={slug} of={issue} />],
          [
            words.inbox.cost,
            a.cost.usd === null && !a.cost.tokens ? (
              <span className="muted">{words.inbox.noCost}</span>
            ) : (
              <span>
                {a.cost.usd !== null && <Money usd={a.cost.usd} />}
                {!!a.cost.tokens && ` ${words.inbox.tokens(count(a.cost.tokens))}`}
              </span>
            ),
          ],
          [words.inbox.asked, <Time key="asked" at={a.requestedAt} />],
          ...(isOpen
            ? ([[words.inbox.deadline, <Time key="deadline" at={a.expiresAt} />]] as [string, React.ReactNode][])
            : ([
                [words.approvals.decided, <Time key="decided" at={a.decidedAt ?? a.expiresAt} />],
                [words.approvals.by, decidedBy ?? a.decidedBy ?? words.approvals.nobody],
              ] as [string, React.ReactNode][])),
        ]}
      />
      {a.note && (
        <>
          <h3>{words.inbox.note}</h3>
          <Prose>{a.note}</Prose>
        </>
      )}
      {a.edits !== null && (
        <>
          <h3>{words.inbox.edits}</h3>
          <Json of={a.edits} />
        </>
      )}
      <h3>{words.inbox.why}</h3>
      {a.reasoning ? <Prose>{a.reasoning}</Prose> : <p className="muted">{words.inbox.notSaid}</p>}
      <h3>{words.inbox.effects}</h3>
      {a.sideEffects.length ? (
        <ul className={looks.said}>
          {a.sideEffects.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      ) : (
        <p className="muted">{words.inbox.noEffects}</p>
      )}
      <h3>{words.inbox.ifDenied}</h3>
      {a.ifDenied ? <Prose>{a.ifDenied}</Prose> : <p className="muted">{words.inbox.notSaid}</p>}
      <Checkpoint cid={id} issue={a.issueId} run={a.runId} />
      {a.parked && <p className="muted">{words.inbox.parked}</p>}
      {!!a.comments?.length && (
        <>
          <h3>{words.inbox.thread}</h3>
          <Said company={company} of={a.comments} />
        </>
      )}
      {mayWrite && isOpen && (
        <div className={looks.decide}>
          <button type="button" className="button primary" data-key="a" onClick={() => begin("approve")}>
            {words.inbox.approve}
          </button>
          <button type="button" className="button" onClick={() => begin("edit")}>
            {words.inbox.edit}
          </button>
          <button type="button" className="button danger" data-key="d" onClick={() => begin("deny")}>
            {words.inbox.deny}
          </button>
          <button type="button" className="button" data-key="r" onClick={() => begin("ask")}>
            {words.inbox.ask}
          </button>
          {a.actionName && (
            <button type="button" className="button" onClick={() => begin("always")}>
              {words.approvals.always}
            </button>
          )}
        </div>
      )}
      {doing?.what === "always" && (
        <NewRule
          cid={id}
          like={a}
          onClose={() => setDoing(undefined)}
          onDone={() => {
            setDoing(undefined)
            onDone(words.inbox.approve)
          }}
        />
      )}
      {doing && doing.what !== "always" && (
        <Decide
          what={doing.what}
          version={{ of: a, etag: query.data?.etag ?? "" }}
          again={async () => {
            const { data } = await query.refetch()
            return data && { of: data.approval, etag: data.etag }
          }}
          onClose={() => setDoing(undefined)}
          onDone={async (what) => {
            setDoing(undefined)
            if (doing.what === "ask") await query.refetch()
            onDone(what)
          }}
        />
      )}
    </>
  )
}

interface DecideProps {
  what: What
  version: Version<Approval>
  again: () => Promise<Version<Approval> | undefined>
  onClose: () => void
  onDone: (what: string) => void
}

function Decide({ what, version, again, onClose, onDone }: DecideProps) {
  const { held = version, before, refused } = useVersion(version, again)
  const { of, etag } = held
  const [key] = useState(once)
  const params = {
    path: { id: of.companyId, approval: of.id },
    header: { "Idempotency-Key": key, "If-Match": etag },
  }
  const run = useMutation({
    mutationFn: async (data: FormData) => {
      const note = text(data, "note")
      switch (what) {
        case "approve":
          return ask(
            api.POST("/v1/companies/{id}/approvals/{approval}/approve", { params, body: note ? { note } : {} }),
          )
        case "edit":
          return ask(
            api.POST("/v1/companies/{id}/approvals/{approval}/approve-with-edits", {
              params,
              body: { edits: json(data, "edits"), ...(note && { note }) },
            }),
          )
        case "deny":
          return ask(api.POST("/v1/companies/{id}/approvals/{approval}/deny", { params, body: { note } }))
        default:
          return ask(
            api.POST("/v1/companies/{id}/approvals/{approval}/comment", {
              params: { path: params.path, header: { "Idempotency-Key": key } },
              body: { body: note },
            }),
          )
      }
    },
    onSuccess: () => onDone(words.inbox[what]),
    onError: refused,
  })
  const isOptional = what === "approve" || what === "edit"
  return (
    <Modal title={words.inbox[what]} open onClose={onClose}>
      <Form
        submit={words.inbox[what]}
        busy={run.isPending}
        error={run.error}
        danger={what === "deny"}
        onSubmit={run.mutate}
        onCancel={onClose}
      >
        <p>{of.action}</p>
        {(what === "approve" || what === "edit") && (of.cost.usd ?? 0) >= dear && (
          <p>
            <strong>{words.inbox.costly(dollars(of.cost.usd ?? 0))}</strong>
          </p>
        )}
        <Changed before={before} now={of} />
        {what === "edit" && (
          <Field label={words.inbox.edits} name="edits" help={words.inbox.editsHelp} error={run.error}>
            {(field) => <textarea {...field} className="input mono" rows={5} defaultValue="{}" />}
          </Field>
        )}
        <Field
          label={what === "ask" ? words.inbox.question : words.inbox.note}
          name="note"
          at={what === "ask" ? "body" : "note"}
          help={isOptional ? words.inbox.optional : undefined}
          error={run.error}
        >
          {(field) => <textarea {...field} className="input" rows={3} />}
        </Field>
      </Form>
    </Modal>
  )
}
