import { useMutation, useQueries, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../../api/client"
import { type Company, InCompany, named, useStaleIn, useTeams } from "../../kit/company"
import { Money } from "../../kit/figures"
import { text } from "../../kit/forms"
import { Clip, Facts, IssueLink, IssueState, More, Prose } from "../../kit/page"
import { Actions, Confirm, Empty, Failure, Field, Form, Modal, Table, Time } from "../../kit/parts"
import { useMay, usePages } from "../../kit/queries"
import { Sheet } from "../../kit/sheet"
import { words } from "../../words/en"
import { Edit, NewWorkflow } from "./edit"
import looks from "./workflows.module.css"

export type Workflow = Schemas["Workflow"]

export const Workflows = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

function Page({ company }: { company: Company }) {
  const id = company.id
  const { open } = useSearch({ from: "/shell/c/$slug/workflows" })
  const navigate = useNavigate({ from: "/c/$slug/workflows" })
  const mayWrite = useMay("write", id)
  const [making, setMaking] = useState(false)
  const list = usePages<Workflow>([id, "workflows"], (cursor) =>
    ask(api.GET("/v1/companies/{id}/workflows", { params: { path: { id }, query: { cursor } } })),
  )
  return (
    <>
      <div className="heading">
        <h1>{words.workflows.title}</h1>
        {mayWrite && (
          <button type="button" className="button primary" onClick={() => setMaking(true)}>
            {words.workflows.create}
          </button>
        )}
      </div>
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        <Empty title={words.workflows.empty} text={words.workflows.emptyText}>
          {mayWrite && (
            <button type="button" className="button" onClick={() => setMaking(true)}>
              {words.workflows.create}
            </button>
          )}
        </Empty>
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.workflows.title}
            rows={list.rows}
            id={(w) => w.id}
            columns={[
              {
                head: words.workflows.name,
                cell: (w) => (
                  <Link from="/c/$slug/workflows" to="/c/$slug/workflows" search={{ open: w.id }}>
                    <Clip wide>{w.name}</Clip>
                  </Link>
                ),
              },
              { head: words.workflows.steps, number: true, cell: (w) => w.steps.length },
              { head: words.workflows.version, number: true, cell: (w) => w.version },
              { head: words.workflows.budget, number: true, cell: (w) => <Money usd={w.budget?.usd} /> },
              { head: words.workflows.changed, cell: (w) => <Time at={w.updatedAt} /> },
            ]}
          />
        )
      )}
      <More of={list} />
      {making && <NewWorkflow company={company} onClose={() => setMaking(false)} />}
      {open && <Open key={open} company={company} workflow={open} onClose={() => navigate({ search: {} })} />}
    </>
  )
}

function Open({ company, workflow: workflowId, onClose }: { company: Company; workflow: string; onClose: () => void }) {
  const id = company.id
  const mayWrite = useMay("write", id)
  const [doing, setDoing] = useState<{ what: "edit" | "remove" | "start"; key: string }>()
  const [said, setSaid] = useState("")
  const query = useQuery({
    queryKey: [id, "workflows", workflowId],
    queryFn: async () => {
      const { body, etag } = await seen(
        api.GET("/v1/companies/{id}/workflows/{workflow}", { params: { path: { id, workflow: workflowId } } }),
      )
      return { workflow: body.data, etag }
    },
  })
  const workflow = query.data?.workflow
  const begin = (what: "edit" | "remove" | "start") => () => setDoing({ what, key: once() })
  const end = () => setDoing(undefined)
  return (
    <Sheet
      title={workflow?.name ?? words.workflows.title}
      actions={
        workflow &&
        mayWrite && (
          <Actions
            of={workflow.name}
            actions={[
              { name: words.workflows.start, run: begin("start") },
              { name: words.workflows.edit, run: begin("edit") },
              { name: words.workflows.remove, danger: true, run: begin("remove") },
            ]}
          />
        )
      }
      onClose={onClose}
    >
      <Failure error={query.error} retry={query.refetch} />
      {query.isLoading && <p className="muted">{words.loading}</p>}
      <p role="status" hidden={!said}>
        {said}
      </p>
      {workflow && query.data && doing?.what === "edit" && (
        <Edit company={company} workflow={workflow} etag={query.data.etag} again={query.refetch} onClose={end} />
      )}
      {workflow && doing?.what !== "edit" && (
        <>
          <Facts
            of={[
              [words.workflows.slug, <code key="slug">{workflow.slug}</code>],
              [words.workflows.version, workflow.version],
              [words.workflows.budget, <Money key="budget" usd={workflow.budget?.usd} />],
              [words.workflows.changed, <Time key="changed" at={workflow.updatedAt} />],
            ]}
          />
          {workflow.description && <Prose>{workflow.description}</Prose>}
          <Steps company={company} of={workflow} />
          <Running company={company} of={workflow} />
        </>
      )}
      {workflow && doing?.what === "start" && (
        <Start company={company} workflow={workflow} id={doing.key} onClose={end} say={setSaid} />
      )}
      {workflow && query.data && doing?.what === "remove" && (
        <Remove company={company} workflow={workflow} etag={query.data.etag} onClose={end} onGone={onClose} />
      )}
    </Sheet>
  )
}

