package company

import (
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// Company is a company of agents. New and stores make it, and only its methods change it: each returns the next company
// and the event to record with it.
type Company struct {
	ID              id.Company
	Slug            string // text.IsSlug; unique per instance; permanent
	Name            string // 1 to NameLength characters
	Description     string // at most DescriptionLength characters
	DefaultAdapter  string
	FiscalPeriod    budget.Period
	Budget          budget.Budget
	TeamCount       int
	AgentCount      int
	LeaseEpoch      int64 // from 1 on; raised to end all leases of the company at once
	WorkPaused      bool  // its agents get no new work
	Status          Status
	CreatedAt       time.Time
	UpdatedAt       time.Time
	ArchivedAt      time.Time   // zero unless archived
	RestorableUntil time.Time   // the last instant at which Restore works; zero unless archived
	DeletedBy       event.Actor // who asked for the deletion; empty unless deleting
	Version         int64       // grows by one with every change, counts included; the ETag of the API
}

// Resolve looks up a company by its id or its slug, and reports whether it exists.
type Resolve func(reference string) (which id.Company, found bool, err error)

// IsListed reports whether lists show the company.
func (c Company) IsListed() bool { return c.Status != Deleting }

// HasWords reports whether words are in the name, the slug or the description.
func (c Company) HasWords(words text.Words) bool { return words.In(c.Name, c.Slug, c.Description) }

// Status is a state of a company.
type Status string

// The states.
const (
	Active   Status = "active"
	Archived Status = "archived"
	Deleting Status = "deleting" // being removed; readable by id, not listed
)

// Statuses are all that there are.
var Statuses = []Status{Active, Archived, Deleting}

// ShortestRetention is the shortest time that can be set for which an archived company can be restored.
const ShortestRetention = 30 * 24 * time.Hour

// Action is a state transition that a client asks for.
type Action string

// The actions.
const (
	Update  Action = "update"
	Archive Action = "archive"
	Restore Action = "restore"
	Delete  Action = "delete"
)

// moves is the state machine: an action that is not in it is refused.
var moves = map[Action]map[Status]Status{
	Update:  {Active: Active},
	Archive: {Active: Archived},
	Restore: {Archived: Active},
	Delete:  {Active: Deleting, Archived: Deleting, Deleting: Deleting},
}

// Allows refuses an action that the state of the company does not allow: with fault.CompanyArchived for changes of an
// archived company, else with fault.InvalidTransition.
func (c Company) Allows(action Action) error {
	if _, ok := moves[action][c.Status]; ok {
		return nil
	}
	if c.Status == Archived && action == Update {
		return fault.New(fault.CompanyArchived, "The company is archived; restore it first.")
	}
	return fault.Transition(string(c.Status), string(action), "A company that is %s cannot take the action %s.", c.Status, action)
}

// Archive hides the company, ends its leases, and starts the retention period, during which it can be restored.
func (c Company) Archive(at time.Time, retention time.Duration) (Company, event.Event, error) {
	if err := c.Allows(Archive); err != nil {
		return c, event.Event{}, err
	}
	c.Status, c.ArchivedAt, c.RestorableUntil = moves[Archive][c.Status], at, at.Add(retention)
	c.LeaseEpoch++
	c.changed(at)
	return c, c.event(event.CompanyArchived), nil
}

// Restore reverses Archive. It fails with fault.RestoreWindowExpired after RestorableUntil.
func (c Company) Restore(at time.Time) (Company, event.Event, error) {
	if err := c.Allows(Restore); err != nil {
		return c, event.Event{}, err
	}
	if at.After(c.RestorableUntil) {
		return c, event.Event{}, fault.New(fault.RestoreWindowExpired,
			"The company could be restored until %s.", instant.Format(c.RestorableUntil)).
			With("restorableUntil", instant.Format(c.RestorableUntil))
	}
	c.Status, c.ArchivedAt, c.RestorableUntil = moves[Restore][c.Status], time.Time{}, time.Time{}
	c.changed(at)
	return c, c.event(event.CompanyRestored), nil
}

// Delete marks the company as being removed, for good, and ends its leases. The event is recorded when the removal is complete: see
// Deleted. A company that is marked already is returned unchanged.
func (c Company) Delete(by event.Actor, at time.Time) (Company, error) {
	if err := c.Allows(Delete); err != nil {
		return c, err
	}
	if c.Status == Deleting {
		return c, nil
	}
	c.Status, c.DeletedBy = moves[Delete][c.Status], by
	c.LeaseEpoch++
	c.ArchivedAt, c.RestorableUntil = time.Time{}, time.Time{}
	c.changed(at)
	return c, nil
}

// Subject is what the events of a company are about.
func Subject(which id.Company) event.Subject {
	return event.Subject{Type: "company", ID: string(which)}
}

// Deleted is the event at the end of a removal. It belongs to the instance, because nothing of the company remains, and
// has only the id and the slug.
func (c Company) Deleted() event.Event {
	return event.Event{
		Type:    event.CompanyDeleted,
		Actor:   c.DeletedBy,
		Subject: Subject(c.ID),
		Data:    event.Fields{event.F("id", string(c.ID)), event.F("slug", c.Slug)},
	}
}

// EndLeases ends all leases of the company.
func (c Company) EndLeases(at time.Time) Company {
	c.LeaseEpoch++
	c.changed(at)
	return c
}

// Counting returns the company with so many more teams and agents, whose events report it. UpdatedAt stays.
func (c Company) Counting(teams, agents int) Company {
	c.TeamCount += teams
	c.AgentCount += agents
	c.Version++
	return c
}

// CurrentVersion returns Version, for generic code.
func (c Company) CurrentVersion() int64 { return c.Version }

// Fields returns the company as the API shows it.
func (c Company) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(c.ID)),
		event.F("slug", c.Slug),
		event.F("name", c.Name),
		event.F("description", c.Description),
		event.F("defaultAdapter", c.DefaultAdapter),
		event.F("fiscalPeriod", string(c.FiscalPeriod)),
		event.F("budget", c.Budget.Fields()),
		event.F("teamCount", c.TeamCount),
		event.F("agentCount", c.AgentCount),
		event.F("workPaused", c.WorkPaused),
		event.F("status", string(c.Status)),
		event.F("createdAt", instant.Format(c.CreatedAt)),
		event.F("updatedAt", instant.Format(c.UpdatedAt)),
		event.F("archivedAt", instant.Optional(c.ArchivedAt)),
		event.F("restorableUntil", instant.Optional(c.RestorableUntil)),
	}
}

func (c *Company) changed(at time.Time) {
	c.UpdatedAt = at
	c.Version++
}

func (c Company) event(what event.Type) event.Event {
	return event.Of(what, c.ID, string(c.ID), c.Fields())
}
