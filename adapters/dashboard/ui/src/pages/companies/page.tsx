import { useMutation } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { ApiError } from "../../api/errors"
import { type CompanyMove, CompanyState, MoveCompany } from "../../kit/companies"
import { daysUntil, dollars, slugOf, teamsOf } from "../../kit/format"
import { Actions, type Column, Empty, Failure, Field, Form, Modal, Table, Time } from "../../kit/parts"
import { useMay, usePages, useStale } from "../../kit/queries"
import { words } from "../../words/en"
import { Glance } from "./glance"

type Company = Schemas["Company"]

const period = (c: Company) => words.company.periods[c.budget.period] ?? c.budget.period

const columns: Column<Company>[] = [
  {
    head: words.companies.approvals,
    number: true,
    cell: (c) => (
      <Glance of={c.id}>
        {({ inbox }) =>
          inbox.approvals > 0 ? (
            <Link to="/c/$slug/inbox" params={{ slug: c.slug }}>
              {inbox.approvals}
            </Link>
          ) : (
            "0"
          )
        }
      </Glance>
    ),
  },
  { head: words.companies.agents, number: true, cell: (c) => c.agentCount },
  {
    head: words.companies.spent,
    number: true,
    cell: (c) => (
      <Glance of={c.id}>
        {({ cost }) => words.companies.spentOf(dollars(cost.thisPeriod), dollars(cost.budget), period(c))}
      </Glance>
    ),
  },
  {
    head: words.companies.last,
    cell: (c) => <Glance of={c.id}>{({ recentActivity }) => <Time at={recentActivity[0]?.at} />}</Glance>,
  },
]

const pastColumns: Column<Company>[] = [
  { head: words.companies.agents, number: true, cell: (c) => c.agentCount },
  {
    head: words.companies.budget,
    number: true,
    cell: (c) => words.companies.perPeriod(dollars(c.budget.usd), period(c)),
  },
  {
    head: words.companies.restorable,
    cell: (c) => c.restorableUntil && words.companies.daysLeft(daysUntil(c.restorableUntil, Date.now())),
  },
]

export function Companies() {
  const { status } = useSearch({ from: "/shell/" })
  const archived = status === "archived"
  const [making, setMaking] = useState(false)
  const [doing, setDoing] = useState<CompanyMove>()
  const mayWrite = useMay("write")
  const mayDelete = useMay("admin")
  const list = usePages<Company>(["companies", status ?? "active"], (cursor) =>
    ask(api.GET("/v1/companies", { params: { query: { cursor, status: archived ? "archived" : undefined } } })),
  )
  const actions = (c: Company) => {
    const make = (what: CompanyMove["what"]) => () => setDoing({ what, to: c, key: once() })
    if (!archived) return mayWrite ? [{ name: words.companies.archive, run: make("archive") }] : []
    return [
      ...(mayWrite ? [{ name: words.companies.restore, run: make("restore") }] : []),
      ...(mayDelete ? [{ name: words.companies.remove, danger: true, run: make("remove") }] : []),
    ]
  }
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
              { head: words.companies.state, cell: (c) => <CompanyState of={c} /> },
              ...(archived ? pastColumns : columns),
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
      {doing && <MoveCompany move={doing} onClose={() => setDoing(undefined)} />}
    </>
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
