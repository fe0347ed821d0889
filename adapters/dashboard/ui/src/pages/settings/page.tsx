import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, once } from "../../api/client"
import { type CompanyMove, CompanyState, MoveCompany } from "../../kit/companies"
import { type Company, InCompany, useTeams } from "../../kit/company"
import { dollars, mergePatch } from "../../kit/format"
import { EditForm, text } from "../../kit/forms"
import { Clip } from "../../kit/page"
import { Failure, Field, Table } from "../../kit/parts"
import { useMay, useStale } from "../../kit/queries"
import { words } from "../../words/en"

export const Settings = () => (
  <InCompany>{(company, etag, again) => <Page company={company} etag={etag} again={again} />}</InCompany>
)

const editable = (c: Company) => ({
  name: c.name,
  description: c.description,
  defaultAdapter: c.defaultAdapter,
  budget: { usd: c.budget.usd, period: c.budget.period, reservePercent: c.budget.reservePercent },
})

const typed = (data: FormData) => ({
  name: text(data, "name"),
  description: text(data, "description"),
  defaultAdapter: text(data, "defaultAdapter"),
  budget: {
    usd: Number(data.get("usd")),
    period: text(data, "period"),
    reservePercent: Number(data.get("reserve")),
  },
})

interface PageProps {
  company: Company
  etag: string
  again: () => Promise<unknown>
}

function Page({ company, etag, again }: PageProps) {
  const may = useMay("write", company.id)
  const mayWrite = may && company.status === "active"
  const instance = useQuery({ queryKey: ["instance", "adapters"], queryFn: () => ask(api.GET("/v1/instance")) })
  const adapters = new Set([company.defaultAdapter, ...(instance.data?.data.adapters ?? [])])
  return (
    <>
      <div className="heading">
        <h1>{company.name}</h1>
        <CompanyState of={company} />
      </div>
      <h2>{words.company.settingsTitle}</h2>
      {!mayWrite && <p role="note">{may ? words.company.archived : words.readOnly}</p>}
      <div className="form">
        <EditForm
          of={company}
          etag={etag}
          submit={mayWrite ? words.save : undefined}
          patch={(data, of) => mergePatch(editable(of), typed(data))}
          send={(body, version) =>
            ask(
              api.PATCH("/v1/companies/{id}", {
                params: { path: { id: company.id }, header: { "If-Match": version } },
                body,
              }),
            )
          }
          again={again}
          done={useStale("companies", "company")}
        >
          {(of, error) => (
            <>
              <Field label={words.company.name} name="name" error={error}>
                {(field) => <input {...field} className="input" defaultValue={of.name} readOnly={!mayWrite} />}
              </Field>
              <Field label={words.company.slug} name="slug" help={words.company.slugHelp}>
                {(field) => <input {...field} className="input mono" value={of.slug} readOnly />}
              </Field>
              <Field label={words.company.description} name="description" error={error}>
                {(field) => (
                  <textarea {...field} className="input" defaultValue={of.description} readOnly={!mayWrite} />
                )}
              </Field>
              <Field label={words.company.adapter} name="defaultAdapter" help={words.company.adapterHelp} error={error}>
                {(field) => (
                  <select {...field} className="input" defaultValue={of.defaultAdapter} disabled={!mayWrite}>
                    {[...adapters].map((one) => (
                      <option key={one} value={one}>
                        {one}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
              <Field label={words.company.budget} name="usd" at="budget.usd" error={error}>
                {(field) => (
                  <input
                    {...field}
                    className="input"
                    inputMode="decimal"
                    defaultValue={of.budget.usd}
                    readOnly={!mayWrite}
                  />
                )}
              </Field>
              <Field label={words.company.period} name="period" at="budget.period" error={error}>
                {(field) => (
                  <select {...field} className="input" defaultValue={of.budget.period} disabled={!mayWrite}>
                    {Object.entries(words.company.periods).map(([period, name]) => (
                      <option key={period} value={period}>
                        {name}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
              <Field
                label={words.company.reserve}
                name="reserve"
                at="budget.reservePercent"
                help={words.company.reserveHelp}
                error={error}
              >
                {(field) => (
                  <input
                    {...field}
                    className="input"
                    inputMode="decimal"
                    defaultValue={of.budget.reservePercent}
                    readOnly={!mayWrite}
                  />
                )}
              </Field>
            </>
          )}
        </EditForm>
      </div>
      <Teams company={company} />
      <End company={company} mayWrite={may} />
    </>
  )
}

function Teams({ company }: { company: Company }) {
  const { slug, budget } = company
  const teams = useTeams(company.id)
  const period = words.company.periods[budget.period] ?? budget.period
  return (
    <section className="stack" aria-label={words.company.teamsTitle}>
      <div className="heading">
        <h2>{words.company.teamsTitle}</h2>
        <Link to="/c/$slug/agents" params={{ slug }} search={{ view: "org" }}>
          {words.company.organisation}
        </Link>
      </div>
      <p className="muted">{words.company.teamsText}</p>
      <Failure error={teams.error} retry={teams.refetch} />
      {teams.data?.rows.length === 0 && <p className="muted">{words.company.noTeams}</p>}
      {(!!teams.data?.rows.length || teams.isLoading) && (
        <Table
          label={words.company.teamsTitle}
          rows={teams.data?.rows}
          id={(team) => team.id}
          columns={[
            {
              head: words.company.team,
              cell: (team) => (
                <Link to="/c/$slug/agents" params={{ slug }} search={{ team: team.id }}>
                  <Clip>{team.name}</Clip>
                </Link>
              ),
            },
            {
              head: words.company.places,
              number: true,
              cell: (team) => words.company.placesOf(team.agentCount, team.headcount),
            },
            {
              head: words.company.teamBudget,
              number: true,
              cell: (team) =>
                team.budget ? words.company.teamBudgetOf(dollars(team.budget.usd), period) : words.figures.noLimit,
            },
          ]}
        />
      )}
    </section>
  )
}

// End is how a company is archived, restored and deleted.
function End({ company, mayWrite }: { company: Company; mayWrite: boolean }) {
  const navigate = useNavigate()
  const mayDelete = useMay("admin")
  const [doing, setDoing] = useState<CompanyMove>()
  if (!mayWrite && !mayDelete) return null
  const begin = (what: CompanyMove["what"]) => () => setDoing({ what, to: company, key: once() })
  const turn = company.status === "archived" ? "restore" : "archive"
  return (
    <section className="stack" aria-label={words.company.end}>
      <h2>{words.company.end}</h2>
      <p className="muted">{words.company.endText}</p>
      <div className="row">
        {mayWrite && (
          <button type="button" className="button" onClick={begin(turn)}>
            {words.companies[turn]}
          </button>
        )}
        {mayDelete && (
          <button type="button" className="button danger" onClick={begin("remove")}>
            {words.companies.remove}
          </button>
        )}
      </div>
      {doing && (
        <MoveCompany
          move={doing}
          onClose={() => setDoing(undefined)}
          onDone={doing.what === "remove" ? () => void navigate({ to: "/" }) : undefined}
        />
      )}
    </section>
  )
}
