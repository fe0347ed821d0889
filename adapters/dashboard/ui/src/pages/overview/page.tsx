import { useMutation, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { type Company, InCompany } from "../../kit/company"
import { about } from "../../kit/entry"
import { BudgetBar, Money } from "../../kit/figures"
import { day, dollars } from "../../kit/format"
import { Confirm, Failure, Time } from "../../kit/parts"
import { useMay, useStale } from "../../kit/queries"
import { words } from "../../words/en"
import looks from "./overview.module.css"

type Seen = Schemas["DashboardOverview"]

export const Overview = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

const waits = ["approvals", "questions", "handoffs", "reviews", "blocked", "waiting"] as const
const kinds = {
  approvals: "approval",
  questions: "question",
  handoffs: "handoff",
  reviews: "review",
  blocked: "blocked",
  waiting: "waiting",
} as const
const states = ["queued", "assigned", "running", "review", "handoff"] as const

function Page({ company }: { company: Company }) {
  const id = company.id
  const path = { id }
  const mayWrite = useMay("write", id)
  const stale = useStale("company", "companies", id)
  const [pausing, setPausing] = useState(false)
  const query = useQuery({
    queryKey: [id, "dashboard", "overview"],
    queryFn: () => ask(api.GET("/v1/companies/{id}/dashboard/overview", { params: { path } })),
  })
  const troubled = useQuery({
    queryKey: [id, "dashboard", "health"],
    queryFn: () => ask(api.GET("/v1/companies/{id}/dashboard/health", { params: { path } })),
  })
  const pause = useMutation({
    mutationFn: (workPaused: boolean) =>
      ask(api.PATCH("/v1/companies/{id}", { params: { path }, body: { workPaused } })),
    onSuccess: async () => {
      setPausing(false)
      await stale()
    },
  })
  const o = query.data?.data
  return (
    <>
      <div className="heading">
        <h1>{company.name}</h1>
        {mayWrite &&
          company.status === "active" &&
          (company.workPaused ? (
            <button
              type="button"
              className="button primary"
              disabled={pause.isPending}
              onClick={() => pause.mutate(false)}
            >
              {words.overview.resume}
            </button>
          ) : (
            <button type="button" className="button" onClick={() => setPausing(true)}>
              {words.overview.pause}
            </button>
          ))}
      </div>
      {company.workPaused && <p role="status">{words.overview.pausedNote}</p>}
      <Failure
        error={query.error ?? (pausing ? undefined : pause.error)}
        retry={query.error ? query.refetch : undefined}
      />
      {!o && !query.error && <p className="muted">{words.loading}</p>}
      {o && mayWrite && company.status === "active" && <Steps company={company} of={o} />}
      {o && <Panels slug={company.slug} of={o} troubled={troubled.data?.data.agents ?? []} />}
      {pausing && (
        <Confirm
          title={words.overview.pauseTitle(company.name)}
          text={words.overview.pauseText}
          submit={words.overview.pause}
          busy={pause.isPending}
          error={pause.error}
          onSubmit={() => pause.mutate(true)}
          onClose={() => setPausing(false)}
        />
      )}
    </>
  )
}

// Steps are what a company needs before anything happens in it, until it has an agent and an issue.
function Steps({ company: { id, slug }, of }: { company: Company; of: Seen }) {
  const hasAgent = of.health.activeAgents + of.health.pausedAgents > 0
  const hasIssue = states.some((state) => of.tasks[state] > 0) || of.days.some((one) => one.done + one.failed > 0)
  const isNew = !hasAgent || !hasIssue
  const admin = useMay("admin")
  const webhooks = useQuery({
    queryKey: ["webhooks", "any"],
    queryFn: () => ask(api.GET("/v1/webhooks", { params: { query: { limit: 1 } } })),
    enabled: isNew && admin,
  })
  if (!isNew) return null
  const steps = [
    {
      name: words.overview.steps.hire,
      to: `/c/${slug}/agents`,
      call: `POST /v1/companies/${id}/agents`,
      isDone: hasAgent,
    },
    {
      name: words.overview.steps.issue,
      to: `/c/${slug}/issues?new=1`,
      call: `POST /v1/companies/${id}/issues`,
      isDone: hasIssue,
    },
    {
      name: words.overview.steps.webhook,
      to: "/instance/webhooks",
      call: "POST /v1/webhooks",
      isDone: webhooks.data?.data.length !== 0,
    },
  ].filter((step) => !step.isDone)
  return (
    <section className="panel inset stack" aria-label={words.overview.next}>
      <h2>{words.overview.next}</h2>
      <p className="muted">{words.overview.nextText}</p>
      <ol className="stack tight">
        {steps.map((step) => (
          <li key={step.to}>
            <Link to={step.to}>{step.name}</Link> <code className="muted small">{step.call}</code>
          </li>
        ))}
      </ol>
    </section>
  )
}

interface PanelsProps {
  slug: string
  of: Seen
  troubled: Schemas["DashboardHealth"]["agents"]
}

function Panels({ slug, of: o, troubled }: PanelsProps) {
  const waiting = waits.filter((kind) => o.inbox[kind] > 0)
  return (
    <div className={looks.grid}>
      <section className="panel inset stack" aria-label={words.overview.waiting}>
        <h2>{words.overview.waiting}</h2>
        {waiting.length ? (
          <ul className={looks.rows}>
            {waiting.map((kind) => (
              <li key={kind}>
                <span>{words.inbox.kinds[kinds[kind]]}</span>
                <strong>{o.inbox[kind]}</strong>
              </li>
            ))}
          </ul>
        ) : (
          <p className="muted">{words.overview.nothingWaits}</p>
        )}
        <Link to="/c/$slug/inbox" params={{ slug }}>
          {words.overview.open}
        </Link>
      </section>
      <section className="panel inset stack" aria-label={words.overview.tasks}>
        <h2>{words.overview.tasks}</h2>
        <ul className={looks.rows}>
          {states.map((state) => (
            <li key={state}>
              <span>{words.work.issueStates[state]}</span>
              <span>{o.tasks[state]}</span>
            </li>
          ))}
        </ul>
        <p className="muted small">{words.overview.tasksToday(o.tasks.completedToday, o.tasks.failedToday)}</p>
      </section>
      <section className="panel inset stack" aria-label={words.overview.money}>
        <h2>{words.overview.money}</h2>
        <BudgetBar of={words.overview.money} spent={o.cost.thisPeriod} limit={o.cost.budget} />
        <ul className={`${looks.rows} ${looks.amounts}`}>
          <li>
            <span>{words.overview.period}</span>
            <span>
              <Money usd={o.cost.thisPeriod} /> {words.overview.of(dollars(o.cost.budget))}
            </span>
          </li>
          <li>
            <span>{words.overview.today}</span>
            <Money usd={o.cost.today} />
          </li>
          <li>
            <span>{words.overview.remaining}</span>
            <Money usd={o.cost.remaining} />
          </li>
          <li>
            <span>{words.overview.forecast}</span>
            <Money usd={o.cost.forecastEndOfPeriod} />
          </li>
        </ul>
        <Link to="/c/$slug/costs" params={{ slug }}>
          {words.nav.costs}
        </Link>
      </section>
      <section className="panel inset stack" aria-label={words.overview.agents}>
        <h2>{words.overview.agents}</h2>
        <ul className={looks.rows}>
          {(
            [
              [words.overview.active, o.health.activeAgents],
              [words.overview.paused, o.health.pausedAgents],
              [words.overview.leases, o.health.runningLeases],
              [words.overview.uncosted, o.health.uncostedRuns],
            ] as const
          ).map(([name, n]) => (
            <li key={name}>
              <span>{name}</span>
              <span>{n}</span>
            </li>
          ))}
        </ul>
        {troubled.length ? (
          <ul className="stack tight" aria-label={words.overview.troubled}>
            {troubled.slice(0, 10).map((one) => (
              <li key={one.id + one.reason}>
                <Link to="/c/$slug/agents/$agent" params={{ slug, agent: one.id }}>
                  {one.name}
                </Link>{" "}
                <span className="wrong">{words.overview.reasons[one.reason]}</span>
              </li>
            ))}
          </ul>
        ) : (
          <p className="muted">{words.overview.well}</p>
        )}
      </section>
      <Days of={o.days} />
      {o.teams.length > 0 && (
        <section className={`panel inset stack ${looks.half}`} aria-label={words.overview.teams}>
          <h2>{words.overview.teams}</h2>
          <ul className={looks.rows}>
            {o.teams.map((one) => (
              <li key={one.id}>
                <span>{one.name}</span>
                <span className="muted">{words.overview.inFlight(one.tasksInFlight)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className={`panel inset stack ${looks.half}`} aria-label={words.overview.activity}>
        <h2>{words.overview.activity}</h2>
        {o.recentActivity.length === 0 && <p className="muted">{words.overview.noActivity}</p>}
        <ul className={looks.rows}>
          {o.recentActivity.map((one) => (
            <li key={one.id}>
              <span>
                <code>{one.action}</code> <span className="muted small">{about(one)}</span>
              </span>
              <span className="muted small">
                <Time at={one.at} />
              </span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}

// Days are small columns, with their figures as a table on demand.
function Days({ of }: { of: Seen["days"] }) {
  const most = Math.max(1, ...of.map((one) => one.done + one.failed))
  const height = (n: number) => `${(100 * n) / most}%`
  const [done, failed] = [of.reduce((n, one) => n + one.done, 0), of.reduce((n, one) => n + one.failed, 0)]
  return (
    <section className={`panel inset stack ${looks.wide}`} aria-label={words.overview.days}>
      <h2>{words.overview.days}</h2>
      <p className="hidden">{words.overview.daysSummary(done, failed)}</p>
      {done + failed === 0 ? (
        <p className="muted">{words.overview.noDays}</p>
      ) : (
        <>
          <ul className={looks.days} aria-hidden>
            {of.map((one) => (
              <li
                key={one.day}
                title={`${day(one.day)}: ${one.done} ${words.overview.done}, ${one.failed} ${words.overview.failed}`}
              >
                {one.failed > 0 && <span className={looks.failed} style={{ blockSize: height(one.failed) }} />}
                {one.done > 0 && <span className={looks.done} style={{ blockSize: height(one.done) }} />}
              </li>
            ))}
          </ul>
          <p className={`${looks.axis} muted small`} aria-hidden>
            <span>{of[0] && day(of[0].day)}</span>
            <span>{of.at(-1) && day(of.at(-1)?.day ?? "")}</span>
          </p>
        </>
      )}
      <details>
        <summary>{words.figures.table}</summary>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{words.overview.day}</th>
              <th scope="col">{words.overview.done}</th>
              <th scope="col">{words.overview.failed}</th>
              <th scope="col">{words.overview.spent}</th>
            </tr>
          </thead>
          <tbody>
            {of.map((one) => (
              <tr key={one.day}>
                <td className="first">{day(one.day)}</td>
                <td data-head={words.overview.done}>{one.done}</td>
                <td data-head={words.overview.failed}>{one.failed}</td>
                <td data-head={words.overview.spent}>
                  <Money usd={one.usd} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  )
}
