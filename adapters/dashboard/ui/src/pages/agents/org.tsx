import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { once, type Schemas } from "../../api/client"
import { type Agent, AgentState, type useAgentMoves } from "../../kit/agents"
import { type Company, useAgents, useTeams } from "../../kit/company"
import { Clip } from "../../kit/page"
import { Actions, Failure } from "../../kit/parts"
import { words } from "../../words/en"
import looks from "./org.module.css"
import { EditTeam, RemoveTeam } from "./teams"

type Team = Schemas["Team"]

interface OrgProps {
  company: Company
  hire: ((team?: string) => void) | undefined
  moves: ReturnType<typeof useAgentMoves>["moves"]
}

// Org reads the lists, not the answer for overviews: that is kept for a second, and would not show who was hired just now.
export function Org({ company, hire, moves }: OrgProps) {
  const teams = useTeams(company.id)
  const agents = useAgents(company.id)
  const [doing, setDoing] = useState<{ what: "edit" | "remove"; to: Team; key: string }>()
  const working = agents.data?.rows.filter((a) => a.status !== "retired") ?? []
  if (!teams.data || !agents.data) {
    return agents.error ? (
      <Failure error={agents.error} retry={agents.refetch} />
    ) : (
      <p className="muted">{words.loading}</p>
    )
  }
  const actions = (to: Team) =>
    hire
      ? [
          { name: words.agents.editTeam, run: () => setDoing({ what: "edit", to, key: once() }) },
          { name: words.agents.removeTeam, danger: true, run: () => setDoing({ what: "remove", to, key: once() }) },
        ]
      : []
  return (
    <>
      {agents.data.more && <p className="muted">{words.agents.more}</p>}
      <ul className={looks.tree} aria-label={words.agents.org}>
        {teams.data.rows.map((team) => (
          <li key={team.id} className="panel">
            <div className={looks.team}>
              <div>
                <h2>
                  <Clip>{team.name}</Clip>
                </h2>
                <p className="muted small">{words.agents.filled(team.agentCount, team.headcount)}</p>
              </div>
              <Actions of={team.name} actions={actions(team)} />
            </div>
            <Members
              team={team}
              agents={working.filter((a) => a.teamId === team.id)}
              hire={hire && (() => hire(team.id))}
              moves={moves}
            />
          </li>
        ))}
      </ul>
      {doing?.what === "edit" && (
        <EditTeam company={company} team={doing.to} agents={working} onClose={() => setDoing(undefined)} />
      )}
      {doing?.what === "remove" && <RemoveTeam company={company} team={doing.to} onClose={() => setDoing(undefined)} />}
    </>
  )
}

interface MembersProps {
  team: Team
  agents: Agent[]
  hire: (() => void) | undefined
  moves: OrgProps["moves"]
}

function Members({ team, agents, hire, moves }: MembersProps) {
  const { slug } = useParams({ from: "/shell/c/$slug/agents" })
  const empty = Math.max(0, team.headcount - team.agentCount)
  // The manager is first; one of another team is not among the members.
  const sorted = [...agents].sort((a, b) => Number(b.id === team.managerAgentId) - Number(a.id === team.managerAgentId))
  return (
    <ul className={looks.members}>
      {sorted.map((agent) => (
        <li key={agent.id}>
          <span className={looks.who}>
            <Link to="/c/$slug/agents/$agent" params={{ slug, agent: agent.id }}>
              <Clip>{agent.name}</Clip>
            </Link>
            <span className="muted small">
              <Clip>{agent.role}</Clip>
            </span>
          </span>
          {agent.id === team.managerAgentId && <span className={looks.tag}>{words.agents.manager}</span>}
          <AgentState of={agent.status} />
          <Actions of={agent.name} actions={moves(agent)} />
        </li>
      ))}
      {empty > 0 && (
        <li className={looks.empty}>
          <span className={looks.who}>{words.agents.places(empty)}</span>
          {hire && (
            <button type="button" className="button" onClick={hire} aria-label={words.agents.hireHere(team.name)}>
              {words.agents.hire}
            </button>
          )}
        </li>
      )}
    </ul>
  )
}
