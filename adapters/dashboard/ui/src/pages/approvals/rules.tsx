import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask } from "../../api/client"
import { useTokens } from "../../kit/actor"
import { type Company, named, useAgents, useStaleIn, useTeams } from "../../kit/company"
import { Money } from "../../kit/figures"
import { Clip, More } from "../../kit/page"
import { Actions, Confirm, Empty, Failure, Pill, Table, Time } from "../../kit/parts"
import { useMay, usePages } from "../../kit/queries"
import { NewRule, type Rule } from "../../kit/rule"
import { words } from "../../words/en"

export function Rules({ company }: { company: Company }) {
  const id = company.id
  const mayWrite = useMay("write", id)
  const [making, setMaking] = useState(false)
  const [removing, setRemoving] = useState<Rule>()
  const agent = named(useAgents(id).data?.rows, (a) => a.name)
  const team = named(useTeams(id).data?.rows, (t) => t.name)
  const list = usePages<Rule>([id, "approval-rules", "list"], (cursor) =>
    ask(api.GET("/v1/companies/{id}/approval-rules", { params: { path: { id }, query: { cursor } } })),
  )
  const token = useTokens()
  const whose = (r: Rule) => (r.agentId ? agent(r.agentId) : r.teamId ? team(r.teamId) : words.approvals.anybody)
  const create = mayWrite && (
    <button type="button" className="button primary" onClick={() => setMaking(true)}>
      {words.approvals.create}
    </button>
  )
  return (
    <>
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        <Empty title={words.approvals.noRules} text={words.approvals.noRulesText}>
          {create}
        </Empty>
      ) : (
        (list.rows || list.isLoading) && (
          <>
            <div className="row">{create}</div>
            <Table
              label={words.approvals.rules}
              rows={list.rows}
              id={(r) => r.id}
              columns={[
                { head: words.approvals.pattern, cell: (r) => <code>{r.actionName}</code> },
                {
                  head: words.approvals.decision,
                  cell: (r) => (
                    <Pill mood={r.decision === "approve" ? "good" : "bad"}>
                      {words.approvals.decisions[r.decision]}
                    </Pill>
                  ),
                },
                { head: words.approvals.whose, cell: (r) => <Clip>{whose(r)}</Clip> },
                {
                  head: words.approvals.limit,
                  number: true,
                  cell: (r) => (r.maxUsd === null ? words.approvals.noLimit : <Money usd={r.maxUsd} />),
                },
                { head: words.approvals.until, cell: (r) => <End of={r} /> },
                { head: words.approvals.made, minor: true, cell: (r) => <Clip>{token(r.createdBy)}</Clip> },
              ]}
              actions={
                mayWrite
                  ? (r) => (
                      <Actions
                        of={r.actionName}
                        actions={[{ name: words.approvals.remove, danger: true, run: () => setRemoving(r) }]}
                      />
                    )
                  : undefined
              }
            />
          </>
        )
      )}
      <More of={list} />
      {making && <NewRule cid={id} onClose={() => setMaking(false)} onDone={() => setMaking(false)} />}
      {removing && <Remove cid={id} of={removing} onClose={() => setRemoving(undefined)} />}
    </>
  )
}

function End({ of }: { of: Rule }) {
  if (of.expiresAt === null) return <span className="muted">{words.approvals.noEnd}</span>
  if (Date.parse(of.expiresAt) <= Date.now()) return <Pill mood="quiet">{words.approvals.ended}</Pill>
  return <Time at={of.expiresAt} />
}

function Remove({ cid, of, onClose }: { cid: string; of: Rule; onClose: () => void }) {
  const stale = useStaleIn(cid, "approval-rules")
  const remove = useMutation({
    mutationFn: () =>
      ask(api.DELETE("/v1/companies/{id}/approval-rules/{rule}", { params: { path: { id: cid, rule: of.id } } })),
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  return (
    <Confirm
      title={words.approvals.removeTitle(of.actionName)}
      text={words.approvals.removeText}
      submit={words.approvals.remove}
      busy={remove.isPending}
      error={remove.error}
      onSubmit={remove.mutate}
      onClose={onClose}
    />
  )
}
