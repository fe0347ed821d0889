import { useQuery } from "@tanstack/react-query"
import { useEffect } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { lasted, whole } from "../../kit/format"
import { Facts, More } from "../../kit/page"
import { Failure, Time } from "../../kit/parts"
import { soon, usePages, useStale } from "../../kit/queries"
import { Sheet } from "../../kit/sheet"
import { words } from "../../words/en"
import looks from "./leads.module.css"
import { nameOf, phase, State, share } from "./state"

type Import = Schemas["Import"]
type Line = Schemas["ReportedLine"]

// Open shows one import, how far it is, and the lines that were not imported as they stand.
export function Open({ of, onClose }: { of: string; onClose: () => void }) {
  const stale = useStale("imports", "instance")
  const found = useQuery({
    queryKey: ["import", of],
    queryFn: async () => (await ask(api.GET("/v1/imports/{id}", { params: { path: { id: of } } }))).data,
    refetchInterval: ({ state }) => (state.data?.status === "running" ? soon : false),
  })
  const one = found.data
  const ended = !!one?.endedAt
  useEffect(() => {
    if (ended) void stale()
  }, [ended])
  return (
    <Sheet title={one ? nameOf(one) : words.leads.imports} onClose={onClose}>
      <Failure error={found.error} retry={found.refetch} />
      {found.isLoading && <p className="muted">{words.loading}</p>}
      {one && (
        <>
          {one.progress && <progress className={looks.progress} max={100} value={share(one)} aria-label={phase(one)} />}
          <About of={one} />
          {one.rejected + one.merged + one.dropped > 0 ? (
            <Reported of={one} />
          ) : (
            ended && <p className="muted">{words.leads.noneRejected}</p>
          )}
        </>
      )}
    </Sheet>
  )
}

function About({ of }: { of: Import }) {
  const asked = [
    of.dryRun && words.leads.dryRun,
    of.strict && words.leads.strict,
    of.keepTimestamps && words.leads.keepTimestamps,
    of.replace && words.leads.replace,
    of.lenient && words.leads.lenient,
    of.key && words.leads.keyed(of.key),
    of.region && words.leads.region(of.region),
    of.encoding && words.leads.encoding(of.encoding),
  ].filter(Boolean)
  const facts: Parameters<typeof Facts>[0]["of"] = [
    [words.leads.state, <State key="state" of={of} />],
    [words.leads.kind, words.leads.kinds[of.kind]],
    [words.leads.size, words.leads.sized(of.bytes)],
  ]
  if (of.error) facts.splice(1, 0, [words.leads.stopped, of.error.message])
  if (asked.length) facts.push([words.leads.options, asked.join("; ")])
  if (of.progress?.phase === "checking") facts.push([words.leads.linesChecked, whole(of.progress.lines)])
  else {
    for (const name of ["read", "inserted", "updated", "unchanged", "rejected"] as const) {
      facts.push([words.leads[name], whole(of[name])])
    }
    for (const name of ["merged", "suppressed", "dropped"] as const) {
      if (of[name] > 0) facts.push([words.leads[name], whole(of[name])])
    }
  }
  facts.push([words.leads.started, <Time key="started" at={of.createdAt} />])
  if (of.endedAt) facts.push([words.leads.took, lasted(of.createdAt, of.endedAt)])
  return <Facts of={facts} />
}

function Reported({ of }: { of: Import }) {
  const list = usePages<Line>(["imports", "errors", of.id, of.endedAt], (cursor) =>
    ask(api.GET("/v1/imports/{id}/errors", { params: { path: { id: of.id }, query: { cursor } } })),
  )
  const most = 10_000
  return (
    <section className="stack" aria-label={words.leads.rejectedLines}>
      <h3>{words.leads.rejectedLines}</h3>
      {of.rejected + of.merged > most && <p className="muted">{words.leads.someKept(most, of.rejected + of.merged)}</p>}
      <Failure error={list.error} retry={list.refetch} />
      <ul className="stack">
        {list.rows?.map((line, n) => (
          // They are only added to, and several can be of one line.
          <li key={n} className={looks.line}>
            <p>
              <strong>
                {of.kind === "taxonomy"
                  ? words.leads.whole
                  : line.item
                    ? words.leads.item(line.item)
                    : words.leads.line(line.line)}
              </strong>
              {line.outcome !== "rejected" && <span className="muted"> {words.leads.outcomes[line.outcome]}</span>}
              {line.id && <code> {line.id}</code>}
            </p>
            <ul>
              {line.errors.map((wrong) => (
                <li key={`${wrong.field} ${wrong.code} ${wrong.message}`}>{wrong.message}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <More of={list} />
    </section>
  )
}
