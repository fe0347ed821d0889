import { useMutation, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../../api/client"
import { type Company, InCompany, useStaleIn } from "../../kit/company"
import { day, daysUntil, mergePatch } from "../../kit/format"
import { Choose, EditForm, text } from "../../kit/forms"
import { Clip, Facts, Filters, More, NothingMatches, Prose } from "../../kit/page"
import { Actions, Confirm, Empty, Failure, Field, Form, Modal, type Mood, Pill, Table, Time } from "../../kit/parts"
import { Budget, Progress, PurposeFields, purposeOf } from "../../kit/purposes"
import { useMay, usePages } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { Sheet } from "../../kit/sheet"
import { words } from "../../words/en"

type Goal = Schemas["Goal"]

export const Goals = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

const moods: Record<Goal["status"], Mood> = { active: "good", achieved: "good", abandoned: "quiet" }

const State = ({ of }: { of: Goal["status"] }) => <Pill mood={moods[of]}>{words.goals.states[of]}</Pill>

function Target({ of }: { of: Goal }) {
  if (!of.targetDate) return <span className="muted">{words.goals.noTarget}</span>
  const left = daysUntil(`${of.targetDate}T00:00:00Z`, Date.now())
  const over = Math.floor((Date.now() - Date.parse(`${of.targetDate}T00:00:00Z`)) / 86_400_000)
  const about = left > 0 ? words.goals.daysLeft(left) : over > 0 ? words.goals.overdue(over) : words.goals.dueToday
  return (
    <span>
      {day(of.targetDate)}
      {of.status === "active" && <span className={over > 0 ? "wrong" : "muted small"}>{` · ${about}`}</span>}
    </span>
  )
}

function Page({ company }: { company: Company }) {
  const id = company.id
  const search = useSearch({ from: "/shell/c/$slug/goals" })
  const navigate = useNavigate({ from: "/c/$slug/goals" })
  const mayWrite = useMay("write", id)
  const [making, setMaking] = useState(false)
  const status = oneOf(search.status, ["active", "achieved", "abandoned"] as const)
  const list = usePages<Goal>([id, "goals", { status }], (cursor) =>
    ask(
      api.GET("/v1/companies/{id}/goals", { params: { path: { id }, query: { status: status && [status], cursor } } }),
    ),
  )
  const filter = (next: string | undefined) => navigate({ search: (s) => ({ ...s, status: next }), replace: true })
  return (
    <>
      <div className="heading">
        <h1>{words.goals.title}</h1>
        {mayWrite && (
          <button type="button" className="button primary" onClick={() => setMaking(true)}>
            {words.goals.create}
          </button>
        )}
      </div>
      {(status || !!list.rows?.length) && (
        <Filters>
          <Choose
            label={words.goals.state}
            value={status}
            options={Object.entries(words.goals.states)}
            onChange={filter}
          />
        </Filters>
      )}
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        status ? (
          <NothingMatches onClear={() => filter(undefined)} />
        ) : (
          <Empty title={words.goals.empty} text={words.goals.emptyText}>
            {mayWrite && (
              <button type="button" className="button" onClick={() => setMaking(true)}>
                {words.goals.create}
              </button>
            )}
          </Empty>
        )
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.goals.title}
            rows={list.rows}
            id={(g) => g.id}
            columns={[
              {
                head: words.goals.name,
                cell: (g) => (
                  <Link from="/c/$slug/goals" to="/c/$slug/goals" search={(s) => ({ ...s, open: g.id })}>
                    <Clip>{g.title}</Clip>
                  </Link>
                ),
              },
              { head: words.goals.state, cell: (g) => <State of={g.status} /> },
              { head: words.goals.progress, cell: (g) => <Progress of={g.title} progress={g.progress} /> },
              { head: words.goals.target, cell: (g) => <Target of={g} /> },
              { head: words.goals.budget, cell: (g) => <Budget of={g.title} budget={g.budget} /> },
            ]}
          />
        )
      )}
      <More of={list} />
      {making && <NewGoal company={company} onClose={() => setMaking(false)} />}
      {search.open && (
        <Open
          key={search.open}
          company={company}
          goal={search.open}
          onClose={() => navigate({ search: (s) => ({ ...s, open: undefined }) })}
        />
      )}
    </>
  )
}

const TargetField = ({ of, error }: { of?: Goal; error: unknown }) => (
  <Field label={words.goals.target} name="targetDate" error={error}>
    {(field) => <input {...field} className="input" type="date" defaultValue={of?.targetDate ?? ""} />}
  </Field>
)

