import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { named, useCompanies } from "../../kit/company"
import { Actions, Confirm, Empty, Failure, Field, Form, Modal, Once, Pill, Table, Time } from "../../kit/parts"
import { useMay, usePages, useStale } from "../../kit/queries"
import { words } from "../../words/en"

type Token = Schemas["Token"]
type Doing = { what: "rotate" | "revoke"; to: Token; key: string }

export function Tokens() {
  const [making, setMaking] = useState(false)
  const [doing, setDoing] = useState<Doing>()
  const [value, setValue] = useState<string>()
  const admin = useMay("admin")
  const companies = useCompanies()
  const company = named(companies.data?.rows, (c) => c.name)
  const list = usePages<Token>(["tokens"], (cursor) => ask(api.GET("/v1/tokens", { params: { query: { cursor } } })))
  const open = usePages<Schemas["Session"]>(["sessions"], (cursor) =>
    ask(api.GET("/v1/sessions", { params: { query: { cursor, limit: 100 } } })),
  )
  return (
    <>
      <div className="heading">
        <h1>{words.tokens.title}</h1>
        {admin && (
          <button type="button" className="button primary" onClick={() => setMaking(true)}>
            {words.tokens.create}
          </button>
        )}
      </div>
      <p className="muted">{words.tokens.text}</p>
      <Failure error={list.error ?? open.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        <Empty title={words.tokens.empty} text={words.tokens.emptyText} />
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.tokens.title}
            rows={list.rows}
            id={(t) => t.id}
            columns={[
              { head: words.tokens.name, cell: (t) => t.name },
              { head: words.webhooks.state, cell: (t) => <State of={t} /> },
              { head: words.tokens.scopes, cell: (t) => t.scopes.map((scope) => said(scope, company)).join(", ") },
              { head: words.tokens.value, cell: (t) => <code className="still">{t.hint}</code> },
              { head: words.tokens.made, minor: true, cell: (t) => <Time at={t.createdAt} /> },
              { head: words.tokens.used, cell: (t) => <Time at={t.lastUsedAt} /> },
              { head: words.tokens.expires, cell: (t) => <Time at={t.expiresAt} /> },
              {
                head: words.tokens.sessions,
                number: true,
                cell: (t) => open.rows?.filter((s) => s.tokenId === t.id).length,
              },
            ]}
            actions={(t) => (
              <Actions
                of={t.name}
                actions={
                  state(t) === "live"
                    ? [
                        { name: words.tokens.rotate, run: () => setDoing({ what: "rotate", to: t, key: once() }) },
                        {
                          name: words.tokens.revoke,
                          danger: true,
                          run: () => setDoing({ what: "revoke", to: t, key: once() }),
                        },
                      ]
                    : []
                }
              />
            )}
          />
        )
      )}
      {list.hasNextPage && (
        <button type="button" className="button" onClick={() => list.fetchNextPage()} disabled={list.isFetching}>
          {words.loadMore}
        </button>
      )}
      {making && <NewToken onClose={() => setMaking(false)} onMade={setValue} />}
      {doing && <Do doing={doing} onClose={() => setDoing(undefined)} onMade={setValue} />}
      <Once title={words.tokens.onceTitle} value={value} onClose={() => setValue(undefined)} />
    </>
  )
}

// said is a scope with the name of its company, if it is of one.
function said(scope: string, company: (id: string) => string): string {
  const [, id, permission] = /^company:([^:]+):(.+)$/.exec(scope) ?? []
  return id && permission ? words.tokens.scopeOf(permission, company(id)) : scope
}

const state = (t: Token) =>
  t.revokedAt ? "revoked" : t.expiresAt && Date.parse(t.expiresAt) <= Date.now() ? "expired" : "live"

function State({ of }: { of: Token }) {
  const now = state(of)
  return <Pill mood={now === "live" ? "good" : "quiet"}>{words.tokens[now]}</Pill>
}

interface Making {
  onClose: () => void
  onMade: (value: string | undefined) => void
}

function NewToken({ onClose, onMade }: Making) {
  const stale = useStale("tokens")
  const [key] = useState(once)
  const make = useMutation({
    mutationFn: (data: FormData) => {
      const days = Number(data.get("days"))
      return ask(
        api.POST("/v1/tokens", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            name: String(data.get("name")),
            scopes: data.getAll("scopes").map(String),
            ...(days && { expiresAt: new Date(Date.now() + days * 86_400_000).toISOString() }),
          },
        }),
      )
    },
    onSuccess: async ({ data }) => {
      onClose()
      onMade(data.token)
      await stale()
    },
  })
  return (
    <Modal title={words.tokens.create} open onClose={onClose}>
      <Form
        submit={words.tokens.create}
        busy={make.isPending}
        error={make.error}
        onSubmit={make.mutate}
        onCancel={onClose}
      >
        <Field label={words.tokens.name} name="name" error={make.error}>
          {(field) => <input {...field} className="input" autoComplete="off" />}
        </Field>
        <fieldset className="field plain">
          <legend className="label">{words.tokens.scopes}</legend>
          {Object.entries(words.tokens.scopeWords).map(([scope, about]) => (
            <label key={scope} className="choice">
              <input type="checkbox" name="scopes" value={scope} />
              <span>
                <code>{scope}</code> <span className="muted">{about}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <InCompany />
        <Field label={words.tokens.expiresIn} name="days" at="expiresAt" error={make.error}>
          {(field) => (
            <select {...field} className="input" defaultValue="">
              {Object.entries(words.tokens.days)
                .sort(([a], [b]) => Number(a) - Number(b))
                .map(([days, name]) => (
                  <option key={days} value={days}>
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

// InCompany offers the scopes of one company.
function InCompany() {
  const companies = useCompanies()
  const [id, setId] = useState("")
  if (!companies.data?.rows.length) return null
  return (
    <fieldset className="field plain">
      <legend className="label">{words.tokens.scopeCompany}</legend>
      <select
        className="input"
        aria-label={words.tokens.scopeCompany}
        value={id}
        onChange={(event) => setId(event.target.value)}
      >
        <option value="">{words.tokens.noCompany}</option>
        {companies.data.rows.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
      {id &&
        (["read", "write"] as const).map((permission) => (
          <label key={permission} className="choice">
            <input type="checkbox" name="scopes" value={`company:${id}:${permission}`} />
            <span>
              <code>{permission}</code> <span className="muted">{words.tokens.companyWords[permission]}</span>
            </span>
          </label>
        ))}
    </fieldset>
  )
}

function Do({ doing: { what, to, key }, onClose, onMade }: Making & { doing: Doing }) {
  const stale = useStale("tokens", "sessions")
  const run = useMutation({
    mutationFn: () => {
      const path = { id: to.id }
      return what === "rotate"
        ? ask(api.POST("/v1/tokens/{id}/rotate", { params: { path, header: { "Idempotency-Key": key } }, body: {} }))
        : ask(api.DELETE("/v1/tokens/{id}", { params: { path } }))
    },
    onSuccess: async ({ data }) => {
      onClose()
      onMade(data.token)
      await stale()
    },
  })
  const rotates = what === "rotate"
  return (
    <Confirm
      title={rotates ? words.tokens.rotateTitle(to.name) : words.tokens.revokeTitle(to.name)}
      text={rotates ? words.tokens.rotateText : words.tokens.revokeText}
      submit={words.tokens[what]}
      busy={run.isPending}
      error={run.error}
      onSubmit={run.mutate}
      onClose={onClose}
    />
  )
}
