import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { Stats } from "../../kit/figures"
import { whole } from "../../kit/format"
import { Choose } from "../../kit/forms"
import { Clip, Filters, More, NothingMatches } from "../../kit/page"
import { Empty, Failure, Table, Time } from "../../kit/parts"
import { useMay, usePages } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { words } from "../../words/en"
import { kinds } from "./formats"
import { Open } from "./open"
import { Send } from "./send"
import { nameOf, State } from "./state"

type Import = Schemas["Import"]

const states = ["running", "done", "failed", "interrupted"] as const

export function Leads() {
  const [sending, setSending] = useState(false)
  const admin = useMay("admin")
  const search = useSearch({ from: "/shell/instance/leads" })
  const navigate = useNavigate({ from: "/instance/leads" })
  const open = (id: string | undefined) => void navigate({ search: (before) => ({ ...before, open: id }) })
  const instance = useQuery({
    queryKey: ["instance", "leads"],
    queryFn: async () => (await ask(api.GET("/v1/instance"))).data,
    refetchInterval: 15_000,
  })
  const counts = instance.data?.leads
  return (
    <>
      <div className="heading">
        <h1>{words.leads.title}</h1>
        {admin && (
          <button type="button" className="button primary" onClick={() => setSending(true)} disabled={!instance.data}>
            {words.leads.importFile}
          </button>
        )}
      </div>
      <p className="muted">{words.leads.text}</p>
      <Failure error={instance.error} retry={instance.refetch} />
      {counts && (
        <Stats
          of={(["leads", "campaigns", "industries", "verticals"] as const).map((name) => ({
            name: words.leads[name],
            value: whole(counts[name]),
          }))}
        />
      )}
      <Imports onSend={() => setSending(true)} />
      {sending && instance.data && (
        <Send
          most={instance.data.maxImportBytes}
          onClose={() => setSending(false)}
          onSent={(id) => {
            setSending(false)
            open(id)
          }}
        />
      )}
      {search.open && <Open key={search.open} of={search.open} onClose={() => open(undefined)} />}
    </>
  )
}

function Imports({ onSend }: { onSend: () => void }) {
  const search = useSearch({ from: "/shell/instance/leads" })
  const navigate = useNavigate({ from: "/instance/leads" })
  const set = (change: typeof search) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  const filters = { kind: oneOf(search.kind, kinds), status: oneOf(search.status, states) }
  const list = usePages<Import>(
    ["imports", "list", filters],
    (cursor) => ask(api.GET("/v1/imports", { params: { query: { ...filters, cursor } } })),
    (one) => one.status === "running",
  )
  const isFiltered = Object.values(filters).some(Boolean)
  return (
    <section className="stack" aria-label={words.leads.imports}>
      <h2>{words.leads.imports}</h2>
      <p className="muted">{words.leads.importsText}</p>
      {(isFiltered || !!list.rows?.length) && (
        <Filters>
          <Choose
            label={words.leads.kind}
            value={filters.kind}
            options={kinds.map((one) => [one, words.leads.kinds[one]])}
            onChange={(next) => set({ kind: next })}
          />
          <Choose
            label={words.leads.state}
            value={filters.status}
            options={states.map((one) => [one, words.leads.states[one]])}
            onChange={(next) => set({ status: next })}
          />
        </Filters>
      )}
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        isFiltered ? (
          <NothingMatches onClear={() => void navigate({ search: {} })} />
        ) : (
          <Empty title={words.leads.empty} text={words.leads.emptyText}>
            <code>{words.leads.command}</code>
            <button type="button" className="button" onClick={onSend}>
              {words.leads.importFile}
            </button>
          </Empty>
        )
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.leads.imports}
            rows={list.rows}
            id={(i) => i.id}
            columns={[
              {
                head: words.leads.file,
                cell: (i) => (
                  <Link from="/instance/leads" to="/instance/leads" search={(s) => ({ ...s, open: i.id })}>
                    <Clip>{nameOf(i)}</Clip>
                  </Link>
                ),
              },
              { head: words.leads.kind, minor: true, cell: (i) => words.leads.kinds[i.kind] },
              { head: words.leads.state, cell: (i) => <State of={i} /> },
              { head: words.leads.read, number: true, cell: (i) => whole(i.read) },
              { head: words.leads.inserted, number: true, cell: (i) => whole(i.inserted) },
              { head: words.leads.updated, number: true, cell: (i) => whole(i.updated) },
              { head: words.leads.rejected, number: true, cell: (i) => whole(i.rejected) },
              { head: words.leads.started, cell: (i) => <Time at={i.createdAt} /> },
            ]}
          />
        )
      )}
      <More of={list} />
    </section>
  )
}