function NewGoal({ company, onClose }: { company: Company; onClose: () => void }) {
  const [key] = useState(once)
  const stale = useStaleIn(company.id, "goals", "budgets")
  const make = useMutation({
    mutationFn: async (data: FormData) => {
      const targetDate = text(data, "targetDate")
      return ask(
        api.POST("/v1/companies/{id}/goals", {
          params: { path: { id: company.id }, header: { "Idempotency-Key": key } },
          body: { ...purposeOf(data), ...(targetDate && { targetDate }) },
        }),
      )
    },
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  return (
    <Modal title={words.goals.create} open onClose={onClose}>
      <Form
        submit={words.goals.create}
        busy={make.isPending}
        error={make.error}
        onSubmit={make.mutate}
        onCancel={onClose}
      >
        <PurposeFields error={make.error} />
        <TargetField error={make.error} />
      </Form>
    </Modal>
  )
}

type Doing = { what: "achieved" | "abandoned"; key: string }

function Open({ company, goal: goalId, onClose }: { company: Company; goal: string; onClose: () => void }) {
  const { slug } = useParams({ from: "/shell/c/$slug/goals" })
  const id = company.id
  const mayWrite = useMay("write", id)
  const [editing, setEditing] = useState(false)
  const [doing, setDoing] = useState<Doing>()
  const query = useQuery({
    queryKey: [id, "goals", goalId],
    queryFn: async () => {
      const { body, etag } = await seen(
        api.GET("/v1/companies/{id}/goals/{goal}", { params: { path: { id, goal: goalId } } }),
      )
      return { goal: body.data, etag }
    },
  })
  const projects = useQuery({
    queryKey: [id, "projects", { goal: goalId }],
    queryFn: () =>
      ask(api.GET("/v1/companies/{id}/projects", { params: { path: { id }, query: { goal: goalId, limit: 100 } } })),
    enabled: !!query.data,
  })
  const goal = query.data?.goal
  const actions =
    mayWrite && goal?.status === "active"
      ? [
          { name: words.goals.edit, run: () => setEditing(true) },
          { name: words.goals.achieve, run: () => setDoing({ what: "achieved", key: once() }) },
          { name: words.goals.abandon, danger: true, run: () => setDoing({ what: "abandoned", key: once() }) },
        ]
      : []
  return (
    <Sheet
      title={goal?.title ?? words.goals.goal}
      actions={goal && <Actions of={goal.title} actions={actions} />}
      onClose={onClose}
    >
      <Failure error={query.error} retry={query.refetch} />
      {query.isLoading && <p className="muted">{words.loading}</p>}
      {goal && query.data && !editing && (
        <>
          <Progress of={goal.title} progress={goal.progress} />
          <Facts
            of={[
              [words.goals.state, <State key="state" of={goal.status} />],
              [words.goals.target, <Target key="target" of={goal} />],
              [words.goals.budget, <Budget key="budget" of={goal.title} budget={goal.budget} />],
              [words.goals.created, <Time key="created" at={goal.createdAt} />],
            ]}
          />
          {goal.description && <Prose>{goal.description}</Prose>}
          <section className="stack tight" aria-label={words.goals.projects}>
            <h3>{words.goals.projects}</h3>
            <Failure error={projects.error} retry={projects.refetch} />
            {projects.data?.data.length === 0 && <p className="muted">{words.goals.noProjects}</p>}
            <ul className="stack">
              {projects.data?.data.map((p) => (
                <li key={p.id}>
                  <Link to="/c/$slug/projects" params={{ slug }} search={{ open: p.id }}>
                    <Clip wide>{p.title}</Clip>
                  </Link>
                  <Progress of={p.title} progress={p.progress} />
                </li>
              ))}
            </ul>
          </section>
        </>
      )}
      {goal && query.data && editing && (
        <Edit
          company={company}
          goal={goal}
          etag={query.data.etag}
          again={query.refetch}
          onClose={() => setEditing(false)}
        />
      )}
      {doing && query.data && (
        <Close
          company={company}
          goal={goalId}
          etag={query.data.etag}
          what={doing.what}
          id={doing.key}
          onClose={() => setDoing(undefined)}
        />
      )}
    </Sheet>
  )
}

interface EditProps {
  company: Company
  goal: Goal
  etag: string
  again: () => Promise<unknown>
  onClose: () => void
}

const editable = ({ title, description, targetDate, budget }: Goal) => ({
  title,
  description,
  targetDate,
  budget: { usd: budget.usd },
})

const typed = (data: FormData) => ({ ...purposeOf(data), targetDate: text(data, "targetDate") || null })

function Edit({ company, goal, etag, again, onClose }: EditProps) {
  const path = { id: company.id, goal: goal.id }
  const stale = useStaleIn(company.id, "goals", "budgets")
  return (
    <EditForm
      of={goal}
      etag={etag}
      submit={words.save}
      patch={(data, shown) => mergePatch(editable(shown), typed(data))}
      send={(body, version) =>
        ask(
          api.PATCH("/v1/companies/{id}/goals/{goal}", {
            params: { path, header: { "If-Match": version } },
            body,
          }),
        )
      }
      again={again}
      done={async () => {
        await stale()
        onClose()
      }}
      onCancel={onClose}
    >
      {(shown, error) => (
        <>
          <PurposeFields of={shown} error={error} />
          <TargetField of={shown} error={error} />
        </>
      )}
    </EditForm>
  )
}

interface CloseProps {
  what: Doing["what"]
  id: string // of the request
  company: Company
  goal: string
  etag: string
  onClose: () => void
}

function Close({ company, goal, etag, what, id: key, onClose }: CloseProps) {
  const stale = useStaleIn(company.id, "goals")
  const close = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/v1/companies/{id}/goals/{goal}/close", {
          params: { path: { id: company.id, goal }, header: { "Idempotency-Key": key, "If-Match": etag } },
          body: { outcome: what },
        }),
      ),
    onSuccess: async () => {
      await stale()
      onClose()
    },
    onError: stale,
  })
  return (
    <Confirm
      title={words.goals.closeTitle[what]}
      text={words.goals.closeText}
      submit={what === "achieved" ? words.goals.achieve : words.goals.abandon}
      busy={close.isPending}
      error={close.error}
      onSubmit={close.mutate}
      onClose={onClose}
    />
  )
}
