import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, ready, type Schemas } from "../../api/client"
import { clockApart } from "../../kit/format"
import { Clip, Facts, More } from "../../kit/page"
import { Actions, Confirm, Empty, Failure, Pill, Table, Time } from "../../kit/parts"
import { useMay, usePages, useStale } from "../../kit/queries"
import { words } from "../../words/en"

type Instance = Schemas["Instance"]
type Session = Schemas["Session"]

export function InstancePage() {
  const admin = useMay("admin")
  const found = useQuery({
    queryKey: ["instance"],
    queryFn: async () => ({ ...(await ask(api.GET("/v1/instance"))).data, seenAt: Date.now() }),
    refetchInterval: 30_000,
  })
  return (
    <>
      <div className="heading">
        <h1>{words.instance.title}</h1>
      </div>
      <Failure error={found.error} retry={found.refetch} />
      {found.isLoading && <p className="muted">{words.loading}</p>}
      {found.data && <Server of={found.data} apart={clockApart(found.data.time, found.data.seenAt)} />}
      {admin && <Sessions />}
    </>
  )
}

function Server({ of, apart }: { of: Instance; apart: number }) {
  const fit = useQuery({ queryKey: ["ready"], queryFn: ready, refetchInterval: 30_000 })
  const { listeners, requestsPerMinute, store } = of
  return (
    <>
      <Facts
        of={[
          [words.instance.version, of.version],
          [words.instance.store, words.instance.stores(store.kind, store.schema)],
          [
            words.instance.ready,
            fit.data !== undefined && (
              <Pill mood={fit.data ? "good" : "bad"}>
                {fit.data ? words.instance.isReady : words.instance.notReady}
              </Pill>
            ),
          ],
          [words.instance.time, <Clock key="time" at={of.time} apart={apart} />],
          [words.instance.adapters, of.adapters.join(", ")],
          [words.instance.retention, words.instance.days(of.archiveRetentionHours / 24)],
          [words.instance.publicKey, <code key="key">{of.publicKey}</code>],
        ]}
      />
      <section className="stack" aria-label={words.instance.limits}>
        <h2>{words.instance.limits}</h2>
        <p className="muted">{words.instance.limitsText}</p>
        <Facts
          of={(["read", "write", "costly", "gateway", "partner"] as const).map((name) => [
            words.instance.limitNames[name],
            words.instance.perMinute(requestsPerMinute[name]),
          ])}
        />
      </section>
      <section className="stack" aria-label={words.instance.listeners}>
        <h2>{words.instance.listeners}</h2>
        <Facts
          of={(["api", "dashboard", "gateway", "partner", "metrics"] as const).map((name) => [
            words.instance.listenerNames[name],
            listeners[name] ? (
              <code key={name}>{listeners[name]}</code>
            ) : name === "metrics" ? (
              words.instance.metricsBeside
            ) : (
              words.instance.off
            ),
          ])}
        />
        <p className="muted">
          {words.instance.docsText} <Beside of={listeners} path="/docs" />
          {!listeners.metrics && (
            <>
              , <Beside of={listeners} path="/metrics" />
            </>
          )}
        </p>
      </section>
    </>
  )
}

const port = (address: string | null) => /:(\d+)$/.exec(address ?? "")?.[1]

// Beside is a page of the API's listener: a link unless something stands before the dashboard, for then nobody here knows the address.
function Beside({ of, path }: { of: Instance["listeners"]; path: string }) {
  if (location.port !== port(of.dashboard)) return <code>{path}</code>
  return (
    <a href={`${location.protocol}//${location.hostname}:${port(of.api)}${path}`} target="_blank" rel="noreferrer">
      {path}
    </a>
  )
}

const Clock = ({ at, apart }: { at: string; apart: number }) => (
  <>
    <Time at={at} /> {apart !== 0 && <strong>{words.instance.apart(apart)}</strong>}
  </>
)

function Sessions() {
  const [ending, setEnding] = useState<Session>()
  const stale = useStale("sessions")
  const list = usePages<Session>(["sessions", "instance"], (cursor) =>
    ask(api.GET("/v1/sessions", { params: { query: { cursor } } })),
  )
  const tokens = usePages<Schemas["Token"]>(["tokens"], (cursor) =>
    ask(api.GET("/v1/tokens", { params: { query: { cursor } } })),
  )
  const end = useMutation({
    mutationFn: (id: string) => ask(api.DELETE("/v1/sessions/{id}", { params: { path: { id } } })),
    onSuccess: async () => {
      setEnding(undefined)
      await stale()
    },
  })
  return (
    <section className="stack" aria-label={words.instance.sessions}>
      <h2>{words.instance.sessions}</h2>
      <p className="muted">{words.instance.sessionsText}</p>
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        <Empty title={words.instance.noSessions} text={words.instance.noSessionsText} />
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.instance.sessions}
            rows={list.rows}
            id={(s) => s.id}
            columns={[
              { head: words.instance.browser, cell: (s) => <Clip>{s.browser || words.instance.unknown}</Clip> },
              {
                head: words.instance.token,
                cell: (s) => tokens.rows?.find((t) => t.id === s.tokenId)?.name ?? s.tokenId,
              },
              { head: words.instance.began, cell: (s) => <Time at={s.createdAt} /> },
              { head: words.instance.seen, cell: (s) => <Time at={s.lastSeenAt} /> },
              { head: words.instance.ends, cell: (s) => <Time at={s.expiresAt} /> },
            ]}
            actions={(s) => (
              <Actions
                of={s.browser || words.instance.unknown}
                actions={[{ name: words.instance.end, danger: true, run: () => setEnding(s) }]}
              />
            )}
          />
        )
      )}
      <More of={list} />
      {ending && (
        <Confirm
          title={words.instance.endTitle}
          text={words.instance.endText}
          submit={words.instance.end}
          busy={end.isPending}
          error={end.error}
          onSubmit={() => end.mutate(ending.id)}
          onClose={() => setEnding(undefined)}
        />
      )}
    </section>
  )
}
