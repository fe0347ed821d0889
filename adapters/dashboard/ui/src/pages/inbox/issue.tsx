import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once } from "../../api/client"
import { Checkpoint } from "../../kit/checkpoint"
import looks from "../../kit/decide.module.css"
import { useIssue } from "../../kit/issues"
import { MoveIssues } from "../../kit/moves"
import { Facts, IssueLink, IssueState, Prose } from "../../kit/page"
import { Failure, Time } from "../../kit/parts"
import { useMay } from "../../kit/queries"
import { Said } from "../../kit/said"
import type { Issue } from "../../kit/states"
import { Json } from "../../kit/tree"
import { words } from "../../words/en"
import type { DetailProps } from "./page"

type What = "accept" | "reject" | "answer" | "assign" | "cancel"

// offered are the decisions about each kind of item.
const offered: Record<string, What[]> = {
  review: ["accept", "reject", "cancel"],
  handoff: ["answer", "assign", "cancel"],
  blocked: ["cancel"],
  waiting: ["assign", "cancel"],
}

const keys: Partial<Record<What, string>> = { accept: "a", reject: "d", answer: "r" }

export function IssueDetail({ item, onDone }: DetailProps) {
  const id = item.company.id
  const issue = item.issue.id
  const path = { id, issue }
  const mayWrite = useMay("write", id)
  const [doing, setDoing] = useState<What>()
  const query = useIssue(id, issue)
  const comments = useQuery({
    queryKey: [id, "issue", issue, "comments", "last"],
    queryFn: () =>
      ask(api.GET("/v1/companies/{id}/issues/{issue}/comments", { params: { path, query: { limit: 5 } } })),
  })
  const i = query.data?.issue
  if (!i)
    return query.error ? (
      <Failure error={query.error} retry={query.refetch} />
    ) : (
      <p className="muted">{words.loading}</p>
    )
  const finish = (what: string) => {
    setDoing(undefined)
    onDone(what)
  }
  return (
    <>
      <h2>{i.title}</h2>
      <p className="muted">{words.inbox.about[item.kind]}</p>
      <Facts
        of={[
          [words.inbox.issue, <IssueLink key="issue" slug={item.company.slug} of={i} />],
          [words.agents.state, <IssueState key="state" of={i.status} />],
          [words.inbox.agent, item.agent?.name ?? words.inbox.nobody],
          [words.inbox.deadline, <Time key="due" at={i.dueAt} />],
        ]}
      />
      {i.description && (
        <>
          <h3>{words.inbox.description}</h3>
          <Prose>{i.description}</Prose>
        </>
      )}
      {i.result !== null && i.result !== undefined && (
        <>
          <h3>{words.inbox.result}</h3>
          <Json of={i.result} />
        </>
      )}
      {i.error && (
        <>
          <h3>{words.inbox.error}</h3>
          <Json of={i.error} />
        </>
      )}
      {item.kind !== "blocked" && <Checkpoint cid={id} issue={issue} />}
      {item.kind === "blocked" && <Blockers item={item} issue={i} onDone={finish} />}
      <Failure error={comments.error} retry={comments.refetch} />
      {!!comments.data?.data.length && (
        <>
          <h3>{words.inbox.comments}</h3>
          <Said company={item.company} of={comments.data.data.toReversed()} />
        </>
      )}
      {mayWrite && (
        <div className={looks.decide}>
          {offered[item.kind]?.map((what, n) => (
            <button
              key={what}
              type="button"
              data-key={keys[what]}
              className={
                n === 0 && what !== "cancel" ? "button primary" : what === "cancel" ? "button danger" : "button"
              }
              onClick={() => setDoing(what)}
            >
              {words.inbox[what]}
            </button>
          ))}
        </div>
      )}
      {doing && (
        <MoveIssues
          cid={id}
          move={doing}
          issues={[i]}
          before={item.agent?.id ?? i.assignedAgentId ?? undefined}
          version={{ of: i, etag: query.data?.etag ?? "" }}
          again={async () => {
            const { data } = await query.refetch()
            return data && { of: data.issue, etag: data.etag }
          }}
          onClose={() => setDoing(undefined)}
          onDone={() => finish(words.inbox[doing])}
        />
      )}
    </>
  )
}

// Blockers are what blocks an issue and will never be done, unless it is retried.
function Blockers({ item, issue, onDone }: DetailProps & { issue: Issue }) {
  const id = item.company.id
  const mayWrite = useMay("write", id)
  const [key] = useState(once)
  const query = useQuery({
    queryKey: [id, "issue", issue.id, "blockers"],
    queryFn: async () => {
      const found = await Promise.all(
        issue.blockedBy.map((which) =>
          ask(api.GET("/v1/companies/{id}/issues/{issue}", { params: { path: { id, issue: which } } })),
        ),
      )
      return found.map((one) => one.data).filter((one) => one.status === "failed" || one.status === "cancelled")
    },
  })
  const retry = useMutation({
    mutationFn: (which: string) =>
      ask(
        api.POST("/v1/companies/{id}/issues/{issue}/retry", {
          params: { path: { id, issue: which }, header: { "Idempotency-Key": `${key}-${which}` } },
        }),
      ),
    onSuccess: () => onDone(words.inbox.retry),
  })
  return (
    <>
      <h3>{words.inbox.failedBlockers}</h3>
      <Failure error={query.error ?? retry.error} retry={query.error ? query.refetch : undefined} />
      {query.data?.map((one) => (
        <div key={one.id} className="row">
          <IssueState of={one.status} />
          <IssueLink slug={item.company.slug} of={one} narrow />
          {mayWrite && (
            <button type="button" className="button" disabled={retry.isPending} onClick={() => retry.mutate(one.id)}>
              {words.inbox.retryBlocker(`#${one.number}`)}
            </button>
          )}
        </div>
      ))}
    </>
  )
}
