package team

import (
	"fmt"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// Bounds of a team.
const (
	NameLength    = 200
	MostHeadcount = 1000
)

// Team is a group of agents within one company. Names are unique within the company, ignoring case.
type Team struct {
	ID         id.Team
	Company    id.Company
	Name       string // 1 to NameLength characters
	Slug       string // derived from the name, unique within the company
	Headcount  int    // how many slots it has: 0 to MostHeadcount
	AgentCount int    // how many of them are filled
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

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
		event.F("headcount", t.Headcount),
		event.F("agentCount", t.AgentCount),
		event.F("createdAt", instant.Format(t.CreatedAt)),
		event.F("updatedAt", instant.Format(t.UpdatedAt)),
	}
}

// Fields returns the slot as the API shows it. The agent of an empty slot is null.
func (s Slot) Fields() event.Fields {
	var agent *string
	if s.Agent != "" {
		agent = new(string(s.Agent))
	}
	return event.Fields{
		event.F("id", string(s.ID)),
		event.F("companyId", string(s.Company)),
		event.F("teamId", string(s.Team)),
		event.F("status", string(s.Status())),
		event.F("agentId", agent),
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

// Draft is what was sent to make a team; nil fields were absent.
type Draft struct {
	Name      *string
	Headcount *int64
}

// Roster makes the teams of one company, with unique names and slugs.
type Roster struct {
	company id.Company
	names   map[string]bool // folded
	slugs   map[string]bool
}

// NewRoster returns the roster of a company without teams.
func NewRoster(company id.Company) *Roster {
	return &Roster{company: company, names: map[string]bool{}, slugs: map[string]bool{}}
}

// Add makes a team from a draft, with a headcount of empty slots. Paths of faults start with path.
func (r *Roster) Add(path string, draft Draft, ids id.Source, at time.Time) (Team, []Slot, []fault.Field) {
	team := Team{ID: id.New[id.Team](ids.UUIDv7()), Company: r.company, CreatedAt: at, UpdatedAt: at}
	var faults []fault.Field

	if draft.Name == nil {
		faults = append(faults, fault.Fieldf(path+".name", fault.Required, "%s.name is required", path))
	} else {
		name, wrong := text.Name(path+".name", *draft.Name, NameLength)
		if key := text.Fold(name); wrong == nil && r.names[key] {
			wrong = []fault.Field{fault.Fieldf(path+".name", fault.Duplicate, "%s.name is the name of another team", path)}
		} else {
			r.names[key] = true
		}
		team.Name = name
		faults = append(faults, wrong...)
	}

	switch {
	case draft.Headcount == nil:
		faults = append(faults, fault.Fieldf(path+".headcount", fault.Required, "%s.headcount is required", path))
	case *draft.Headcount < 0 || *draft.Headcount > MostHeadcount:
		faults = append(faults, fault.Fieldf(path+".headcount", fault.OutOfRange,
			"%s.headcount must be from 0 to %d", path, MostHeadcount))
	default:
		team.Headcount = int(*draft.Headcount)
	}
	if faults != nil {
		return Team{}, nil, faults
	}

	team.Slug = r.freeSlug(team.Name)
	slots := make([]Slot, team.Headcount)
	for i := range slots {
		slots[i] = Slot{ID: id.New[id.Slot](ids.UUIDv7()), Company: r.company, Team: team.ID, CreatedAt: at}
	}
	return team, slots, nil
}

// freeSlug derives a slug from name that no other team has, with a suffix -2, -3, ... when needed.
func (r *Roster) freeSlug(name string) string {
	first := text.Slug(name, "team")
	slug := first
	for n := 2; r.slugs[slug]; n++ {
		suffix := fmt.Sprintf("-%d", n)
		slug = strings.TrimRight(first[:min(len(first), text.SlugLength-len(suffix))], "-") + suffix
	}
	r.slugs[slug] = true
	return slug
}
