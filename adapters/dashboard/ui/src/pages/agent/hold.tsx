import { useMutation } from "@tanstack/react-query"
import { api, ask } from "../../api/client"
import type { Agent, Hold as HoldData } from "../../kit/agents"
import { type Company, useStaleIn } from "../../kit/company"
import { Prose } from "../../kit/page"
import { Failure, Time } from "../../kit/parts"
import { useMay } from "../../kit/queries"
import { words } from "../../words/en"

interface HoldProps {
  company: Company
  agent: Agent
  hold: HoldData
}

// Hold says why the agent gets no work, and until when.
export function Hold({ company, agent, hold }: HoldProps) {
  const mayWrite = useMay("write", company.id)
  const stale = useStaleIn(company.id, "agents", "dashboard", "issues")
  const release = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/v1/companies/{id}/agents/{agent}/release-hold", {
          params: { path: { id: company.id, agent: agent.id } },
        }),
      ),
    onSuccess: stale,
    onError: stale,
  })
  const isWaiting = Date.parse(hold.until) > Date.now()
  const message = hold.error?.message
  return (
    <section className="panel inset stack" aria-label={words.agent.hold}>
      <div className="stack tight">
        <h2>{words.agent.hold}</h2>
        <p>{words.agent.holdReasons[hold.reason](hold.runs)}</p>
        {typeof message === "string" && <Prose>{message}</Prose>}
        <p className="muted">
          {hold.trial && words.agent.holdTrial}{" "}
          {isWaiting && (
            <>
              {hold.trial ? words.agent.holdTrialAt : words.agent.holdEnds} <Time at={hold.until} />
            </>
          )}
        </p>
      </div>
      <Failure error={release.error} />
      {mayWrite && (
        <div className="row">
          <button
            type="button"
            className="button primary"
            disabled={release.isPending}
            onClick={() => release.mutate()}
          >
            {words.agent.releaseHold}
          </button>
        </div>
      )}
    </section>
  )
}
