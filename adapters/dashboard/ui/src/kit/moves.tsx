import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../api/client"
import { words } from "../words/en"
import { useAgents, useStaleIn, useTeams } from "./company"
import { Changed, text, useVersion, type Version } from "./forms"
import { Close, Field, Form, Modal } from "./parts"
import type { Issue, Move } from "./states"

interface MoveProps {
  cid: string
  move: Move | "answer" // an answer is a comment, with which the issue is assigned again
  issues: Pick<Issue, "id" | "number" | "title">[]
  version?: Version<Issue> // of one issue: it is moved only if nobody changes it meanwhile
  again?: () => Promise<Version<Issue> | undefined> // reads the current one
  before?: string // the agent who had the issue
  onClose: () => void
  onDone?: () => void
}

const most = 100 // issues of one request

const fields = { reject: "note", handoff: "note", cancel: "reason", answer: "body" } // of the API

// MoveIssues asks for what a move needs, and makes it. Of several issues it says what came of each that was refused.
export function MoveIssues({ cid, move, issues, version, again, before: had, onClose, onDone }: MoveProps) {
  const stale = useStaleIn(cid, "lists", "issues", "issue", "runs", "counts")
  const [key] = useState(once)
  const { held, before, refused: isOld } = useVersion(version, again)
  const [refused, setRefused] = useState<Schemas["IssueOutcome"][]>()
  const one = issues.length === 1 ? issues[0] : undefined
  const run = useMutation({
    mutationFn: async (data: FormData) => {
      const who = text(data, "who")
      const whom = who.startsWith("agt_") ? { agentId: who } : { teamId: who }
      const said = text(data, "note")
      if (one) {
        const params = {
          path: { id: cid, issue: one.id },
          header: { "Idempotency-Key": key, ...(held && { "If-Match": held.etag }) },
        }
        const at = "/v1/companies/{id}/issues/{issue}"
        if (move === "answer") {
          const header = { "Idempotency-Key": `${key}-comment` }
          await ask(api.POST(`${at}/comments`, { params: { path: params.path, header }, body: { body: said } }))
        }
        if (move === "assign" || move === "answer") await ask(api.POST(`${at}/assign`, { params, body: whom }))
        if (move === "unassign") await ask(api.POST(`${at}/unassign`, { params }))
        if (move === "cancel") await ask(api.POST(`${at}/cancel`, { params, body: said ? { reason: said } : {} }))
        if (move === "accept") await ask(api.POST(`${at}/accept`, { params }))
        if (move === "reject") await ask(api.POST(`${at}/reject`, { params, body: { note: said } }))
        if (move === "handoff") await ask(api.POST(`${at}/handoff`, { params, body: { note: said } }))
        if (move === "retry") await ask(api.POST(`${at}/retry`, { params }))
        return []
      }
      if (move === "answer") return []
      const outcomes: Schemas["IssueOutcome"][] = []
      for (let at = 0; at < issues.length; at += most) {
        const answer = await ask(
          api.POST("/v1/companies/{id}/issues/bulk", {
            params: { path: { id: cid }, header: { "Idempotency-Key": `${key}-${at}` } },
            body: {
              action: move,
              ids: issues.slice(at, at + most).map((issue) => issue.id),
              ...(move === "assign" && whom),
              ...((move === "reject" || move === "handoff") && { note: said }),
              ...(move === "cancel" && said && { reason: said }),
            },
          }),
        )
        outcomes.push(...answer.data)
      }
      return outcomes.filter((outcome) => !outcome.ok)
    },
    onSuccess: async (wrong) => {
      if (wrong.length) setRefused(wrong)
      else onClose()
      onDone?.()
      await stale()
    },
    onError: async (error) => {
      await isOld(error)
      await stale()
    },
  })
  const title = one
    ? words.issues.moveOne(words.issues.moves[move], one.number)
    : words.issues.moveMany(words.issues.moves[move], issues.length)
  if (refused) {
    const numbers = new Map(issues.map((issue) => [issue.id, issue.number]))
    return (
      <Modal title={words.issues.refused(refused.length, issues.length)} open onClose={onClose}>
        <ul className="stack">
          {refused.map((outcome) => (
            <li key={outcome.id}>
              #{numbers.get(outcome.id)} {outcome.error?.message}
            </li>
          ))}
        </ul>
        <Close onClose={onClose} />
      </Modal>
    )
  }
  const noted = (["reject", "handoff", "cancel", "answer"] as const).find((one) => one === move)
  return (
    <Modal title={title} open onClose={onClose}>
      <Form
        submit={words.issues.moves[move]}
        busy={run.isPending}
        error={run.error}
        danger={move === "cancel"}
        onSubmit={run.mutate}
        onCancel={onClose}
      >
        {one && <p className="muted">{one.title}</p>}
        <Changed before={before} now={held?.of} />
        {noted && (
          <Field label={words.issues.notes[noted]} name="note" at={fields[noted]} error={run.error}>
            {(field) => <textarea {...field} className="input" rows={4} />}
          </Field>
        )}
        {(move === "assign" || move === "answer") && <Who cid={cid} before={had} error={run.error} />}
        {move === "cancel" && <p className="muted small">{words.issues.cancelText}</p>}
      </Form>
    </Modal>
  )
}

const short = (name: string) => (name.length > 60 ? `${name.slice(0, 59)}…` : name)

interface WhoProps {
  cid: string
  error: unknown
  none?: string // the name of nobody
  before?: string // the agent who is proposed
}

// Who chooses an agent or a team.
export function Who({ cid, error, none, before }: WhoProps) {
  const agents = useAgents(cid)
  const teams = useTeams(cid)
  const working = agents.data?.rows.filter((agent) => agent.status !== "retired")
  const had = working?.find((agent) => agent.id === before)
  return (
    <Field label={words.issues.who} name="who" at="agentId" error={error}>
      {(field) => (
        <select {...field} className="input" key={had?.id} defaultValue={had?.id}>
          {none !== undefined && <option value="">{none}</option>}
          <optgroup label={words.issues.agents}>
            {working?.map((agent) => (
              <option key={agent.id} value={agent.id}>
                {agent.id === had?.id ? words.inbox.asBefore(short(agent.name)) : short(agent.name)}
              </option>
            ))}
          </optgroup>
          <optgroup label={words.issues.teams}>
            {teams.data?.rows.map((team) => (
              <option key={team.id} value={team.id}>
                {short(team.name)}
              </option>
            ))}
          </optgroup>
        </select>
      )}
    </Field>
  )
}
