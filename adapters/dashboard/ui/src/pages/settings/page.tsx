import { api, ask } from "../../api/client"
import { type Company, InCompany } from "../../kit/company"
import { mergePatch } from "../../kit/format"
import { EditForm, text } from "../../kit/forms"
import { Field } from "../../kit/parts"
import { useMay, useStale } from "../../kit/queries"
import { words } from "../../words/en"

export const Settings = () => (
  <InCompany>{(company, etag, again) => <Page company={company} etag={etag} again={again} />}</InCompany>
)

const editable = (c: Company) => ({
  name: c.name,
  description: c.description,
  budget: { usd: c.budget.usd, period: c.budget.period, reservePercent: c.budget.reservePercent },
})

const typed = (data: FormData) => ({
  name: text(data, "name"),
  description: text(data, "description"),
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
  const mayWrite = useMay("write", company.id)
  return (
    <>
      <div className="heading">
        <h1>{company.name}</h1>
      </div>
      <h2>{words.company.settingsTitle}</h2>
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
    </>
  )
}
