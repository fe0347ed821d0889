import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useMemo } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { Budgets } from "../../kit/budgets"
import { SpendChart } from "../../kit/chart"
import { type Company, InCompany } from "../../kit/company"
import { Kinds } from "../../kit/costs"
import { Money, Stats } from "../../kit/figures"
import { day, dollars } from "../../kit/format"
import { Choose } from "../../kit/forms"
import { Filters } from "../../kit/page"
import { Empty, Failure, Time } from "../../kit/parts"
import { useMay } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { words } from "../../words/en"
import looks from "./costs.module.css"
import { Entries } from "./entries"
import { before, type Range, ranges, withForecast } from "./ranges"
import { Shares } from "./shares"

export type Report = Schemas["CostReport"]

export const Costs = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

const parts = ["team", "agent", "model", "entries"] as const

function Page({ company }: { company: Company }) {
  const search = useSearch({ from: "/shell/c/$slug/costs" })
  const navigate = useNavigate({ from: "/c/$slug/costs" })
  const range = oneOf(search.since, ranges)
  const admin = useMay("admin")
  const by = oneOf(search.by, parts) ?? "team"
  const id = company.id
  const report = useQuery({
    queryKey: [id, "costs", "report", range],
    queryFn: () => ask(api.GET("/v1/companies/{id}/costs", { params: { path: { id }, query: { since: range } } })),
    placeholderData: (kept) => kept,
  })
  const got = report.data?.data
  return (
    <>
      <div className="heading">
        <h1>{words.costs.title}</h1>
        <Filters>
          <Choose
            label={words.costs.range}
            none={words.costs.thisPeriod}
            value={range}
            options={ranges.map((one) => [one, words.costs.ranges[one]])}
            onChange={(since) => navigate({ search: (s) => ({ ...s, since }), replace: true })}
          />
        </Filters>
      </div>
      <Failure error={report.error} retry={report.refetch} />
      {!got && !report.error && <p className="muted">{words.loading}</p>}
      {got && <Summary company={company} report={got} range={range} />}
      <Budgets company={company} />
      {got && (
        <section className="stack" aria-label={words.costs.by}>
          <div className="heading">
            <h2>{words.costs.by}</h2>
            {admin && <Export id={id} range={range} period={got.period} />}
          </div>
          <nav className="tabs" aria-label={words.costs.by}>
            {parts
              .filter((part) => part !== "entries" || admin)
              .map((part) => (
                <Link
                  key={part}
                  from="/c/$slug/costs"
                  to="/c/$slug/costs"
                  search={(s) => ({ ...s, by: part === "team" ? undefined : part })}
                  activeOptions={{ exact: true }}
                >
                  {words.costs[part]}
                </Link>
              ))}
          </nav>
          {by === "entries" && admin ? (
            <Entries company={company} range={range} period={got.period} />
          ) : got.total.usd === 0 ? (
            <Empty
              title={range ? words.costs.emptyRange : words.costs.empty}
              text={range ? words.costs.emptyRangeText : words.costs.emptyText}
            />
          ) : (
            <Shares company={company} report={got} range={range} by={by === "entries" ? "team" : by} />
          )}
        </section>
      )}
    </>
  )
}

interface SummaryProps {
  company: Company
  report: Report
  range: Range | undefined
}

function Summary({ company, report, range }: SummaryProps) {
  const id = company.id
  const past = before(report.period)
  const last = useQuery({
    queryKey: [id, "costs", "before", range, report.period.start],
    queryFn: () => ask(api.GET("/v1/companies/{id}/costs", { params: { path: { id }, query: past } })),
  })
  const forecast = useQuery({
    queryKey: [id, "costs", "forecast"],
    queryFn: () => ask(api.GET("/v1/companies/{id}/costs/forecast", { params: { path: { id } } })),
    enabled: !range,
  })
  const ahead = range ? undefined : forecast.data?.data
  const days = useMemo(
    () => withForecast(report.trend?.perDay ?? [], ahead, Date.parse(report.period.end)),
    [report, ahead],
  )
  const { breakdown, budget, total, period } = report
  return (
    <>
      <Failure error={last.error ?? (range ? null : forecast.error)} retry={forecast.refetch} />
      <Stats
        of={[
          {
            name: words.costs.spent,
            value: <Money usd={total.usd} />,
            about: last.data && compared(total.usd, last.data.data.total.usd),
          },
          ...(ahead
            ? [
                {
                  name: words.costs.expected,
                  value: <Money usd={ahead.expectedUsd} />,
                  about: words.costs.between(dollars(ahead.lowUsd), dollars(ahead.highUsd)),
                },
                ahead.budgetUsd > 0 && {
                  name: ahead.exhaustedAt ? words.costs.lastsUntil : words.costs.lasts,
                  value: ahead.exhaustedAt ? <Time at={ahead.exhaustedAt} /> : words.costs.lastsPeriod,
                },
              ]
            : []),
          ...(budget
            ? [
                {
                  name: words.costs.left,
                  value: <Money usd={budget.remaining} />,
                  about: words.costs.ofBudget(dollars(budget.usd)),
                },
              ]
            : []),
          {
            name: words.costs.kinds,
            value: <Kinds of={breakdown} />,
          },
        ].filter((one) => !!one)}
      />
      {days.length > 1 && total.usd > 0 && (
        <SpendChart
          title={words.costs.chart}
          summary={
            words.costs.chartSummary(
              dollars(total.usd),
              day(period.start),
              day(report.trend?.perDay.at(-1)?.date ?? ""),
            ) + (ahead ? words.costs.chartForecast(dollars(ahead.expectedUsd)) : "")
          }
          days={days}
        />
      )}
    </>
  )
}

function compared(now: number, then: number): string {
  if (then === 0) return now === 0 ? "" : words.costs.noneBefore
  const share = Math.round((100 * (now - then)) / then)
  const before = dollars(then)
  if (share === 0) return words.costs.same(before)
  const percent = `${Math.abs(share)} %`
  return share > 0 ? words.costs.more(percent, before) : words.costs.less(percent, before)
}

// Export is plain links: the session goes along, and a large file never passes through the page.
function Export({ id, range, period }: { id: string; range: Range | undefined; period: Report["period"] }) {
  const query = range ? `since=${range}` : `since=${encodeURIComponent(period.start)}`
  return (
    <p className="muted small">
      {words.costs.export}{" "}
      {(["csv", "jsonl"] as const).map((format) => (
        <a
          key={format}
          className={looks.export}
          href={`/v1/companies/${id}/costs/export?format=${format}&${query}`}
          download={`costs.${format}`}
        >
          {words.costs[format]}
        </a>
      ))}
    </p>
  )
}
