import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { asApiError } from "../../api/errors"
import { Actor } from "../../kit/actor"
import { type Company, useStaleIn } from "../../kit/company"
import { CostsOf, Kinds, Tokens } from "../../kit/costs"
import { useDraft } from "../../kit/draft"
import { type Entry, EntryLine } from "../../kit/entry"
import { Money, Stats } from "../../kit/figures"
import { count, dollars } from "../../kit/format"
import { text } from "../../kit/forms"
import { keepOf } from "../../kit/issues"
import { Markdown } from "../../kit/markdown"
import { Clip, Facts, More } from "../../kit/page"
import { Empty, Failure, Field, Form, Modal, type Mood, Pill, Time } from "../../kit/parts"
import { usePages } from "../../kit/queries"
import type { Issue } from "../../kit/states"
import { Tree } from "../../kit/tree"
import { words } from "../../words/en"
import looks from "./issue.module.css"

interface PartProps {
  company: Company
  issue: Issue
}

interface NamedProps extends PartProps {
  name: (agent: string) => string
}

const useEntries = ({ company, issue }: PartProps) =>
  usePages<Entry>([company.id, "issue", issue.id, "activity"], (cursor) =>
    ask(
      api.GET("/v1/companies/{id}/activity", {
        params: { path: { id: company.id }, query: { "related.issueId": issue.id, limit: 50, cursor } },
      }),
    ),
  )

// Thread has comments and events in one order, the newest first. While one of the two lists is longer than what is read of it, what is
// older than that in the other one waits.
export function Thread({ company, issue, mayWrite, name }: NamedProps & { mayWrite: boolean }) {
  const comments = usePages<Schemas["Comment"]>([company.id, "issue", issue.id, "comments"], (cursor) =>
    ask(
      api.GET("/v1/companies/{id}/issues/{issue}/comments", {
        params: { path: { id: company.id, issue: issue.id }, query: { limit: 100, cursor } },
      }),
    ),
  )
  const entries = useEntries({ company, issue })
  const said = comments.rows ?? []
  const happened = (entries.rows ?? []).filter((entry) => entry.action !== "issue.commented")
  const reach = [
    comments.hasNextPage ? said.at(-1)?.createdAt : "",
    entries.hasNextPage ? entries.rows?.at(-1)?.at : "",
  ].reduce<string>((a, b) => ((b ?? "") > a ? (b ?? "") : a), "")
  const all = [
    ...said.map((comment) => ({ at: comment.createdAt, id: comment.id, comment, entry: undefined })),
    ...happened.map((entry) => ({ at: entry.at, id: entry.id, comment: undefined, entry })),
  ]
    .filter((one) => one.at >= reach)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return (
    <>
      {mayWrite && <Say company={company} issue={issue} />}
      <Failure error={comments.error ?? entries.error} retry={comments.error ? comments.refetch : entries.refetch} />
      {comments.rows && entries.rows && all.length === 0 && <p className="muted">{words.issue.nothing}</p>}
      {all.length > 0 && (
        <ul className="panel">
          {all.map((one) =>
            one.comment ? (
              <li key={one.id} className={looks.said}>
                <p className="muted small">
                  <Actor slug={company.slug} of={one.comment.author} name={name} /> · <Time at={one.at} />
                </p>
                <Markdown>{one.comment.body}</Markdown>
              </li>
            ) : (
              one.entry && <EntryLine key={one.id} slug={company.slug} of={one.entry} name={name} />
            ),
          )}
        </ul>
      )}
      <More
        of={{
          hasNextPage: comments.hasNextPage || entries.hasNextPage,
          isFetching: comments.isFetching || entries.isFetching,
          fetchNextPage: () => {
            if (comments.hasNextPage) void comments.fetchNextPage()
            if (entries.hasNextPage) void entries.fetchNextPage()
          },
        }}
      />
    </>
  )
}

function Say({ company, issue }: PartProps) {
  const stale = useStaleIn(company.id, "issue")
  const draft = useDraft(`${company.id} comment ${issue.id}`)
  const [key, setKey] = useState(once)
  const send = useMutation({
    mutationFn: (data: FormData) =>
      ask(
        api.POST("/v1/companies/{id}/issues/{issue}/comments", {
          params: { path: { id: company.id, issue: issue.id }, header: { "Idempotency-Key": key } },
          body: { body: text(data, "body") },
        }),
      ),
    onSuccess: async () => {
      draft.clear()
      setKey(once())
      await stale()
    },
  })
  return (
    <div onChange={(event) => event.target instanceof HTMLElement && keepOf(event.target, draft.keep)}>
      <Form key={key} submit={words.issue.send} busy={send.isPending} error={send.error} onSubmit={send.mutate}>
        <Field label={words.issue.comment} name="body" help={words.issues.markdown} error={send.error}>
          {(field) => <textarea {...field} className="input" defaultValue={draft.values.body} />}
        </Field>
      </Form>
    </div>
  )
}

const moods: Record<Schemas["Run"]["status"], Mood> = {
  running: "good",
  succeeded: "good",
  failed: "bad",
  expired: "bad",
  cancelled: "quiet",
}

