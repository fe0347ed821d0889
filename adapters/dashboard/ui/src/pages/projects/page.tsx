import { useMutation, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../../api/client"
import { type Company, InCompany, named, useGoals, useStaleIn, useTeams } from "../../kit/company"
import { mergePatch } from "../../kit/format"
import { Choose, EditForm, text } from "../../kit/forms"
import { Clip, Facts, Filters, IssueLink, IssueState, More, NothingMatches, Prose } from "../../kit/page"
import { Actions, Empty, Failure, Field, Form, Modal, Pill, Table, Time } from "../../kit/parts"
import { Budget, Progress, PurposeFields, purposeOf } from "../../kit/purposes"
import { useMay, usePages } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { Sheet } from "../../kit/sheet"
import { words } from "../../words/en"

type Project = Schemas["Project"]

export const Projects = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

const State = ({ of }: { of: Project["status"] }) => (
  <Pill mood={of === "active" ? "good" : "quiet"}>{words.goals.projectStates[of]}</Pill>
)

function Page({ company }: { company: Company }) {
  const id = company.id
  const search = useSearch({ from: "/shell/c/$slug/projects" })
  const navigate = useNavigate({ from: "/c/$slug/projects" })
  const mayWrite = useMay("write", id)
  const [making, setMaking] = useState(false)
  const status = oneOf(search.status, ["active", "archived"] as const)
  const { goal } = search
  const goals = useGoals(id).data?.rows
  const goalTitle = named(goals, (g) => g.title)
  const list = usePages<Project>([id, "projects", { status, goal }], (cursor) =>
    ask(
      api.GET("/v1/companies/{id}/projects", {
        params: { path: { id }, query: { status: status && [status], goal, cursor } },
      }),
    ),
  )
  const filter = (change: Partial<typeof search>) => navigate({ search: (s) => ({ ...s, ...change }), replace: true })
  const isFiltered = !!(status || goal)
  return (
    <>
      <div className="heading">
        <h1>{words.goals.projectsTitle}</h1>
        {mayWrite && (
          <button type="button" className="button primary" onClick={() => setMaking(true)}>
            {words.goals.createProject}
          </button>
        )}
      </div>
      {(isFiltered || !!list.rows?.length) && (
        <Filters>
          <Choose
            label={words.goals.state}
            value={status}
            options={Object.entries(words.goals.projectStates)}
            onChange={(next) => filter({ status: next })}
          />
          <Choose
            label={words.goals.goal}
            value={goal}
            options={goals?.map((g) => [g.id, g.title]) ?? []}
            onChange={(next) => filter({ goal: next })}
          />
        </Filters>
      )}
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        isFiltered ? (
          <NothingMatches onClear={() => filter({ status: undefined, goal: undefined })} />
        ) : (
          <Empty title={words.goals.emptyProjects} text={words.goals.emptyProjectsText}>
            {mayWrite && (
              <button type="button" className="button" onClick={() => setMaking(true)}>
                {words.goals.createProject}
              </button>
            )}
          </Empty>
        )
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.goals.projectsTitle}
            rows={list.rows}
            id={(p) => p.id}
            columns={[
              {
                head: words.goals.name,
                cell: (p) => (
                  <Link from="/c/$slug/projects" to="/c/$slug/projects" search={(s) => ({ ...s, open: p.id })}>
                    <Clip>{p.title}</Clip>
                  </Link>
                ),
              },
              { head: words.goals.state, cell: (p) => <State of={p.status} /> },
              { head: words.goals.progress, cell: (p) => <Progress of={p.title} progress={p.progress} /> },
              {
                head: words.goals.goal,
                cell: (p) => <Clip>{p.goalId ? goalTitle(p.goalId) : words.figures.none}</Clip>,
              },
              { head: words.goals.budget, cell: (p) => <Budget of={p.title} budget={p.budget} /> },
            ]}
          />
        )
      )}
      <More of={list} />
      {making && <NewProject company={company} onClose={() => setMaking(false)} />}
      {search.open && (
        <Open
          key={search.open}
          company={company}
          project={search.open}
          onClose={() => navigate({ search: (s) => ({ ...s, open: undefined }) })}
        />
      )}
    </>
  )
}

