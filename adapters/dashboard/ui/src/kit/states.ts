import type { Schemas } from "../api/client"

export type Issue = Schemas["Issue"]
export type Status = Issue["status"]
export const statuses: Status[] = ["queued", "assigned", "running", "review", "handoff", "done", "failed", "cancelled"]
export const priorities: Issue["priority"][] = ["urgent", "high", "normal", "low"]

export type Move = Schemas["IssueBulk"]["action"]

const open: Status[] = ["queued", "assigned", "running", "review", "handoff"]

// from are the states that a move leads somewhere from, in the order in which moves are offered.
const from: Record<Move, Status[]> = {
  accept: ["review"],
  reject: ["review"],
  assign: ["queued", "assigned", "handoff"],
  unassign: ["queued", "assigned"],
  handoff: ["assigned", "running", "review"],
  retry: ["failed", "cancelled"],
  cancel: open,
}

// ofContainers are the moves of an issue with a workflow, whose state follows its steps.
const ofContainers: Move[] = ["accept", "reject", "retry", "cancel"]

// movesOf are the moves that the state of an issue allows.
export const movesOf = (
  of: Pick<Issue, "status" | "workflowId" | "waitingFor" | "assignedTeamId" | "assignedAgentId">,
): Move[] =>
  (Object.keys(from) as Move[]).filter(
    (move) =>
      from[move].includes(of.status) &&
      (!of.workflowId || (ofContainers.includes(move) && (move !== "retry" || of.status === "cancelled"))) &&
      !(of.waitingFor && (move === "accept" || move === "reject")) &&
      (move !== "unassign" || of.status === "assigned" || !!of.assignedTeamId),
  )

const leads: [move: Move, to: Status][] = [
  ["accept", "done"],
  ["reject", "assigned"],
  ["assign", "assigned"],
  ["unassign", "queued"],
  ["handoff", "handoff"],
  ["retry", "queued"],
  ["cancel", "cancelled"],
]

// moveTo is the move that brings an issue to a state; undefined if none does.
export const moveTo = (of: Parameters<typeof movesOf>[0], to: Status): Move | undefined =>
  of.status === to ? undefined : leads.find(([move, end]) => end === to && movesOf(of).includes(move))?.[0]
