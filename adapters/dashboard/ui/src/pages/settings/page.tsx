import { useMutation, useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask } from "../../api/client"
import { asApiError } from "../../api/errors"
import { type Company, companyQuery } from "../../kit/company"
import { changes } from "../../kit/format"
import { Empty, Failure, Field, Form } from "../../kit/parts"
import { useMay, useStale } from "../../kit/queries"
import { words } from "../../words/en"

export function Settings() {
  const { slug } = useParams({ from: "/shell/c/$slug/settings" })
  const [said, setSaid] = useState("") // outside of the form, which begins anew with each version
  const query = useQuery(companyQuery(slug))
  if (query.error && !query.data) {
    return asApiError(query.error).status === 404 ? (
      <Empty title={words.notFound.title} text={slug} />
    ) : (
      <Failure error={query.error} retry={query.refetch} />
    )
  }
  if (!query.data) return <p className="muted">{words.loading}</p>
  return <Edit key={query.data.etag} {...query.data} said={said} say={setSaid} again={query.refetch} />
}

const editable = (c: Company) => ({
  name: c.name,
  description: c.description,
  budget: { usd: c.budget.usd, period: c.budget.period, reservePercent: c.budget.reservePercent },
})

interface EditProps {
  company: Company
  etag: string
  said: string
  say: (what: string) => void
  again: () => void
}

function Edit({ company, etag, said, say, again }: EditProps) {
  const mayWrite = useMay("write")
  const stale = useStale("companies", "company")
  const save = useMutation({
    mutationFn: async (data: FormData) => {
      const before = editable(company)
      const after = {
        name: String(data.get("name")),
        description: String(data.get("description")),
        budget: {
          usd: Number(data.get("usd")),
          period: String(data.get("period")) as Company["budget"]["period"],
          reservePercent: Number(data.get("reserve")),
        },
      }
      const patch = changes(before, after)
      if (!patch) return
      await ask(
        api.PATCH("/v1/companies/{id}", {
          params: { path: { id: company.id }, header: { "If-Match": etag } },
          body: { ...patch, ...(patch.budget && { budget: changes(before.budget, after.budget) }) },
        }),
      )
    },
    onMutate: () => say(""),
    onSuccess: async () => {
      say(words.saved)
      await stale()
    },
    onError: (error) => {
      if (asApiError(error).status === 412) {
        say(words.changed)
        again()
      }
    },
  })
  return (
    <>
      <div className="heading">
        <h1>{company.name}</h1>
      </div>
      <h2>{words.company.settingsTitle}</h2>
      <div className="form">
        <Form
          submit={words.save}
          busy={save.isPending}
          ready={mayWrite}
          error={asApiError(save.error).status === 412 ? undefined : save.error}
          onSubmit={save.mutate}
        >
          <Field label={words.company.name} name="name" error={save.error}>
            {(field) => <input {...field} className="input" defaultValue={company.name} readOnly={!mayWrite} />}
          </Field>
          <Field label={words.company.slug} name="slug" help={words.company.slugHelp}>
            {(field) => <input {...field} className="input mono" value={company.slug} readOnly />}
          </Field>
          <Field label={words.company.description} name="description" error={save.error}>
            {(field) => (
              <textarea {...field} className="input" defaultValue={company.description} readOnly={!mayWrite} />
            )}
          </Field>
          <Field label={words.company.budget} name="usd" at="budget.usd" error={save.error}>
            {(field) => (
              <input
                {...field}
                className="input"
                inputMode="decimal"
                defaultValue={company.budget.usd}
                readOnly={!mayWrite}
              />
            )}
          </Field>
          <Field label={words.company.period} name="period" at="budget.period" error={save.error}>
            {(field) => (
              <select {...field} className="input" defaultValue={company.budget.period} disabled={!mayWrite}>
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
            error={save.error}
          >
            {(field) => (
              <input
                {...field}
                className="input"
                inputMode="decimal"
                defaultValue={company.budget.reservePercent}
                readOnly={!mayWrite}
              />
            )}
          </Field>
          <p role="status">{said}</p>
        </Form>
      </div>
    </>
  )
}
