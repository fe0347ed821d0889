package company

import (
	"fmt"
	"slices"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/team"
	"holdco/domain/text"
)

// Bounds of what clients send.
const (
	NameLength        = 200
	DescriptionLength = 4000
	MostStartingTeams = 50
)

// Draft is what was sent to create a company; nil fields were absent. Problems are errors of its form (unknown fields,
// wrong types); New lists them with its own.
type Draft struct {
	Slug          *string
	Name          *string
	StartingTeams []team.Draft // nil: absent
	Settings
	Problems fault.Problems
}

// Patch is what was sent to change a company; nil fields stay as they are. Problems are as in Draft.
type Patch struct {
	Name       *string
	WorkPaused *bool
	Settings
	Problems fault.Problems
}

// Settings are the fields that both a Draft and a Patch may carry and that have a default.
type Settings struct {
	Description    *string
	DefaultAdapter *string
	FiscalPeriod   *string
	Budget         *budget.Change
}

// Founding is a new company with the teams and the empty slots that it starts with.
type Founding struct {
	Company Company
	Teams   []team.Team // nil unless startingTeams was sent
	Slots   []team.Slot
}

// New makes a company. adapters are those installed on the instance; the first is the default. It fails with
// fault.ValidationFailed, which lists every invalid field, fault.BudgetInvalid or fault.AdapterNotInstalled.
func New(newID id.Company, draft Draft, adapters []string, ids id.Source, at time.Time) (Founding, event.Event, error) {
	c := Company{
		ID:             newID,
		DefaultAdapter: adapters[0],
		FiscalPeriod:   budget.Monthly,
		Status:         Active,
		CreatedAt:      at,
		UpdatedAt:      at,
		LeaseEpoch:     1,
		Version:        1,
	}
	check := checked{invalid: slices.Clone(draft.Problems)}

	check.invalid.Require("slug", draft.Slug != nil)
	text.SetSlug(&c.Slug, "slug", draft.Slug, &check.invalid)
	check.invalid.Require("name", draft.Name != nil)
	text.SetName(&c.Name, "name", draft.Name, NameLength, &check.invalid)
	if draft.FiscalPeriod != nil {
		c.FiscalPeriod = check.period("fiscalPeriod", *draft.FiscalPeriod)
	}
	c.Budget.Period = c.FiscalPeriod
	c = check.settings(c, draft.Settings)
	founding := Founding{Company: c}
	check.startingTeams(&founding, draft.StartingTeams, ids, at)

	if err := check.verdict(draft.DefaultAdapter, adapters); err != nil {
		return Founding{}, event.Event{}, err
	}
	return founding, founding.Company.event(event.CompanyCreated), nil
}

// readOnly are the fields of the resource that no patch can change.
var readOnly = []string{
	"id", "slug", "createdAt", "updatedAt", "teamCount", "agentCount", "status", "startingTeams", "archivedAt", "restorableUntil",
}

// Apply merges a patch. It returns the next company and the event to record, or no event when nothing changed. It fails
// with the faults of Allows, fault.ImmutableField, and those of New.
func (c Company) Apply(patch Patch, adapters []string, at time.Time) (Company, *event.Event, error) {
	refusal := c.Allows(Update)
	if fault.CodeOf(refusal) == fault.CompanyArchived {
		return c, nil, refusal
	}
	if immutable := patch.Problems.Immutable(readOnly); immutable != nil {
		return c, nil, fault.Immutables(immutable)
	}
	check := checked{invalid: slices.Clone(patch.Problems)}
	next := c
	text.SetName(&next.Name, "name", patch.Name, NameLength, &check.invalid)
	if patch.WorkPaused != nil {
		next.WorkPaused = *patch.WorkPaused
	}
	if patch.FiscalPeriod != nil {
		next.FiscalPeriod = check.period("fiscalPeriod", *patch.FiscalPeriod)
	}
	next = check.settings(next, patch.Settings)
	if err := check.verdict(patch.DefaultAdapter, adapters); err != nil {
		return c, nil, err
	}
	if refusal != nil { // it is being removed; errors of the patch are reported first
		return c, nil, refusal
	}
	next, updated := event.Update(c, next, func(next *Company) event.Event {
		next.changed(at)
		return next.event(event.CompanyUpdated)
	})
	return next, updated, nil
}

// checked collects everything that is wrong, to report all of it at once.
type checked struct {
	invalid     fault.Problems
	outOfBounds []fault.Field // budget figures below or beyond their bounds: a code of their own
}

func (c *checked) period(path, sent string) budget.Period {
	period, wrong := budget.ParsePeriod(path, sent)
	c.invalid.Add(wrong...)
	return period
}

func (c *checked) settings(next Company, sent Settings) Company {
	text.SetProse(&next.Description, "description", sent.Description, DescriptionLength, &c.invalid)
	if sent.DefaultAdapter != nil {
		next.DefaultAdapter = *sent.DefaultAdapter
	}
	if sent.Budget != nil {
		var invalid, outOfBounds []fault.Field
		next.Budget, invalid, outOfBounds = next.Budget.Apply(*sent.Budget)
		c.invalid.Add(invalid...)
		c.outOfBounds = append(c.outOfBounds, outOfBounds...)
	}
	return next
}

func (c *checked) startingTeams(founding *Founding, drafts []team.Draft, ids id.Source, at time.Time) {
	if len(drafts) > MostStartingTeams {
		c.invalid.Add(fault.Fieldf("startingTeams", fault.TooMany,
			"startingTeams has %d items; at most %d are allowed", len(drafts), MostStartingTeams))
		return
	}
	if drafts != nil {
		founding.Teams, founding.Slots = []team.Team{}, []team.Slot{}
	}
	roster := team.NewRoster(founding.Company.ID)
	for i, draft := range drafts {
		next, slots, wrong := roster.Add(fmt.Sprintf("startingTeams.%d", i), draft, ids, at)
		c.invalid.Add(wrong...)
		founding.Teams = append(founding.Teams, next)
		founding.Slots = append(founding.Slots, slots...)
	}
	founding.Company.TeamCount = len(founding.Teams)
}

// verdict returns what was collected as one fault, or nil. adapter is what was sent; nil: absent.
func (c *checked) verdict(adapter *string, adapters []string) error {
	switch {
	case len(c.invalid) > 0:
		return fault.Validation(append(c.invalid, c.outOfBounds...))
	case len(c.outOfBounds) > 0:
		return fault.Budget(c.outOfBounds)
	case adapter != nil && !slices.Contains(adapters, *adapter):
		return fault.NotInstalled(*adapter, adapters)
	}
	return nil
}
