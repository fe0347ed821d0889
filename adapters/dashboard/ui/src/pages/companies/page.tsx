import { useMutation } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { ApiError } from "../../api/errors"
import { daysUntil, dollars, slugOf, teamsOf } from "../../kit/format"
import { Actions, Confirm, Empty, Failure, Field, Form, Modal, Pill, Table, Time } from "../../kit/parts"
import { useMay, usePages, useStale } from "../../kit/queries"
import { words } from "../../words/en"

type Company = Schemas["Company"]
type Doing = { what: "archive" | "restore" | "remove"; to: Company; key: string }

export function Companies() {
  const { status } = useSearch({ from: "/shell/" })
  const archived = status === "archived"
  const [making, setMaking] = useState(false)
  const [doing, setDoing] = useState<Doing>()
  const mayWrite = useMay("write")
  const mayDelete = useMay("admin")
  const list = usePages<Company>(["companies", status ?? "active"], (cursor) =>
    ask(api.GET("/v1/companies", { params: { query: { cursor, status: archived ? "archived" : undefined } } })),
  )
  const actions = (c: Company) => {
    const make = (what: Doing["what"]) => () => setDoing({ what, to: c, key: once() })
    if (!archived) return mayWrite ? [{ name: words.companies.archive, run: make("archive") }] : []
    return [
      ...(mayWrite ? [{ name: words.companies.restore, run: make("restore") }] : []),
      ...(mayDelete ? [{ name: words.companies.remove, danger: true, run: make("remove") }] : []),
    ]
  }
  const budget = (c: Company) =>
    words.companies.perPeriod(dollars(c.budget.usd), words.company.periods[c.budget.period] ?? c.budget.period)
  return (
    <>
      <div className="heading">
        <h1>{words.companies.title}</h1>
        {mayWrite && (
          <button type="button" className="button primary" onClick={() => setMaking(true)}>
            {words.companies.create}
          </button>
        )}
      </div>
      <nav className="tabs" aria-label={words.companies.title}>
        <Link to="/" search={{}} activeOptions={{ exact: true }}>
          {words.companies.active}
        </Link>
        <Link to="/" search={{ status: "archived" }} activeOptions={{ exact: true }}>
          {words.companies.archived}
        </Link>
      </nav>
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        <Empty
          title={archived ? words.companies.emptyArchived : words.companies.emptyTitle}
          text={archived ? words.companies.emptyArchivedText : words.companies.emptyText}
        >
          {!archived && mayWrite && (
            <button type="button" className="button" onClick={() => setMaking(true)}>
              {words.companies.create}
            </button>
          )}
        </Empty>
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.companies.title}
            rows={list.rows}
            id={(c) => c.id}
            columns={[
              {
                head: words.companies.name,
                cell: (c) =>
                  archived ? (
                    c.name
                  ) : (
                    <Link to="/c/$slug" params={{ slug: c.slug }}>
                      {c.name}
                    </Link>
                  ),
              },
              { head: words.companies.state, cell: (c) => <State of={c} /> },
              { head: words.companies.teams, number: true, cell: (c) => c.teamCount },
              { head: words.companies.agents, number: true, cell: (c) => c.agentCount },
              { head: words.companies.budget, number: true, cell: budget },
              archived
                ? {
                    head: words.companies.restorable,
                    cell: (c) =>
                      c.restorableUntil && words.companies.daysLeft(daysUntil(c.restorableUntil, Date.now())),
                  }
                : { head: words.companies.createdAt, cell: (c) => <Time at={c.createdAt} /> },
            ]}
            actions={(c) => <Actions of={c.name} actions={actions(c)} />}
          />
        )
      )}
      {list.hasNextPage && (
        <button type="button" className="button" onClick={() => list.fetchNextPage()} disabled={list.isFetching}>
          {words.loadMore}
        </button>
      )}
      {making && <NewCompany onClose={() => setMaking(false)} />}
      {doing && <Do doing={doing} onClose={() => setDoing(undefined)} />}
    </>
  )
}