export function Runs({ company, issue, name }: NamedProps) {
  const [open, setOpen] = useState<string>()
  const list = usePages<Schemas["Run"]>([company.id, "runs", issue.id], (cursor) =>
    ask(
      api.GET("/v1/companies/{id}/issues/{issue}/runs", {
        params: { path: { id: company.id, issue: issue.id }, query: { cursor } },
      }),
    ),
  )
  return (
    <>
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 && <p className="muted">{words.issue.noRuns}</p>}
      {list.rows?.map((run) => (
        <section key={run.id} className="panel inset stack" aria-label={words.issue.run(run.attempt)}>
          <div className="row">
            <h2>{words.issue.run(run.attempt)}</h2>
            <Pill mood={moods[run.status]}>{words.issue.states[run.status]}</Pill>
          </div>
          <Facts
            of={[
              [words.issue.agent, name(run.agentId)],
              [words.issue.started, <Time key="started" at={run.startedAt} />],
              run.finishedAt
                ? [words.issue.ended, <Time key="ended" at={run.finishedAt} />]
                : [words.issue.lease, <Time key="lease" at={run.leaseExpiresAt} />],
              [words.issue.tokens, words.issue.tokensOf(run.tokens.input, run.tokens.output)],
              [words.issue.cost, run.costReported ? dollars(run.costUsd, 6) : words.issue.unreported],
              ...(run.unpricedModel
                ? [[words.issue.unpriced, words.issue.unpricedNote(run.unpricedModel)] as [string, React.ReactNode]]
                : []),
              ...(run.error
                ? [[words.issue.error, <Tree key="error" of={run.error} />] as [string, React.ReactNode]]
                : []),
            ]}
          />
          {open === run.id ? (
            <RunDetail company={company} issue={issue} run={run} />
          ) : (
            <div className="row">
              <button type="button" className="button" onClick={() => setOpen(run.id)}>
                {words.issue.checkpoints} ({run.checkpointCount})
              </button>
            </div>
          )}
        </section>
      ))}
      <More of={list} />
    </>
  )
}

function RunDetail({ company, issue, run }: PartProps & { run: Schemas["Run"] }) {
  const [isLogShown, showLog] = useState(false)
  const path = { id: company.id, issue: issue.id, run: run.id }
  const full = useQuery({
    queryKey: [company.id, "runs", issue.id, run.id],
    queryFn: () => ask(api.GET("/v1/companies/{id}/issues/{issue}/runs/{run}", { params: { path } })),
  })
  const log = useQuery({
    queryKey: [company.id, "runs", issue.id, run.id, "log"],
    enabled: isLogShown,
    queryFn: async (): Promise<string | null> => {
      try {
        return (
          (await ask(
            api.GET("/v1/companies/{id}/issues/{issue}/runs/{run}/log", { params: { path }, parseAs: "text" }),
          )) ?? ""
        )
      } catch (error) {
        if (asApiError(error).status === 404) return null
        throw error
      }
    },
  })
  const checkpoints = full.data?.data.checkpoints
  return (
    <>
      <Failure error={full.error} retry={full.refetch} />
      {checkpoints?.length === 0 && <p className="muted">{words.issue.noCheckpoints}</p>}
      <ol className="stack tight" aria-label={words.issue.checkpoints}>
        {checkpoints?.map((one) => (
          <li key={`${one.at} ${one.note}`}>
            <Markdown>{one.note}</Markdown>
            <span className="muted small">
              <Time at={one.at} />
            </span>
            {one.data !== null && <Tree of={one.data} />}
          </li>
        ))}
      </ol>
      <div className="row">
        <button type="button" className="button" onClick={() => showLog(true)}>
          {words.issue.log}
        </button>
      </div>
      <Modal title={words.issue.logTitle(run.attempt)} open={isLogShown} onClose={() => showLog(false)}>
        <Failure error={log.error} retry={log.refetch} />
        {log.data === null ? (
          <p className="muted">{words.issue.noLog}</p>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keyboard
          <pre className={looks.log} tabIndex={0}>
            {log.data}
          </pre>
        )}
      </Modal>
    </>
  )
}

export function Costs({ company, issue }: PartProps) {
  const report = useQuery({
    queryKey: [company.id, "costs", "issue", issue.id],
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/costs/issues/{issue}", {
          params: { path: { id: company.id, issue: issue.id } },
        }),
      ),
  })
  const got = report.data?.data
  if (got?.total.calls === 0 && got.total.usd === 0)
    return <Empty title={words.costs.empty} text={words.costs.emptyText} />
  return (
    <>
      <Failure error={report.error} retry={report.refetch} />
      {got && (
        <Stats
          of={[
            { name: words.costs.spent, value: <Money usd={got.total.usd} /> },
            ...(got.budget
              ? [
                  {
                    name: words.costs.left,
                    value: <Money usd={got.budget.remaining} />,
                    about: words.costs.ofBudget(dollars(got.budget.usd)),
                  },
                ]
              : []),
            { name: words.costs.calls, value: count(got.total.calls) },
            { name: words.costs.tokens, value: <Tokens of={got.total.tokens} /> },
            { name: words.costs.kinds, value: <Kinds of={got.breakdown} /> },
          ]}
        />
      )}
      {!!got?.byModel.length && (
        <CostsOf
          rows={got.byModel.map(({ model, ...rest }) => ({ id: model, ...rest }))}
          head={words.costs.model}
          name={(model) => <Clip>{model}</Clip>}
          total={got.total.usd}
        />
      )}
    </>
  )
}

export function Happened({ company, issue, name }: NamedProps) {
  const entries = useEntries({ company, issue })
  return (
    <>
      <Failure error={entries.error} retry={entries.refetch} />
      {!!entries.rows?.length && (
        <ul className="panel">
          {entries.rows.map((entry) => (
            <EntryLine key={entry.id} slug={company.slug} of={entry} name={name} />
          ))}
        </ul>
      )}
      <More of={entries} />
    </>
  )
}
