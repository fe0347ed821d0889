import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../api/client"
import { words } from "../words/en"
import looks from "./budgets.module.css"
import { type Company, named, useAgents, useGoals, useProjects, useStaleIn, useTeams } from "./company"
import { BudgetBar, Money } from "./figures"
import { dollars } from "./format"
import { amount, EditForm } from "./forms"
import { Clip, More } from "./page"
import { Actions, Failure, Field, Form, Modal, type Mood, Pill, Table } from "./parts"
import { useMay, usePages } from "./queries"

type Envelope = Schemas["Envelope"]

const moods: Record<Envelope["level"], Mood> = { none: "good", soft: "warning", hard: "bad", catastrophic: "bad" }

// first is how many budgets are shown before somebody asks for all.
const first = 8

interface BudgetsProps {
  company: Company
  spent?: boolean // only those that let no work begin, or nothing if there is none
}

// Budgets are those of a company and of all in it, with what can be done about each.
export function Budgets({ company, spent }: BudgetsProps) {
  const id = company.id
  const mayWrite = useMay("write", id)
  const [doing, setDoing] = useState<{ what: "topup" | "change"; to: Envelope; key: string }>()
  const list = usePages<Envelope>([id, "budgets"], (cursor) =>
    ask(api.GET("/v1/companies/{id}/budgets", { params: { path: { id }, query: { cursor, limit: 200 } } })),
  )
  const [all, setAll] = useState(false)
  const name = useScopeNames(company, list.rows)
  const reserve = company.budget.reservePercent > 0
  const actions = (to: Envelope) =>
    mayWrite
      ? [
          ...(to.scope === "team" && reserve
            ? [{ name: words.costs.topup, run: () => setDoing({ what: "topup", to, key: once() }) }]
            : []),
          ...(to.scope === "issue"
            ? []
            : [{ name: words.costs.change, run: () => setDoing({ what: "change", to, key: once() }) }]),
        ]
      : []
  // What is nearest to its limit comes first, after the company, which holds all others.
  const rows = list.rows
    ?.filter((e) => !spent || moods[e.level] === "bad")
    .sort(
      (a, b) =>
        Number(b.scope === "company") - Number(a.scope === "company") || (b.percentUsed ?? 0) - (a.percentUsed ?? 0),
    )
  if (spent && !rows?.length) return <Failure error={list.error} retry={list.refetch} />
  const title = spent ? words.inbox.budgets : words.costs.budgets
  return (
    <section className="stack" aria-label={title}>
      <div>
        <h2>{title}</h2>
        {!spent && <p className="muted small">{words.costs.budgetsText}</p>}
      </div>
      <Failure error={list.error} retry={list.refetch} />
      {(rows || list.isLoading) && (
        <Table
          label={title}
          rows={all ? rows : rows?.slice(0, first)}
          id={(e) => e.scopeId}
          columns={[
            {
              head: words.costs.envelope,
              cell: (e) => (
                <>
                  <Clip>{name(e)}</Clip>
                  <span className="muted small">
                    {`${words.costs.scopes[e.scope]}, ${e.period ? words.costs.periods[e.period] : words.costs.forEver}`}
                  </span>
                </>
              ),
            },
            {
              head: words.costs.used,
              cell: (e) =>
                e.limitUsd !== null && (
                  <div className={looks.usage}>
                    <BudgetBar
                      of={name(e)}
                      spent={e.spentUsd}
                      held={e.heldUsd}
                      limit={e.limitUsd}
                      full={e.scope === "company" ? (e.usd ?? e.limitUsd) : e.limitUsd}
                    />
                    <span className="muted small">{words.costs.usedOf(dollars(e.spentUsd), dollars(e.limitUsd))}</span>
                  </div>
                ),
            },
            { head: words.costs.left, number: true, minor: true, cell: (e) => <Money usd={e.remainingUsd} /> },
            {
              head: words.costs.level,
              cell: (e) => <Pill mood={moods[e.level]}>{words.costs.levels[e.level]}</Pill>,
            },
          ]}
          actions={mayWrite ? (e) => <Actions of={name(e)} actions={actions(e)} /> : undefined}
        />
      )}
      {!all && rows && rows.length > first && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          {words.costs.allBudgets(rows.length)}
        </button>
      )}
      {all && <More of={list} />}
      {doing?.what === "topup" && (
        <Topup
          company={company}
          of={doing.to}
          name={name(doing.to)}
          id={doing.key}
          onClose={() => setDoing(undefined)}
        />
      )}
      {doing?.what === "change" && (
        <Change company={company} of={doing.to} name={name(doing.to)} onClose={() => setDoing(undefined)} />
      )}
    </section>
  )
}

// useScopeNames names what budgets are of. Lists are read only where a budget needs them.
function useScopeNames(company: Company, rows: Envelope[] | undefined) {
  const has = (scope: Envelope["scope"]) => !!rows?.some((e) => e.scope === scope)
  const id = company.id
  const teams = named(useTeams(id).data?.rows, (t) => t.name)
  const agents = named(useAgents(id).data?.rows, (a) => a.name)
  const goals = named(useGoals(id).data?.rows, (g) => g.title)
  const projects = useProjects(id, has("project"))
  const workflows = useQuery({
    queryKey: [id, "workflows", "names"],
    queryFn: () => ask(api.GET("/v1/companies/{id}/workflows", { params: { path: { id }, query: { limit: 200 } } })),
    enabled: has("workflow"),
  })
  const project = named(projects.data?.rows, (p) => p.title)
  const workflow = named(workflows.data?.data, (w) => w.name)
  const of: Record<Envelope["scope"], (id: string) => string> = {
    company: () => company.name,
    team: teams,
    agent: agents,
    goal: goals,
    project,
    workflow,
    issue: (one) => one,
  }
  return (e: Envelope) => of[e.scope](e.scopeId)
}

