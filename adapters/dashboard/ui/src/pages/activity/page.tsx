import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useState, useSyncExternalStore } from "react"
import { api, ask } from "../../api/client"
import { fresh } from "../../api/live"
import { type Company, InCompany, named, useAgents } from "../../kit/company"
import { type Entry, EntryLine } from "../../kit/entry"
import { dayOf, longDay, startOf } from "../../kit/format"
import { Choose } from "../../kit/forms"
import { Fresh } from "../../kit/fresh"
import { Filters, More, NothingMatches } from "../../kit/page"
import { Empty, Failure } from "../../kit/parts"
import { usePages } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { words } from "../../words/en"
import looks from "./activity.module.css"

export const Activity = () => <InCompany>{(company) => <Page key={company.id} company={company} />}</InCompany>

const categories = Object.keys(words.activity.categories) as (keyof typeof words.activity.categories)[]

function Page({ company }: { company: Company }) {
  const cid = company.id
  const search = useSearch({ from: "/shell/c/$slug/activity" })
  const navigate = useNavigate()
  const [paused, setPaused] = useState(false)
  const set = (change: typeof search) =>
    void navigate({ to: "/c/$slug/activity", params: { slug: company.slug }, search: { ...search, ...change } })
  const category = oneOf(search.category, categories)
  const filters = {
    category: category && [category],
    q: search.q && search.q.length >= 2 ? search.q : undefined,
    actor: search.actor,
    "subject.id": search.subject,
    since: startOf(search.since),
    until: startOf(search.until),
  }
  const list = usePages<Entry>([cid, "lists", "activity", filters], (cursor) =>
    ask(
      api.GET("/v1/companies/{id}/activity", {
        params: { path: { id: cid }, query: { ...filters, limit: 100, cursor } },
      }),
    ),
  )
  const name = named(useAgents(cid).data?.rows, (agent) => agent.name)
  const count = useSyncExternalStore(fresh.watch, () => fresh.of(cid, "activity"))
  const { refetch } = list
  const isDeep = (list.data?.pages.length ?? 0) > 1 // what is read far down must not be read again with each entry
  useEffect(() => fresh.clear(cid, "activity"), [cid])
  useEffect(() => {
    if (!count || paused || isDeep) return
    const timer = setTimeout(() => {
      fresh.clear(cid, "activity")
      void refetch()
    }, 1000)
    return () => clearTimeout(timer)
  }, [count, paused, isDeep, cid, refetch])
  const days = new Map<string, Entry[]>()
  for (const entry of list.rows ?? []) {
    const day = dayOf(entry.at)
    days.set(day, [...(days.get(day) ?? []), entry])
  }
  const exported = (format: string) => {
    const query = new URLSearchParams({ format })
    for (const [name, value] of Object.entries(filters)) if (value) query.set(name, String(value))
    return `/v1/companies/${cid}/activity/export?${query}`
  }
  const typed = (name: "q" | "actor" | "subject", label: string) => (
    <form
      key={`${name} ${search[name] ?? ""}`}
      onSubmit={(event) => {
        event.preventDefault()
        set({ [name]: String(new FormData(event.currentTarget).get(name)).trim() || undefined })
      }}
    >
      <input
        className="input"
        name={name}
        aria-label={label}
        placeholder={label}
        defaultValue={search[name]}
        data-key={name === "q" ? "/" : undefined}
        autoComplete="off"
      />
    </form>
  )
  const day = (name: "since" | "until", label: string) => (
    <label className={looks.day}>
      <span className="muted small still">{label}</span>
      <input
        className="input"
        type="date"
        value={search[name]?.slice(0, 10) ?? ""}
        onChange={(event) => set({ [name]: event.target.value || undefined })}
      />
    </label>
  )
  return (
    <>
      <div className="heading">
        <h1>{words.activity.title}</h1>
        <div className="row">
          {(paused || isDeep) && <Fresh cid={cid} list="activity" onShow={refetch} />}
          <button type="button" className="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
            {paused ? words.activity.resume : words.activity.pause}
          </button>
          <a className="button" href={exported("csv")} download>
            {words.activity.csv}
          </a>
          <a className="button" href={exported("jsonl")} download>
            {words.activity.jsonl}
          </a>
        </div>
      </div>
      <Filters>
        {typed("q", words.activity.search)}
        <Choose
          label={words.activity.category}
          value={category}
          options={categories.map((one) => [one, words.activity.categories[one]])}
          onChange={(next) => set({ category: next })}
        />
        {typed("actor", words.activity.actor)}
        {typed("subject", words.activity.subject)}
        {day("since", words.activity.since)}
        {day("until", words.activity.until)}
      </Filters>
      <Failure error={list.error} retry={refetch} />
      {list.rows?.length === 0 &&
        !list.hasNextPage &&
        (Object.values(filters).some(Boolean) ? (
          <NothingMatches onClear={() => void navigate({ to: "/c/$slug/activity", params: { slug: company.slug } })} />
        ) : (
          <Empty title={words.activity.empty} text={words.activity.emptyText} />
        ))}
      {[...days].map(([day, entries]) => (
        <section key={day} className="stack tight" aria-label={longDay(day)}>
          <h2>{longDay(day)}</h2>
          <ul className="panel">
            {entries.map((entry) => (
              <EntryLine key={entry.id} slug={company.slug} of={entry} name={name} />
            ))}
          </ul>
        </section>
      ))}
      <More of={list} />
    </>
  )
}
