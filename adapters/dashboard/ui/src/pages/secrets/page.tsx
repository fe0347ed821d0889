import { Link, useParams } from "@tanstack/react-router"
import { useRef, useState } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { type Company, InCompany, useAgents } from "../../kit/company"
import { Clip, More } from "../../kit/page"
import { Actions, Close, Empty, Failure, Modal, Pill, Table, Time } from "../../kit/parts"
import { usePages } from "../../kit/queries"
import { words } from "../../words/en"
import { isStale, secretsIn } from "./names"

type Secret = Schemas["Secret"]

export const Secrets = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

function Page({ company }: { company: Company }) {
  const id = company.id
  const { slug } = useParams({ from: "/shell/c/$slug/secrets" })
  const [showing, setShowing] = useState<{ secret?: Secret }>()
  const agents = useAgents(id)
  const naming = (name: string) =>
    agents.data?.rows.filter((a) => a.status !== "retired" && secretsIn(a.adapterConfig).has(name)) ?? []
  const list = usePages<Secret>([id, "secrets"], (cursor) =>
    ask(api.GET("/v1/companies/{id}/secrets", { params: { path: { id }, query: { cursor } } })),
  )
  return (
    <>
      <div className="heading">
        <h1>{words.secrets.title}</h1>
        <button type="button" className="button" onClick={() => setShowing({})}>
          {words.secrets.set}
        </button>
      </div>
      <p className="muted">{words.secrets.text}</p>
      <Failure error={list.error ?? agents.error} retry={list.error ? list.refetch : agents.refetch} />
      {list.rows?.length === 0 ? (
        <Empty title={words.secrets.empty} text={words.secrets.emptyText}>
          <Command text={`holdco secret set ${slug} NAME`} />
        </Empty>
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.secrets.title}
            rows={list.rows}
            id={(s) => s.name}
            columns={[
              {
                head: words.secrets.name,
                cell: (s) => (
                  <>
                    <code>
                      <Clip>{s.name}</Clip>
                    </code>
                    {s.description && (
                      <span className="muted small">
                        <Clip>{s.description}</Clip>
                      </span>
                    )}
                  </>
                ),
              },
              { head: words.secrets.category, cell: (s) => words.secrets.categories[s.category] },
              {
                head: words.secrets.agents,
                cell: (s) => {
                  const found = naming(s.name)
                  return found.length ? (
                    <span className="row tight">
                      {found.map((a) => (
                        <Link key={a.id} to="/c/$slug/agents/$agent" params={{ slug, agent: a.id }}>
                          <Clip>{a.name}</Clip>
                        </Link>
                      ))}
                    </span>
                  ) : (
                    <span className="muted">{agents.data && words.secrets.nobody}</span>
                  )
                },
              },
              {
                head: words.secrets.rotated,
                cell: (s) => (
                  <>
                    <Time at={s.rotatedAt} />
                    {isStale(s.rotatedAt, Date.now()) && (
                      <>
                        {" "}
                        <Pill mood="warning">{words.secrets.stale}</Pill>
                      </>
                    )}
                  </>
                ),
              },
              { head: words.secrets.used, cell: (s) => <Time at={s.lastUsedAt} /> },
            ]}
            actions={(s) => (
              <Actions of={s.name} actions={[{ name: words.secrets.rotate, run: () => setShowing({ secret: s }) }]} />
            )}
          />
        )
      )}
      <More of={list} />
      {showing && (
        <Modal
          title={showing.secret ? words.secrets.rotateTitle(showing.secret.name) : words.secrets.set}
          open
          onClose={() => setShowing(undefined)}
        >
          <p className="muted">{showing.secret ? words.secrets.rotateText : words.secrets.setText}</p>
          <Command
            text={
              showing.secret
                ? `holdco secret rotate ${slug} ${showing.secret.name}`
                : `holdco secret set ${slug} NAME --category api_key`
            }
          />
          <Close onClose={() => setShowing(undefined)} />
        </Modal>
      )}
    </>
  )
}

// Command is a line to copy. Copying needs an encrypted page; else the text is selected.
function Command({ text }: { text: string }) {
  const input = useRef<HTMLInputElement>(null)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    input.current?.select()
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      input.current?.focus()
    }
  }
  return (
    <div className="once">
      <input
        ref={input}
        className="input mono"
        readOnly
        value={text}
        size={text.length}
        aria-label={words.secrets.command}
      />
      <button type="button" className="button" onClick={copy}>
        {copied ? words.copied : words.copy}
      </button>
    </div>
  )
}