interface DoProps {
  company: Company
  of: Envelope
  name: string
  onClose: () => void
}

function Topup({ company, of, name, id: key, onClose }: DoProps & { id: string }) {
  const stale = useStaleIn(company.id, "budgets", "costs", "teams", "dashboard")
  const add = useMutation({
    mutationFn: async (data: FormData) =>
      ask(
        api.POST("/v1/companies/{id}/costs/topup", {
          params: { path: { id: company.id }, header: { "Idempotency-Key": key } },
          body: { teamId: of.scopeId, usd: amount(data, "usd") ?? 0 },
        }),
      ),
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  return (
    <Modal title={words.costs.topupTitle(name)} open onClose={onClose}>
      <p className="muted">{words.costs.topupText}</p>
      <Form submit={words.costs.topup} busy={add.isPending} error={add.error} onSubmit={add.mutate} onCancel={onClose}>
        <Field label={words.costs.usd} name="usd" error={add.error}>
          {(field) => <input {...field} className="input" inputMode="decimal" autoComplete="off" />}
        </Field>
      </Form>
    </Modal>
  )
}

// Change sets the budget of any scope but an issue: it asks for the version of what has it, and patches that.
function Change({ company, of, name, onClose }: DoProps) {
  const id = company.id
  const stale = useStaleIn(id, "budgets", "costs", "teams", "agents", "goals", "projects", "workflows", "dashboard")
  const query = useQuery({
    queryKey: [id, "budgets", "version", of.scopeId],
    queryFn: async () => {
      const { etag, body } = await read(id, of)
      const data = body.data as { budget: { usd?: number | null; dailyUsd?: number | null } | null }
      return { etag, budget: data.budget }
    },
    staleTime: 0,
    gcTime: 0,
  })
  const field = of.scope === "agent" ? "dailyUsd" : "usd"
  const patch = (data: FormData) => {
    const usd = amount(data, "usd", "budget")
    return { budget: usd === null && of.scope !== "agent" ? null : { [field]: usd } }
  }
  return (
    <Modal title={words.costs.changeTitle(name)} open onClose={onClose}>
      <Failure error={query.error} retry={query.refetch} />
      {query.data && (
        <EditForm
          of={query.data}
          etag={query.data.etag}
          submit={words.save}
          patch={patch}
          send={(body, version) => write(id, of, body, version)}
          again={query.refetch}
          done={async () => {
            await stale()
            onClose()
          }}
          onCancel={onClose}
        >
          {({ budget }, error) => (
            <Field
              label={`${words.costs.usd}, ${of.period ? words.costs.periods[of.period] : words.costs.forEver}`}
              name="usd"
              at="budget"
              help={of.scope === "company" ? undefined : words.costs.budgetHelp}
              error={error}
            >
              {(input) => (
                <input
                  {...input}
                  className="input"
                  inputMode="decimal"
                  autoComplete="off"
                  defaultValue={budget?.[field] ?? ""}
                />
              )}
            </Field>
          )}
        </EditForm>
      )}
    </Modal>
  )
}

function read(id: string, { scope, scopeId }: Envelope): Promise<{ body: { data: unknown }; etag: string }> {
  switch (scope) {
    case "team":
      return seen(api.GET("/v1/companies/{id}/teams/{team}", { params: { path: { id, team: scopeId } } }))
    case "agent":
      return seen(api.GET("/v1/companies/{id}/agents/{agent}", { params: { path: { id, agent: scopeId } } }))
    case "goal":
      return seen(api.GET("/v1/companies/{id}/goals/{goal}", { params: { path: { id, goal: scopeId } } }))
    case "project":
      return seen(api.GET("/v1/companies/{id}/projects/{project}", { params: { path: { id, project: scopeId } } }))
    case "workflow":
      return seen(api.GET("/v1/companies/{id}/workflows/{workflow}", { params: { path: { id, workflow: scopeId } } }))
    default:
      return seen(api.GET("/v1/companies/{id}", { params: { path: { id } } }))
  }
}

function write(id: string, { scope, scopeId }: Envelope, patch: object, etag: string): Promise<unknown> {
  const header = { "If-Match": etag }
  const body = patch as { budget: { usd: number } }
  switch (scope) {
    case "team":
      return ask(
        api.PATCH("/v1/companies/{id}/teams/{team}", { params: { path: { id, team: scopeId }, header }, body }),
      )
    case "agent":
      return ask(
        api.PATCH("/v1/companies/{id}/agents/{agent}", {
          params: { path: { id, agent: scopeId }, header },
          body: patch as Schemas["AgentPatch"],
        }),
      )
    case "goal":
      return ask(
        api.PATCH("/v1/companies/{id}/goals/{goal}", { params: { path: { id, goal: scopeId }, header }, body }),
      )
    case "project":
      return ask(
        api.PATCH("/v1/companies/{id}/projects/{project}", {
          params: { path: { id, project: scopeId }, header },
          body,
        }),
      )
    case "workflow":
      return ask(
        api.PATCH("/v1/companies/{id}/workflows/{workflow}", {
          params: { path: { id, workflow: scopeId }, header },
          body,
        }),
      )
    default:
      return ask(api.PATCH("/v1/companies/{id}", { params: { path: { id }, header }, body }))
  }
}
