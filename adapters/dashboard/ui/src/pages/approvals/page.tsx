import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { api, ask } from "../../api/client"
import { useTokens } from "../../kit/actor"
import { type Approval, ApprovalDetail, ApprovalState, decider, useApproval } from "../../kit/approval"
import { type Company, InCompany, named, useAgents, useRules, useStaleIn, useTeams } from "../../kit/company"
import { Money } from "../../kit/figures"
import { Choose } from "../../kit/forms"
import { useIssue } from "../../kit/issues"
import { Clip, Filters, More, NothingMatches } from "../../kit/page"
import { Empty, Failure, Table, Time } from "../../kit/parts"
import { usePages } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { Sheet } from "../../kit/sheet"
import { words } from "../../words/en"
import { Rules } from "./rules"

export const Approvals = () => <InCompany>{(company) => <Page key={company.id} company={company} />}</InCompany>

const states = ["pending", "asked_question", "approved", "approved_with_edits", "denied", "expired"] as const

function Page({ company }: { company: Company }) {
  const { view } = useSearch({ from: "/shell/c/$slug/approvals" })
  return (
    <>
      <div className="heading">
        <h1>{words.approvals.title}</h1>
      </div>
      <nav className="tabs" aria-label={words.approvals.title}>
        <Link
          from="/c/$slug/approvals"
          to="/c/$slug/approvals"
          search={{}}
          aria-current={view ? undefined : "page"}
          activeOptions={{ exact: true }}
        >
          {words.approvals.history}
        </Link>
        <Link
          from="/c/$slug/approvals"
          to="/c/$slug/approvals"
          search={{ view: "rules" }}
          aria-current={view ? "page" : undefined}
        >
          {words.approvals.rules}
        </Link>
      </nav>
      {view === "rules" ? <Rules company={company} /> : <History company={company} />}
    </>
  )
}

function History({ company }: { company: Company }) {
  const id = company.id
  const search = useSearch({ from: "/shell/c/$slug/approvals" })
  const navigate = useNavigate({ from: "/c/$slug/approvals" })
  const set = (change: typeof search) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  const status = oneOf(search.status, states)
  const filters = { status: status && [status], agent: search.agent, team: search.team }
  const agents = useAgents(id)
  const teams = useTeams(id)
  const agent = named(agents.data?.rows, (a) => a.name)
  const rules = useRules(id)
  const token = useTokens()
  const list = usePages<Approval>([id, "approvals", "list", filters], (cursor) =>
    ask(api.GET("/v1/companies/{id}/approvals", { params: { path: { id }, query: { ...filters, cursor } } })),
  )
  const isFiltered = Object.values(filters).some(Boolean)
  return (
    <>
      {(isFiltered || !!list.rows?.length) && (
        <Filters>
          <Choose
            label={words.approvals.state}
            value={status}
            options={states.map((one) => [one, words.approvals.states[one]])}
            onChange={(next) => set({ status: next })}
          />
          <Choose
            label={words.approvals.agent}
            value={search.agent}
            options={agents.data?.rows.map((one) => [one.id, one.name]) ?? []}
            onChange={(next) => set({ agent: next })}
          />
          <Choose
            label={words.agents.team}
            value={search.team}
            options={teams.data?.rows.map((one) => [one.id, one.name]) ?? []}
            onChange={(next) => set({ team: next })}
          />
        </Filters>
      )}
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        isFiltered ? (
          <NothingMatches onClear={() => void navigate({ search: {} })} />
        ) : (
          <Empty title={words.approvals.empty} text={words.approvals.emptyText} />
        )
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.approvals.history}
            rows={list.rows}
            id={(a) => a.id}
            columns={[
              {
                head: words.approvals.action,
                cell: (a) => (
                  <Link from="/c/$slug/approvals" to="/c/$slug/approvals" search={(s) => ({ ...s, open: a.id })}>
                    <Clip wide>{a.action}</Clip>
                  </Link>
                ),
              },
              { head: words.approvals.state, cell: (a) => <ApprovalState of={a.status} /> },
              { head: words.approvals.agent, cell: (a) => <Clip>{agent(a.agentId)}</Clip> },
              { head: words.approvals.cost, number: true, minor: true, cell: (a) => <Money usd={a.cost.usd} /> },
              { head: words.approvals.asked, cell: (a) => <Time at={a.requestedAt} /> },
              { head: words.approvals.by, cell: (a) => <Clip>{decider(a, rules, token)}</Clip> },
            ]}
          />
        )
      )}
      <More of={list} />
      {search.open && (
        <Open
          key={search.open}
          company={company}
          of={search.open}
          agent={agent}
          rules={rules}
          onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }) })}
        />
      )}
    </>
  )
}

interface OpenProps {
  company: Company
  of: string
  agent: (id: string) => string
  rules: Map<string, string>
  onClose: () => void
}

function Open({ company, of, agent, rules, onClose }: OpenProps) {
  const id = company.id
  const stale = useStaleIn(id, "approvals", "inbox", "dashboard", "issues")
  const approval = useApproval(id, of).data?.approval
  const issue = useIssue(id, approval?.issueId)
  const token = useTokens()
  return (
    <Sheet title={approval?.action ?? words.approvals.approval} onClose={onClose}>
      <ApprovalDetail
        company={company}
        of={of}
        agent={approval && agent(approval.agentId)}
        issue={issue.data?.issue}
        decidedBy={approval && decider(approval, rules, token)}
        onDone={stale}
      />
    </Sheet>
  )
}
