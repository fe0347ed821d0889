import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../../api/client"
import { Money } from "../../kit/figures"
import { count, dollars } from "../../kit/format"
import { Changed, json, text, useVersion, type Version } from "../../kit/forms"
import { Facts, IssueLink, Prose } from "../../kit/page"
import { Confirm, Failure, Field, Form, Modal, Time } from "../../kit/parts"
import { useMay } from "../../kit/queries"
import { words } from "../../words/en"
import looks from "./inbox.module.css"
import type { DetailProps } from "./page"

type Approval = Schemas["Approval"]
type What = "approve" | "edit" | "deny" | "ask"

// dear is from how many dollars on an approval is asked for twice.
const dear = 10

export function ApprovalDetail({ item, onDone }: DetailProps) {
  const id = item.company.id
  const which = item.subject.id
  const mayWrite = useMay("write", id)
  const [doing, setDoing] = useState<{ what: What; key: string }>()
  const query = useQuery({
    queryKey: [id, "approvals", which],
    queryFn: async () => {
      const { body, etag } = await seen(
        api.GET("/v1/companies/{id}/approvals/{approval}", { params: { path: { id, approval: which } } }),
      )
      return { approval: body.data, etag }
    },
  })
  const a = query.data?.approval
  if (!a)
    return query.error ? (
      <Failure error={query.error} retry={query.refetch} />
    ) : (
      <p className="muted">{words.loading}</p>
    )
  const isOpen = a.status === "pending" || a.status === "asked_question"
  const begin = (what: What) => setDoing({ what, key: once() })
  return (
    <>
      <h2>{a.action}</h2>
      <p className="muted">{isOpen ? words.inbox.about[item.kind] : words.inbox.gone}</p>
      <Facts
        of={[
          [words.inbox.agent, item.agent?.name ?? words.inbox.nobody],
          [words.inbox.action, <code key="action">{a.actionName || words.none}</code>],
          [words.inbox.issue, <IssueLink key="issue" slug={item.company.slug} of={item.issue} />],
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
          [words.inbox.deadline, <Time key="deadline" at={a.expiresAt} />],
        ]}
      />
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
      {a.parked && <p className="muted">{words.inbox.parked}</p>}
      {!!a.comments?.length && (
        <>
          <h3>{words.inbox.thread}</h3>
          {a.comments.map((one) => (
            <div key={one.id} className={looks.said}>
              <p className="muted small">
                {one.author} · <Time at={one.createdAt} />
              </p>
              <Prose>{one.body}</Prose>
            </div>
          ))}
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
        </div>
      )}
      {doing && (
        <Decide
          {...doing}
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
  if (what === "approve" && (of.cost.usd ?? 0) >= dear) {
    return (
      <Confirm
        title={words.inbox.approve}
        text={words.inbox.costly(dollars(of.cost.usd ?? 0))}
        submit={words.inbox.approve}
        busy={run.isPending}
        error={run.error}
        onSubmit={() => run.mutate(new FormData())}
        onClose={onClose}
      />
    )
  }
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
