package team

import (
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Bounds of a team.
const (
	NameLength        = 200
	DescriptionLength = 4000
	MostHeadcount     = 1000
	MostNamed         = 10 // workflows that are named when a team cannot be deleted because of them
)

// Team is a group of agents within one company. Names are unique within the company, ignoring case. Roster, New and stores
// make a Team, and only its methods change it.
type Team struct {
	ID          id.Team
	Company     id.Company
	Name        string   // 1 to NameLength characters
	Slug        string   // derived from the first name, unique within the company, permanent
	Description string   // at most DescriptionLength characters
	Headcount   int      // how many slots it has: 0 to MostHeadcount
	AgentCount  int      // how many of them are filled
	Manager     id.Agent // of the same company, employed when it was set; empty: nobody
	Budget      budget.Limit
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Version     int64 // grows by one with every change, counts included; the ETag of the API
}

// Owner returns the company, for generic code.
func (t Team) Owner() id.Company { return t.Company }

// CurrentVersion returns Version, for generic code.
func (t Team) CurrentVersion() int64 { return t.Version }

// Slot is a place for one agent in a team. It is empty until a hire fills it.
type Slot struct {
	ID        id.Slot
	Company   id.Company
	Team      id.Team
	Agent     id.Agent // who fills it; empty: none
	CreatedAt time.Time
}

// Fields returns the team as the API shows it.
func (t Team) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(t.ID)),
		event.F("companyId", string(t.Company)),
		event.F("name", t.Name),
		event.F("slug", t.Slug),
		event.F("description", t.Description),
		event.F("headcount", t.Headcount),
		event.F("agentCount", t.AgentCount),
		event.Optional("managerAgentId", t.Manager),
		event.F("budget", t.budgetFields()),
		event.F("createdAt", instant.Format(t.CreatedAt)),
		event.F("updatedAt", instant.Format(t.UpdatedAt)),
	}
}

func (t Team) budgetFields() any {
	if !t.Budget.IsSet {
		return nil
	}
	return event.Fields{t.Budget.Field("usd")}
}

func (t *Team) changed(at time.Time) {
	t.UpdatedAt = at
	t.Version++
}

func (t Team) event(what event.Type) event.Event {
	return event.Of(what, t.Company, string(t.ID), t.Fields())
}

// Fields returns the slot as the API shows it. The agent of an empty slot is null.
func (s Slot) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(s.ID)),
		event.F("companyId", string(s.Company)),
		event.F("teamId", string(s.Team)),
		event.F("status", string(s.Status())),
		event.Optional("agentId", s.Agent),
	}
}

// SlotStatus is whether a slot is filled.
type SlotStatus string

// The statuses of a slot.
const (
	Empty  SlotStatus = "empty"
	Filled SlotStatus = "filled"
)

// Status is Filled when the slot has an agent, else Empty.
func (s Slot) Status() SlotStatus {
	if s.Agent == "" {
		return Empty
	}
	return Filled
}

// Hire counts one more agent; UpdatedAt stays. It fails with fault.HeadcountLimit if no slot is empty.
func (t Team) Hire() (Team, error) {
	if t.AgentCount >= t.Headcount {
		return t, fault.New(fault.HeadcountLimit, "The team has no empty slot; raise its headcount or retire an agent.").
			With("agentCount", t.AgentCount)
	}
	t.AgentCount++
	t.Version++
	return t, nil
}

// Retire counts one agent less; UpdatedAt stays.
func (t Team) Retire() Team {
	t.AgentCount--
	t.Version++
	return t
}

// Delete refuses to remove a team that has agents, open issues, or steps of workflows: fault.TeamNotEmpty. Workflows are the slugs of
// those, MostNamed at most.
func (t Team) Delete(openIssues int64, workflows []string) (event.Event, error) {
	if t.AgentCount > 0 {
		return event.Event{}, fault.New(fault.TeamNotEmpty, "The team has agents; retire them first.").
			With("agentCount", t.AgentCount)
	}
	if openIssues > 0 {
		return event.Event{}, fault.New(fault.TeamNotEmpty, "The team has open issues; finish, cancel or reassign them first.").
			With("openIssues", openIssues)
	}
	if len(workflows) > 0 { // without the team, anybody could take what its steps are
		return event.Event{}, fault.New(fault.TeamNotEmpty, "Workflows have steps for the team; give these to another, and finish or "+
			"cancel the issues that follow earlier versions, first.").With("workflows", workflows)
	}
	return t.event(event.TeamDeleted), nil
}
