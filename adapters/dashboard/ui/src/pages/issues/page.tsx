import { useNavigate, useSearch } from "@tanstack/react-router"
import { useCallback, useEffect, useState } from "react"
import { api, ask } from "../../api/client"
import { fresh } from "../../api/live"
import { type Company, InCompany, useAgents, useGoals, useProjects, useTeams } from "../../kit/company"
import { Choose } from "../../kit/forms"
import { Fresh } from "../../kit/fresh"
import { NewIssue } from "../../kit/issues"
import { MoveIssues } from "../../kit/moves"
import { Filters, NothingMatches } from "../../kit/page"
import { Empty, Failure } from "../../kit/parts"
import { useMay, usePages } from "../../kit/queries"
import { type Issue, type Move, priorities, statuses } from "../../kit/states"
import { words } from "../../words/en"
import { Board } from "./board"
import { isFiltered, queryOf, type Search } from "./filters"
import looks from "./issues.module.css"
import { List } from "./list"

export const Issues = () => <InCompany>{(company) => <Page key={company.id} company={company} />}</InCompany>

const bulk: Move[] = ["assign", "retry", "cancel"]

function Page({ company }: { company: Company }) {
  const cid = company.id
  const search: Search = useSearch({ from: "/shell/c/$slug/issues" })
  const navigate = useNavigate()
  const mayWrite = useMay("write", cid)
  const [chosen, setChosen] = useState<Map<string, Issue>>(new Map())
  const [moving, setMoving] = useState<Move>()
  const set = (change: Search) =>
    void navigate({ to: "/c/$slug/issues", params: { slug: company.slug }, search: { ...search, ...change } })
  const isBoard = search.view === "board"
  const query = queryOf(search)
  const list = usePages<Issue>([cid, "lists", "issues", query], (cursor) =>
    ask(
      api.GET("/v1/companies/{id}/issues", { params: { path: { id: cid }, query: { ...query, limit: 200, cursor } } }),
    ),
  )
  useEffect(() => fresh.clear(cid, "issues"), [cid])
  const choose = useCallback(
    (issue: Issue) =>
      setChosen((now) => {
        const next = new Map(now)
        if (!next.delete(issue.id)) next.set(issue.id, issue)
        return next
      }),
    [],
  )
  const create = mayWrite && (
    <button type="button" className="button primary" data-key="n" onClick={() => set({ new: "yes" })}>
      {words.issues.create}
    </button>
  )
  return (
    <>
      <div className="heading">
        <h1>{words.issues.title}</h1>
        <div className="row">
          <Fresh cid={cid} list="issues" onShow={list.refetch} />
          <button type="button" className="button" onClick={() => set({ view: isBoard ? undefined : "board" })}>
            {isBoard ? words.issues.list : words.issues.board}
          </button>
          {create}
        </div>
      </div>
      <IssueFilters cid={cid} search={search} onChange={set} />
      {chosen.size > 0 && (
        <section className={`panel row ${looks.chosen}`} aria-label={words.issues.selected(chosen.size)}>
          <span>{words.issues.selected(chosen.size)}</span>
          {bulk.map((move) => (
            <button key={move} type="button" className="button" onClick={() => setMoving(move)}>
              {words.issues.moves[move]}
            </button>
          ))}
          <button type="button" className="button plain" onClick={() => setChosen(new Map())}>
            {words.issues.clearSelected}
          </button>
        </section>
      )}
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 && !list.hasNextPage ? (
        isFiltered(search) ? (
          <NothingMatches onClear={() => void navigate({ to: "/c/$slug/issues", params: { slug: company.slug } })} />
        ) : (
          <Empty title={words.issues.empty} text={words.issues.emptyText} />
        )
      ) : isBoard ? (
        <Board company={company} query={query} mayWrite={mayWrite} />
      ) : (
        <List company={company} of={list} chosen={chosen} onChoose={mayWrite ? choose : undefined} sort={query.sort} />
      )}
      {search.new && mayWrite && (
        <NewIssue
          cid={cid}
          onClose={() => set({ new: undefined })}
          onMade={(issue) =>
            void navigate({
              to: "/c/$slug/issues/$number",
              params: { slug: company.slug, number: String(issue.number) },
            })
          }
        />
      )}
      {moving && (
        <MoveIssues
          cid={cid}
          move={moving}
          issues={[...chosen.values()]}
          onClose={() => setMoving(undefined)}
          onDone={() => setChosen(new Map())}
        />
      )}
    </>
  )
}

interface FilterProps {
  cid: string
  search: Search
  onChange: (change: Search) => void
}

function IssueFilters({ cid, search, onChange }: FilterProps) {
  const agents = useAgents(cid)
  const teams = useTeams(cid)
  const goals = useGoals(cid)
  const projects = useProjects(cid)
  const typed = (name: "label" | "number" | "workflow" | "q", label: string) => (
    <form
      key={`${name} ${search[name] ?? ""}`}
      onSubmit={(event) => {
        event.preventDefault()
        onChange({ [name]: String(new FormData(event.currentTarget).get(name)).trim() || undefined })
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
        onChange={(event) => onChange({ [name]: event.target.value || undefined })}
      />
    </label>
  )
  return (
    <>
      <Filters>
        {typed("q", words.issues.search)}
        <Choose
          label={words.issues.status}
          value={search.status}
          options={statuses.map((one) => [one, words.work.issueStates[one]])}
          onChange={(status) => onChange({ status })}
        />
        <Choose
          label={words.issues.priority}
          value={search.priority}
          options={priorities.map((one) => [one, words.issues.priorities[one]])}
          onChange={(priority) => onChange({ priority })}
        />
        <Choose
          label={words.issues.agent}
          value={search.agent}
          options={agents.data?.rows.map((one) => [one.id, one.name]) ?? []}
          onChange={(agent) => onChange({ agent })}
        />
        <Choose
          label={words.issues.sort}
          value={search.sort}
          options={[
            ["updated", words.issues.sorts.updated],
            ["priority", words.issues.sorts.priority],
            ["due", words.issues.sorts.due],
          ]}
          none={words.issues.sorts.created}
          onChange={(sort) => onChange({ sort })}
        />
      </Filters>
      <details>
        <summary>{words.issues.moreFilters}</summary>
        <div className={looks.more}>
          <Filters>
            <Choose
              label={words.issues.team}
              value={search.team}
              options={teams.data?.rows.map((one) => [one.id, one.name]) ?? []}
              onChange={(team) => onChange({ team })}
            />
            <Choose
              label={words.issues.goal}
              value={search.goal}
              options={goals.data?.rows.map((one) => [one.id, one.title]) ?? []}
              onChange={(goal) => onChange({ goal })}
            />
            <Choose
              label={words.issues.parent}
              value={search.parent}
              options={[
                ["null", words.issues.noParent],
                ...(search.parent && search.parent !== "null"
                  ? [[search.parent, search.parent] as [string, string]]
                  : []),
              ]}
              onChange={(parent) => onChange({ parent })}
            />
            <Choose
              label={words.issues.project}
              value={search.project}
              options={projects.data?.rows.map((one) => [one.id, one.title]) ?? []}
              onChange={(project) => onChange({ project })}
            />
            {typed("workflow", words.issues.workflow)}
            {typed("label", words.issues.label)}
            {typed("number", words.issues.number)}
            {day("since", words.issues.since)}
            {day("until", words.issues.until)}
          </Filters>
        </div>
      </details>
    </>
  )
}
