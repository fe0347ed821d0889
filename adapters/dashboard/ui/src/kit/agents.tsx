import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../api/client"
import { words } from "../words/en"
import { useStaleIn } from "./company"
import { Confirm, type Mood, Once, Pill } from "./parts"
import { useMay } from "./queries"

export type Agent = Schemas["Agent"]
export type AgentMove = "pause" | "resume" | "rotate" | "retire"

const moods: Record<Agent["status"], Mood> = { active: "good", paused: "warning", retired: "quiet" }

export const AgentState = ({ of }: { of: Agent["status"] }) => <Pill mood={moods[of]}>{words.agents.states[of]}</Pill>

export type Hold = NonNullable<Agent["hold"]>

// holdOf is the hold of the agent. That of a rate limit that is over has ended, though the agent has not claimed since.
export const holdOf = ({ hold }: Agent): Hold | undefined =>
  hold && (hold.trial || Date.parse(hold.until) > Date.now()) ? hold : undefined

export const HoldState = ({ of }: { of: Agent }) => holdOf(of) && <Pill mood="bad">{words.agents.held}</Pill>

// useAgent reads an agent; one that is not to be read is known if a page has read it.
export const useAgent = (id: string, agent: string, isRead = true) =>
  useQuery({
    queryKey: [id, "agents", agent],
    enabled: isRead,
    queryFn: async () => {
      const { body, etag } = await seen(
        api.GET("/v1/companies/{id}/agents/{agent}", { params: { path: { id, agent } } }),
      )
      return { agent: body.data, etag }
    },
  })

const possible: Record<Agent["status"], AgentMove[]> = {
  active: ["pause", "rotate", "retire"],
  paused: ["resume", "rotate", "retire"],
  retired: [],
}

interface Asked {
  what: AgentMove
  to: Agent
  key: string
  etag?: string
}

// useAgentMoves are what can be done with agents, and the dialogs that ask before, and show a new token after.
export function useAgentMoves(cid: string) {
  const mayWrite = useMay("write", cid)
  const [asked, setAsked] = useState<Asked>()
  const [token, setToken] = useState<string>()
  const moves = (to: Agent, etag?: string) =>
    (mayWrite ? possible[to.status] : []).map((what) => ({
      what,
      name: words.agents[what],
      danger: what === "retire",
      run: () => setAsked({ what, to, key: once(), etag }),
    }))
  const dialogs = (
    <>
      {asked && <Ask cid={cid} {...asked} onClose={() => setAsked(undefined)} onToken={setToken} />}
      <Once title={words.agents.tokenTitle} value={token} onClose={() => setToken(undefined)} />
    </>
  )
  return { moves, dialogs, showToken: setToken }
}

interface AskProps extends Asked {
  cid: string
  onClose: () => void
  onToken: (token: string | undefined) => void
}

function Ask({ cid, what, to, key, etag, onClose, onToken }: AskProps) {
  const stale = useStaleIn(cid, "agents", "teams", "dashboard", "issues")
  const run = useMutation({
    mutationFn: () => {
      const params = {
        path: { id: cid, agent: to.id },
        header: { "Idempotency-Key": key, ...(etag && { "If-Match": etag }) },
      }
      switch (what) {
        case "pause":
          return ask(api.POST("/v1/companies/{id}/agents/{agent}/pause", { params }))
        case "resume":
          return ask(api.POST("/v1/companies/{id}/agents/{agent}/resume", { params }))
        case "rotate":
          return ask(api.POST("/v1/companies/{id}/agents/{agent}/rotate-token", { params }))
        case "retire":
          return ask(api.POST("/v1/companies/{id}/agents/{agent}/retire", { params }))
      }
    },
    onSuccess: async ({ data }) => {
      onClose()
      onToken(data.token)
      await stale()
    },
    onError: stale,
  })
  const sentences = {
    pause: { title: words.agents.pauseTitle(to.name), text: words.agents.pauseText },
    resume: { title: words.agents.resumeTitle(to.name), text: words.agents.resumeText },
    rotate: { title: words.agents.rotateTitle(to.name), text: words.agents.rotateText },
    retire: { title: words.agents.retireTitle(to.name), text: words.agents.retireText },
  }[what]
  return (
    <Confirm
      {...sentences}
      submit={words.agents[what]}
      busy={run.isPending}
      error={run.error}
      onSubmit={run.mutate}
      onClose={onClose}
    />
  )
}
