import { useMutation } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { type Company, named, useAgents, useStaleIn } from "../../kit/company"
import { Money } from "../../kit/figures"
import { count, dollars } from "../../kit/format"
import { amount, text } from "../../kit/forms"
import { Clip, More } from "../../kit/page"
import { Actions, Empty, Failure, Field, Form, Modal, Pill, Table, Time } from "../../kit/parts"
import { usePages } from "../../kit/queries"
import { words } from "../../words/en"
import type { Report } from "./page"
import type { Range } from "./ranges"

type Entry = Schemas["CostEntry"]

interface EntriesProps {
  company: Company
  range: Range | undefined
  period: Report["period"]
}

export function Entries({ company, range, period }: EntriesProps) {
  const id = company.id
  const { slug } = useParams({ from: "/shell/c/$slug/costs" })
  const since = range ?? period.start
  const [adjusting, setAdjusting] = useState<Entry>()
  const agent = named(useAgents(id).data?.rows, (a) => a.name)
  const list = usePages<Entry>([id, "costs", "entries", since], (cursor) =>
    ask(api.GET("/v1/companies/{id}/costs/entries", { params: { path: { id }, query: { since, cursor } } })),
  )
  return (
    <>
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        <Empty title={words.costs.emptyRange} text={words.costs.emptyText} />
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.costs.entries}
            rows={list.rows}
            id={(e) => e.id}
            columns={[
              {
                head: words.costs.agent,
                cell: (e) => (
                  <Link to="/c/$slug/agents/$agent" params={{ slug, agent: e.agentId }}>
                    <Clip>{agent(e.agentId)}</Clip>
                  </Link>
                ),
              },
              { head: words.costs.at, cell: (e) => <Time at={e.at} /> },
              { head: words.costs.kind, minor: true, cell: (e) => words.costs.kindNames[e.kind] },
              { head: words.costs.model, cell: (e) => <Clip>{e.model ?? words.figures.none}</Clip> },
              {
                head: words.costs.tokens,
                number: true,
                minor: true,
                cell: ({ tokens }) =>
                  words.costs.tokensOf(
                    count(tokens.input + tokens.cacheRead + tokens.cacheWrite),
                    count(tokens.output),
                  ),
              },
              { head: words.costs.usd, number: true, cell: (e) => <Money usd={e.usd} /> },
              { head: words.costs.remarks, cell: (e) => <Marks of={e} /> },
            ]}
            actions={(e) => (
              <Actions
                of={e.id}
                actions={e.adjusts ? [] : [{ name: words.costs.adjust, run: () => setAdjusting(e) }]}
              />
            )}
          />
        )
      )}
      <More of={list} />
      {adjusting && <Adjust company={company} to={adjusting} onClose={() => setAdjusting(undefined)} />}
    </>
  )
}

function Marks({ of }: { of: Entry }) {
  if (of.adjusts) return <Pill mood="quiet">{words.costs.correction}</Pill>
  if (of.unpriced) return <Pill mood="warning">{words.figures.unpriced}</Pill>
  return of.late ? <Pill mood="quiet">{words.costs.late}</Pill> : null
}

function Adjust({ company, to, onClose }: { company: Company; to: Entry; onClose: () => void }) {
  const [key] = useState(once)
  const stale = useStaleIn(company.id, "costs", "budgets", "dashboard", "agents")
  const adjust = useMutation({
    mutationFn: async (data: FormData) =>
      ask(
        api.POST("/v1/companies/{id}/costs/adjust", {
          params: { path: { id: company.id }, header: { "Idempotency-Key": key } },
          body: { entryId: to.id, usd: amount(data, "usd") ?? 0, reason: text(data, "reason") },
        }),
      ),
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  return (
    <Modal title={words.costs.adjustTitle} open onClose={onClose}>
      <p className="muted">{words.costs.adjustText(dollars(to.usd, 6))}</p>
      <Form
        submit={words.costs.adjust}
        busy={adjust.isPending}
        error={adjust.error}
        onSubmit={adjust.mutate}
        onCancel={onClose}
      >
        <Field label={words.costs.adjustUsd} name="usd" error={adjust.error}>
          {(field) => <input {...field} className="input" inputMode="decimal" autoComplete="off" />}
        </Field>
        <Field label={words.costs.reason} name="reason" error={adjust.error}>
          {(field) => <input {...field} className="input" autoComplete="off" />}
        </Field>
      </Form>
    </Modal>
  )
}
