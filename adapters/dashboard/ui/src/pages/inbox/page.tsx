import { useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { ApprovalDetail } from "../../kit/approval"
import { Budgets } from "../../kit/budgets"
import { type Company, InCompany } from "../../kit/company"
import { isTyping, keysAreOn } from "../../kit/keys"
import { More } from "../../kit/page"
import { Empty, Failure, type Mood, Pill, Time } from "../../kit/parts"
import { usePages } from "../../kit/queries"
import { words } from "../../words/en"
import looks from "./inbox.module.css"
import { IssueDetail } from "./issue"

export type Item = Schemas["InboxItem"]

export const Inbox = () => <Page />

export const CompanyInbox = () => <InCompany>{(company) => <Page company={company} />}</InCompany>

const moods: Record<Item["kind"], Mood> = {
  approval: "warning",
  question: "quiet",
  handoff: "warning",
  review: "good",
  blocked: "bad",
  waiting: "bad",
}

function Page({ company }: { company?: Company }) {
  const search = useSearch({ strict: false }) as { open?: string }
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [said, setSaid] = useState("")
  const key = company ? [company.id, "inbox"] : ["inbox"]
  const list = usePages<Item>(key, (cursor) =>
    ask(api.GET("/v1/inbox", { params: { query: { company: company?.id, cursor } } })),
  )
  const rows = list.rows
  const wide = matchMedia("(width >= 720px)").matches
  const at = rows?.findIndex((one) => one.subject.id === search.open) ?? -1
  const chosen = rows?.[at] ?? (search.open || !wide ? undefined : rows?.[0])
  const go = (open?: string) =>
    navigate({ to: ".", search: (before) => ({ ...before, open }), replace: true, resetScroll: false })

  // j and k move, as the arrow keys do in other lists.
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !rows?.length || !keysAreOn() || isTyping(event.target))
        return
      if (document.querySelector("[role=dialog],[role=menu]")) return
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0
      if (!step) return
      const now = rows.findIndex((one) => one.subject.id === chosen?.subject.id)
      const next = rows[Math.min(rows.length - 1, Math.max(0, now + step))]
      if (next) void navigate({ to: ".", search: (before) => ({ ...before, open: next.subject.id }), replace: true })
    }
    addEventListener("keydown", keys)
    return () => removeEventListener("keydown", keys)
  }, [rows, chosen, navigate])

  // done tells what was decided, and goes on to what comes next.
  const done = async (what: string) => {
    setSaid(words.inbox.decided(what))
    const now = rows?.findIndex((one) => one.subject.id === chosen?.subject.id) ?? -1
    const next = wide ? (rows?.[now + 1] ?? rows?.[now - 1]) : undefined
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["inbox"] }),
      chosen && queries.invalidateQueries({ queryKey: [chosen.company.id] }),
    ])
    await go(next?.subject.id)
  }

  return (
    <>
      <div className="heading">
        <h1>{words.inbox.title}</h1>
      </div>
      <p className="muted">{words.inbox.text}</p>
      <p role="status" className={said ? undefined : "hidden"}>
        {said}
      </p>
      {company && <Budgets company={company} spent />}
      <Failure error={list.error} retry={list.refetch} />
      {rows?.length === 0 && <Empty title={words.inbox.empty} text={words.inbox.emptyText} />}
      {list.isLoading && <p className="muted">{words.loading}</p>}
      {!!rows?.length && (
        <div className={search.open ? `${looks.split} ${looks.open}` : looks.split}>
          <section className={`${looks.listed} stack`} aria-label={words.inbox.list}>
            <ul className={`${looks.list} panel`}>
              {rows.map((one) => (
                <li key={one.subject.id}>
                  <Link
                    to="."
                    search={(before) => ({ ...before, open: one.subject.id })}
                    aria-current={one.subject.id === chosen?.subject.id ? "true" : undefined}
                  >
                    <span className={looks.line}>
                      <Pill mood={moods[one.kind]}>{words.inbox.kinds[one.kind]}</Pill>
                      <span className="muted small">
                        <Time at={one.since} />
                      </span>
                    </span>
                    <span className={looks.title}>{one.action ?? one.issue.title}</span>
                    <span className="muted small">
                      {[one.agent?.name, `#${one.issue.number}`, company ? "" : one.company.name]
                        .filter(Boolean)
                        .join(" · ")}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
            <More of={list} />
          </section>
          <section className={`${looks.detail} stack`} aria-label={words.inbox.issue}>
            {search.open && (
              <button type="button" className={`button ${looks.back}`} onClick={() => go()}>
                {words.inbox.back}
              </button>
            )}
            {chosen ? (
              <Detail key={chosen.subject.id} item={chosen} onDone={done} />
            ) : (
              <p className="muted">{search.open ? words.inbox.gone : words.inbox.choose}</p>
            )}
          </section>
        </div>
      )}
    </>
  )
}

export interface DetailProps {
  item: Item
  onDone: (what: string) => void
}

const Detail = ({ item, onDone }: DetailProps) =>
  item.subject.type === "approval" ? (
    <>
      <h2>{item.action}</h2>
      <ApprovalDetail
        company={item.company}
        of={item.subject.id}
        agent={item.agent?.name}
        issue={item.issue}
        about={words.inbox.about[item.kind]}
        onDone={onDone}
      />
    </>
  ) : (
    <IssueDetail item={item} onDone={onDone} />
  )
