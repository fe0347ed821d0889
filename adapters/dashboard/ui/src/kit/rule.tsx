import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../api/client"
import { words } from "../words/en"
import { useStaleIn } from "./company"
import { amount, invalid, text } from "./forms"
import { Who } from "./moves"
import { Field, Form, Modal } from "./parts"

export type Rule = Schemas["ApprovalRule"]

// lasting is for how many days a rule that begins with what an agent asked for is proposed.
const lasting = 30

const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

// endOf is the end of a day in this browser, undefined if none was typed.
function endOf(data: FormData): string | undefined {
  const typed = text(data, "until")
  if (!typed) return undefined
  const end = new Date(`${typed}T23:59:59.999`)
  if (Number.isNaN(end.getTime())) throw invalid("expiresAt", words.approvals.wrongDay)
  return end.toISOString()
}

interface NewRuleProps {
  cid: string
  like?: Schemas["Approval"] // what an agent asked for: the rule approves that, and it is approved itself
  onClose: () => void
  onDone: () => void
}

// NewRule makes an approval rule.
export function NewRule({ cid, like, onClose, onDone }: NewRuleProps) {
  const stale = useStaleIn(cid, "approval-rules", "approvals", "inbox", "dashboard")
  const [keys] = useState(() => ({ rule: once(), approve: once() }))
  const make = useMutation({
    mutationFn: async (data: FormData) => {
      const who = like?.agentId ?? text(data, "who")
      const usd = amount(data, "usd", "maxUsd")
      const expiresAt = endOf(data)
      await ask(
        api.POST("/v1/companies/{id}/approval-rules", {
          params: { path: { id: cid }, header: { "Idempotency-Key": keys.rule } },
          body: {
            actionName: text(data, "actionName"),
            decision: like ? "approve" : (text(data, "decision") as Rule["decision"]),
            ...(who && (who.startsWith("agt_") ? { agentId: who } : { teamId: who })),
            ...(usd !== null && { maxUsd: usd }),
            ...(expiresAt && { expiresAt }),
          },
        }),
      )
      if (like)
        await ask(
          api.POST("/v1/companies/{id}/approvals/{approval}/approve", {
            params: { path: { id: cid, approval: like.id }, header: { "Idempotency-Key": keys.approve } },
            body: {},
          }),
        )
    },
    onSuccess: async () => {
      await stale()
      onDone()
    },
  })
  const { error } = make
  return (
    <Modal title={like ? words.approvals.always : words.approvals.create} open onClose={onClose}>
      <Form
        submit={like ? words.approvals.alwaysSubmit : words.approvals.create}
        busy={make.isPending}
        error={error}
        onSubmit={make.mutate}
        onCancel={onClose}
      >
        <p className="muted">{like ? words.approvals.alwaysText : words.approvals.ruleText}</p>
        <Field label={words.approvals.pattern} name="actionName" help={words.approvals.patternHelp} error={error}>
          {(field) => <input {...field} className="input mono" autoComplete="off" defaultValue={like?.actionName} />}
        </Field>
        {!like && <Who cid={cid} error={error} none={words.approvals.anybody} />}
        {!like && (
          <Field label={words.approvals.decision} name="decision" error={error}>
            {(field) => (
              <select {...field} className="input">
                {(["approve", "deny"] as const).map((one) => (
                  <option key={one} value={one}>
                    {words.approvals.decisions[one]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Field label={words.approvals.limit} name="usd" at="maxUsd" help={words.approvals.limitHelp} error={error}>
          {(field) => (
            <input
              {...field}
              className="input"
              inputMode="decimal"
              autoComplete="off"
              defaultValue={like?.cost.usd ?? undefined}
            />
          )}
        </Field>
        <Field label={words.approvals.until} name="until" at="expiresAt" help={words.approvals.untilHelp} error={error}>
          {(field) => <input {...field} className="input" type="date" defaultValue={like && dayAfter(lasting)} />}
        </Field>
      </Form>
    </Modal>
  )
}