function State({ of }: { of: Company }) {
  if (of.status === "archived") return <Pill mood="quiet">{words.companies.archived}</Pill>
  if (of.status !== "active") return <Pill mood="warning">{words.companies.deleting}</Pill>
  if (of.workPaused) return <Pill mood="warning">{words.companies.paused}</Pill>
  return <Pill mood="good">{words.companies.activeState}</Pill>
}

function Do({ doing: { what, to, key }, onClose }: { doing: Doing; onClose: () => void }) {
  const stale = useStale("companies", "company")
  const run = useMutation<unknown>({
    mutationFn: () => {
      const path = { id: to.id }
      const params = { path, header: { "Idempotency-Key": key } }
      if (what === "archive") return ask(api.POST("/v1/companies/{id}/archive", { params }))
      if (what === "restore") return ask(api.POST("/v1/companies/{id}/restore", { params }))
      return ask(api.DELETE("/v1/companies/{id}", { params: { path } }))
    },
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  const asked = {
    archive: { title: words.companies.archiveTitle(to.name), text: words.companies.archiveText },
    restore: { title: `${words.companies.restore}: ${to.name}`, text: to.slug },
    remove: { title: words.companies.removeTitle(to.name), text: words.companies.removeText(to.slug) },
  }[what]
  return (
    <Confirm
      {...asked}
      submit={words.companies[what]}
      type={what === "remove" ? to.slug : undefined}
      busy={run.isPending}
      error={run.error}
      onSubmit={run.mutate}
      onClose={onClose}
    />
  )
}

function NewCompany({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const stale = useStale("companies")
  const [key] = useState(once)
  const [name, setName] = useState("")
  const [slug, setSlug] = useState<string>()
  const make = useMutation({
    mutationFn: (data: FormData) => {
      const { teams, wrong } = teamsOf(String(data.get("teams")))
      if (wrong) {
        const message = words.company.wrongTeam(wrong)
        throw new ApiError(
          422,
          "validation_failed",
          message,
          "",
          { fields: [{ field: "startingTeams", code: "", message }] },
          0,
        )
      }
      const usd = String(data.get("usd")).trim()
      return ask(
        api.POST("/v1/companies", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            name: String(data.get("name")),
            slug: String(data.get("slug")),
            ...(usd && { budget: { usd: Number(usd) } }),
            ...(teams.length && { startingTeams: teams }),
          },
        }),
      )
    },
    onSuccess: async ({ data }) => {
      await stale()
      onClose()
      await navigate({ to: "/c/$slug", params: { slug: data.slug } })
    },
  })
  return (
    <Modal title={words.companies.create} open onClose={onClose}>
      <Form
        submit={words.company.create}
        busy={make.isPending}
        error={make.error}
        onSubmit={make.mutate}
        onCancel={onClose}
      >
        <Field label={words.company.name} name="name" error={make.error}>
          {(field) => (
            <input
              {...field}
              className="input"
              autoComplete="off"
              value={name}
              onChange={(e) => setName(e.target.value)}
            />
          )}
        </Field>
        <Field label={words.company.slug} name="slug" help={words.company.slugHelp} error={make.error}>
          {(field) => (
            <input
              {...field}
              className="input mono"
              autoComplete="off"
              value={slug ?? slugOf(name)}
              onChange={(e) => setSlug(e.target.value)}
            />
          )}
        </Field>
        <Field label={words.company.budget} name="usd" at="budget" error={make.error}>
          {(field) => <input {...field} className="input" inputMode="decimal" autoComplete="off" />}
        </Field>
        <Field
          label={words.company.teams}
          name="teams"
          at="startingTeams"
          help={words.company.teamsHelp}
          error={make.error}
        >
          {(field) => <textarea {...field} className="input" />}
        </Field>
      </Form>
    </Modal>
  )
}
