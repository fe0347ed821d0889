// Package dashboard has what the dashboard of a company shows at a glance.
package dashboard

import (
	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/team"
)

// MostShown bounds how many teams, and how many agents, are shown.
const MostShown = 200

// Org is who works for a company: its teams with their agents.
type Org struct {
	teams       []team.Team
	members     map[id.Team][]agent.Agent
	isTruncated bool
}

// OrgOf makes an Org of the oldest teams and agents of a company, MostShown of each at most.
func OrgOf(of company.Company, teams []team.Team, agents []agent.Agent) Org {
	o := Org{
		teams: teams, members: map[id.Team][]agent.Agent{},
		isTruncated: of.TeamCount > MostShown || of.AgentCount > MostShown,
	}
	for _, a := range agents {
		o.members[a.Team] = append(o.members[a.Team], a)
	}
	return o
}

// Fields returns the Org as the API shows it.
func (o Org) Fields() event.Fields {
	shown := make([]event.Fields, len(o.teams))
	for n, t := range o.teams {
		agents := []event.Fields{}
		for _, a := range o.members[t.ID] {
			agents = append(agents, event.Fields{
				event.F("id", string(a.ID)), event.F("name", a.Name), event.F("role", a.Role), event.F("status", string(a.Status)),
			})
		}
		shown[n] = event.Fields{
			event.F("id", string(t.ID)),
			event.F("name", t.Name),
			event.F("slug", t.Slug),
			event.F("managerAgentId", orNull(string(t.Manager))),
			event.F("headcount", t.Headcount),
			event.F("emptySlots", t.Headcount-t.AgentCount),
			event.F("agents", agents),
		}
	}
	return event.Fields{event.F("teams", shown), event.F("truncated", o.isTruncated)}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