interface FieldsProps {
  company: Company
  of?: Project
  error: unknown
}

function Fields({ company, of, error }: FieldsProps) {
  const goals = useGoals(company.id).data?.rows.filter((g) => g.status === "active" || g.id === of?.goalId)
  const teams = useTeams(company.id).data?.rows
  return (
    <>
      <PurposeFields of={of} error={error} />
      <Field label={words.goals.goal} name="goalId" error={error}>
        {(field) => (
          <select {...field} key={goals?.length} className="input" defaultValue={of?.goalId ?? ""}>
            <option value="">{words.goals.noGoal}</option>
            {goals?.map((g) => (
              <option key={g.id} value={g.id}>
                {g.title}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={words.goals.owner} name="ownerTeamId" error={error}>
        {(field) => (
          <select {...field} key={teams?.length} className="input" defaultValue={of?.ownerTeamId ?? ""}>
            <option value="">{words.goals.noOwner}</option>
            {teams?.map((t) => (
              <option key={t.id} value={t.id}>
                {t.name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  )
}

function NewProject({ company, onClose }: { company: Company; onClose: () => void }) {
  const [key] = useState(once)
  const stale = useStaleIn(company.id, "projects", "goals", "budgets")
  const make = useMutation({
    mutationFn: async (data: FormData) => {
      const [goalId, ownerTeamId] = [text(data, "goalId"), text(data, "ownerTeamId")]
      return ask(
        api.POST("/v1/companies/{id}/projects", {
          params: { path: { id: company.id }, header: { "Idempotency-Key": key } },
          body: { ...purposeOf(data), ...(goalId && { goalId }), ...(ownerTeamId && { ownerTeamId }) },
        }),
      )
    },
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  return (
    <Modal title={words.goals.createProject} open onClose={onClose}>
      <Form
        submit={words.goals.createProject}
        busy={make.isPending}
        error={make.error}
        onSubmit={make.mutate}
        onCancel={onClose}
      >
        <Fields company={company} error={make.error} />
      </Form>
    </Modal>
  )
}

function Open({ company, project: projectId, onClose }: { company: Company; project: string; onClose: () => void }) {
  const { slug } = useParams({ from: "/shell/c/$slug/projects" })
  const id = company.id
  const mayWrite = useMay("write", id)
  const [editing, setEditing] = useState(false)
  const [archiving, setArchiving] = useState<string>()
  const goalTitle = named(useGoals(id).data?.rows, (g) => g.title)
  const teamName = named(useTeams(id).data?.rows, (t) => t.name)
  const query = useQuery({
    queryKey: [id, "projects", projectId],
    queryFn: async () => {
      const { body, etag } = await seen(
        api.GET("/v1/companies/{id}/projects/{project}", { params: { path: { id, project: projectId } } }),
      )
      return { project: body.data, etag }
    },
  })
  const issues = useQuery({
    queryKey: [id, "issues", { project: projectId }],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/issues", {
          params: { path: { id }, query: { project: projectId, sort: "updated", limit: 20 } },
        }),
      ),
    enabled: !!query.data,
  })
  const project = query.data?.project
  const actions =
    mayWrite && project?.status === "active"
      ? [
          { name: words.goals.edit, run: () => setEditing(true) },
          { name: words.goals.archive, danger: true, run: () => setArchiving(once()) },
        ]
      : []
  const all: string = `/c/${slug}/issues`
  return (
    <Sheet
      title={project?.title ?? words.goals.projectsTitle}
      actions={project && <Actions of={project.title} actions={actions} />}
      onClose={onClose}
    >
      <Failure error={query.error} retry={query.refetch} />
      {query.isLoading && <p className="muted">{words.loading}</p>}
      {project && !editing && (
        <>
          <Progress of={project.title} progress={project.progress} />
          <Facts
            of={[
              [words.goals.state, <State key="state" of={project.status} />],
              [
                words.goals.goal,
                project.goalId ? (
                  <Link key="goal" to="/c/$slug/goals" params={{ slug }} search={{ open: project.goalId }}>
                    <Clip>{goalTitle(project.goalId)}</Clip>
                  </Link>
                ) : (
                  words.goals.noGoal
                ),
              ],
              [
                words.goals.owner,
                project.ownerTeamId ? <Clip key="owner">{teamName(project.ownerTeamId)}</Clip> : words.goals.noOwner,
              ],
              [words.goals.budget, <Budget key="budget" of={project.title} budget={project.budget} />],
              [words.goals.created, <Time key="created" at={project.createdAt} />],
            ]}
          />
          {project.description && <Prose>{project.description}</Prose>}
          <section className="stack tight" aria-label={words.goals.issues}>
            <h3>{words.goals.issues}</h3>
            <Failure error={issues.error} retry={issues.refetch} />
            {issues.data?.data.length === 0 && <p className="muted">{words.goals.noIssues}</p>}
            {!!issues.data?.data.length && (
              <Table
                label={words.goals.issues}
                rows={issues.data.data}
                id={(i) => i.id}
                columns={[
                  { head: words.goals.issue, cell: (i) => <IssueLink slug={slug} of={i} narrow /> },
                  { head: words.goals.state, cell: (i) => <IssueState of={i.status} /> },
                  { head: words.goals.updated, cell: (i) => <Time at={i.updatedAt} /> },
                ]}
              />
            )}
            {issues.data?.meta.page.cursor && (
              <Link to={all} search={{ project: projectId } as object}>
                {words.goals.allIssues}
              </Link>
            )}
          </section>
        </>
      )}
      {project && query.data && editing && (
        <Edit
          company={company}
          project={project}
          etag={query.data.etag}
          again={query.refetch}
          onClose={() => setEditing(false)}
        />
      )}
      {project && query.data && archiving && (
        <Archive
          company={company}
          project={project}
          etag={query.data.etag}
          id={archiving}
          onClose={() => setArchiving(undefined)}
        />
      )}
    </Sheet>
  )
}

interface EditProps {
  company: Company
  project: Project
  etag: string
  again: () => Promise<unknown>
  onClose: () => void
}

const editable = ({ title, description, goalId, ownerTeamId, budget }: Project) => ({
  title,
  description,
  goalId,
  ownerTeamId,
  budget: { usd: budget.usd },
})

const typed = (data: FormData) => ({
  ...purposeOf(data),
  goalId: text(data, "goalId") || null,
  ownerTeamId: text(data, "ownerTeamId") || null,
})

function Edit({ company, project, etag, again, onClose }: EditProps) {
  const path = { id: company.id, project: project.id }
  const stale = useStaleIn(company.id, "projects", "goals", "budgets")
  return (
    <EditForm
      of={project}
      etag={etag}
      submit={words.save}
      patch={(data, shown) => mergePatch(editable(shown), typed(data))}
      send={(body, version) =>
        ask(
          api.PATCH("/v1/companies/{id}/projects/{project}", {
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
          <Fields company={company} of={shown} error={error} />
        </>
      )}
    </EditForm>
  )
}

interface ArchiveProps {
  company: Company
  project: Project
  etag: string
  id: string // of the request
  onClose: () => void
}

function Archive({ company, project, etag, id: key, onClose }: ArchiveProps) {
  const stale = useStaleIn(company.id, "projects", "goals", "issues")
  const open = project.progress.tasksInFlight + project.progress.tasksQueued
  const archive = useMutation({
    mutationFn: (data: FormData) =>
      ask(
        api.POST("/v1/companies/{id}/projects/{project}/archive", {
          params: {
            path: { id: company.id, project: project.id },
            header: { "Idempotency-Key": key, "If-Match": etag },
          },
          body: { cancelOpenIssues: data.has("cancel") },
        }),
      ),
    onSuccess: async () => {
      await stale()
      onClose()
    },
    onError: stale,
  })
  return (
    <Modal title={words.goals.archiveTitle(project.title)} open onClose={onClose}>
      <p>{words.goals.archiveText}</p>
      <Form
        submit={words.goals.archive}
        busy={archive.isPending}
        error={archive.error}
        danger
        onSubmit={archive.mutate}
        onCancel={onClose}
      >
        {open > 0 && (
          <>
            <p>{words.goals.openIssues(open)}</p>
            <label className="choice">
              <input type="checkbox" name="cancel" />
              {words.goals.cancelOpen}
            </label>
          </>
        )}
      </Form>
    </Modal>
  )
}