function Steps({ company, of }: { company: Company; of: Workflow }) {
  const teamName = named(useTeams(company.id).data?.rows, (t) => t.name)
  return (
    <section className="stack tight" aria-label={words.workflows.steps}>
      <h3>{words.workflows.steps}</h3>
      <ol className={looks.steps}>
        {of.steps.map((step) => (
          <li key={step.key}>
            <div>
              <strong>{step.title}</strong>
              <p className="muted small">
                {[step.team ? teamName(step.team) : words.workflows.noTeam, words.workflows.gates[step.gate]].join(
                  " · ",
                )}
              </p>
              {step.instructions && <Prose>{step.instructions}</Prose>}
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

const shown = 20

// Running are the issues that go through the steps, by the step at which each is: the first of its steps that is not done.
function Running({ company, of }: { company: Company; of: Workflow }) {
  const id = company.id
  const { slug } = useParams({ from: "/shell/c/$slug/workflows" })
  const issues = useQuery({
    queryKey: [id, "issues", { workflow: of.id }],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/issues", {
          params: {
            path: { id },
            query: {
              workflow: of.id,
              status: ["queued", "assigned", "running", "review", "handoff"],
              sort: "updated",
              limit: shown,
            },
          },
        }),
      ),
  })
  const containers = issues.data?.data ?? []
  const steps = useQueries({
    queries: containers.map((issue) => ({
      queryKey: [id, "issues", { parent: issue.id }],
      queryFn: () =>
        ask(
          api.GET("/v1/companies/{id}/issues", { params: { path: { id }, query: { parent: issue.id, limit: 200 } } }),
        ),
    })),
  })
  const at = (n: number) => {
    const children = steps[n]?.data?.data
    if (!children) return undefined
    return children
      .filter((child) => child.step && child.status !== "done")
      .sort((a, b) => (a.step?.number ?? 0) - (b.step?.number ?? 0))[0]
  }
  const rows = containers
    .map((issue, n) => ({ issue, step: at(n), isKnown: !!steps[n]?.data }))
    .sort((a, b) => (a.step?.step?.number ?? 0) - (b.step?.step?.number ?? 0))
  const error = issues.error ?? steps.find((s) => s.error)?.error
  return (
    <section className="stack tight" aria-label={words.workflows.running}>
      <h3>{words.workflows.running}</h3>
      <Failure error={error} retry={issues.refetch} />
      {issues.data && rows.length === 0 && <p className="muted">{words.workflows.noRunning}</p>}
      {rows.length > 0 && (
        <Table
          label={words.workflows.running}
          rows={rows}
          id={(r) => r.issue.id}
          columns={[
            { head: words.workflows.issue, cell: (r) => <IssueLink slug={slug} of={r.issue} narrow /> },
            { head: words.workflows.state, cell: (r) => <IssueState of={r.step?.status ?? r.issue.status} /> },
            {
              head: words.workflows.at,
              cell: (r) =>
                r.step?.step ? (
                  <Clip>{words.workflows.atStep(r.step.step.number, r.step.title)}</Clip>
                ) : (
                  r.isKnown && words.workflows.allDone
                ),
            },
          ]}
        />
      )}
      {issues.data?.meta.page.cursor && <p className="muted small">{words.workflows.more}</p>}
    </section>
  )
}

interface StartProps {
  company: Company
  workflow: Workflow
  id: string // of the request
  onClose: () => void
  say: (what: string) => void
}

function Start({ company, workflow, id: key, onClose, say }: StartProps) {
  const stale = useStaleIn(company.id, "issues", "dashboard")
  const start = useMutation({
    mutationFn: (data: FormData) =>
      ask(
        api.POST("/v1/companies/{id}/issues", {
          params: { path: { id: company.id }, header: { "Idempotency-Key": key } },
          body: {
            title: text(data, "title"),
            description: text(data, "description"),
            priority: text(data, "priority") as Schemas["IssuePriority"],
            workflowId: workflow.id,
          },
        }),
      ),
    onSuccess: async ({ data }) => {
      say(words.workflows.started(data.number))
      await stale()
      onClose()
    },
  })
  return (
    <Modal title={words.workflows.startTitle(workflow.name)} open onClose={onClose}>
      <p className="muted">{words.workflows.startText}</p>
      <Form
        submit={words.workflows.start}
        busy={start.isPending}
        error={start.error}
        onSubmit={start.mutate}
        onCancel={onClose}
      >
        <Field label={words.workflows.issueTitle} name="title" error={start.error}>
          {(field) => <input {...field} className="input" autoComplete="off" />}
        </Field>
        <Field label={words.workflows.description} name="description" error={start.error}>
          {(field) => <textarea {...field} className="input" />}
        </Field>
        <Field label={words.workflows.priority} name="priority" error={start.error}>
          {(field) => (
            <select {...field} className="input" defaultValue="normal">
              {Object.entries(words.workflows.priorities).map(([priority, name]) => (
                <option key={priority} value={priority}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Modal>
  )
}

interface RemoveProps {
  company: Company
  workflow: Workflow
  etag: string
  onClose: () => void
  onGone: () => void
}

function Remove({ company, workflow, etag, onClose, onGone }: RemoveProps) {
  const stale = useStaleIn(company.id, "workflows", "budgets")
  const remove = useMutation({
    mutationFn: () =>
      ask(
        api.DELETE("/v1/companies/{id}/workflows/{workflow}", {
          params: { path: { id: company.id, workflow: workflow.id }, header: { "If-Match": etag } },
        }),
      ),
    onSuccess: () => {
      onGone()
      void stale()
    },
  })
  return (
    <Confirm
      title={words.workflows.removeTitle(workflow.name)}
      text={words.workflows.removeText}
      submit={words.workflows.remove}
      busy={remove.isPending}
      error={remove.error}
      onSubmit={remove.mutate}
      onClose={onClose}
    />
  )
}
