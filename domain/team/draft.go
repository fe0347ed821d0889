package team

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/text"
)

// Draft is what was sent to make a team; nil fields were absent. Problems are errors of its form.
type Draft struct {
	Name      *string
	Headcount *int64
	Settings
	Problems fault.Problems
}

// Patch is what was sent to change a team; nil fields stay as they are. Problems are as in Draft.
type Patch struct {
	Name      *string
	Headcount *int64
	Settings
	Problems fault.Problems
}

// Settings are the fields that both a Draft and a Patch may carry, and that a team may be without. A pointer to nil is null:
// the team is to have none.
type Settings struct {
	Description *string
	Manager     **string // the id of an agent
	Budget      **budget.LimitDraft
}

// Others is what a team has to know of its company.
type Others interface {
	// SlugsFrom returns the slugs of teams that begin with a stem.
	SlugsFrom(stem string) ([]string, error)

	// HasName reports whether a team has a name, whatever its case.
	HasName(name string) (bool, error)

	// Employs reports whether an agent of the company exists and has not retired.
	Employs(agent id.Agent) (bool, error)
}

// Change is a changed team, with what else changes.
type Change struct {
	Team    Team
	Added   []Slot // empty ones, when the headcount grows
	Dropped int    // how many of the youngest empty slots are removed, when it shrinks
}

// New makes a team of a company, with a headcount of empty slots. It fails with fault.ValidationFailed, which lists every
// invalid field, or with an error of others.
func New(company id.Company, draft Draft, others Others, ids id.Source, at time.Time) (Change, event.Event, error) {
	problems := slices.Clone(draft.Problems)
	made, slots := assemble("", company, draft, nil, ids, at, &problems)
	err := checkOthers(made.Name, others, &problems)
	if err != nil {
		return Change{}, event.Event{}, err
	}
	if made, err = made.with(draft.Settings, others, &problems); err != nil {
		return Change{}, event.Event{}, err
	}
	if len(problems) > 0 {
		return Change{}, event.Event{}, fault.Validation(problems)
	}
	inUse, err := others.SlugsFrom(slugStem(made.Name))
	if err != nil {
		return Change{}, event.Event{}, err
	}
	made.Slug = freeSlug(made.Name, func(slug string) bool { return slices.Contains(inUse, slug) })
	return Change{Team: made, Added: slots}, made.event(event.TeamCreated), nil
}

// assemble makes a team without a slug from the fields that every team has. Its name must be none of names, which are folded.
// Paths of problems start with path.
func assemble(
	path string, company id.Company, draft Draft, names map[string]bool, ids id.Source, at time.Time, problems *fault.Problems,
) (Team, []Slot) {
	t := Team{ID: id.New[id.Team](ids.UUIDv7()), Company: company, CreatedAt: at, UpdatedAt: at, Version: 1}
	problems.Require(path+"name", draft.Name != nil)
	text.SetName(&t.Name, path+"name", draft.Name, NameLength, problems)
	if draft.Name != nil && names[text.Fold(t.Name)] {
		problems.Add(duplicate(path + "name"))
	}
	problems.Require(path+"headcount", draft.Headcount != nil)
	if draft.Headcount != nil {
		t.Headcount = checkHeadcount(path+"headcount", *draft.Headcount, problems)
	}
	return t, t.slots(t.Headcount, ids, at)
}

func checkHeadcount(path string, sent int64, problems *fault.Problems) int {
	if sent < 0 || sent > MostHeadcount {
		problems.Add(fault.Fieldf(path, fault.OutOfRange, "%s must be from 0 to %d", path, MostHeadcount))
		return 0
	}
	return int(sent)
}

func duplicate(path string) fault.Field {
	return fault.Fieldf(path, fault.Duplicate, "%s is the name of another team", path)
}

// checkOthers checks that no other team has a name, which is empty when it is at fault.
func checkOthers(name string, others Others, problems *fault.Problems) error {
	if name == "" {
		return nil
	}
	inUse, err := others.HasName(name)
	if inUse {
		problems.Add(duplicate("name"))
	}
	return err
}

// slots makes empty slots.
func (t Team) slots(count int, ids id.Source, at time.Time) []Slot {
	slots := make([]Slot, count)
	for i := range slots {
		slots[i] = Slot{ID: id.New[id.Slot](ids.UUIDv7()), Company: t.Company, Team: t.ID, CreatedAt: at}
	}
	return slots
}

// readOnly are the fields of the resource that no patch can change.
var readOnly = []string{"id", "companyId", "slug", "agentCount", "createdAt", "updatedAt"}

// Apply merges a patch. It returns the change and the event to record, or no event when nothing changed. It fails with
// fault.ImmutableField, fault.ValidationFailed, an error of others, and with fault.HeadcountLimit if fewer slots are empty
// than the headcount shrinks by.
func (t Team) Apply(patch Patch, others Others, ids id.Source, at time.Time) (Change, *event.Event, error) {
	if immutable := patch.Problems.Immutable(readOnly); immutable != nil {
		return Change{Team: t}, nil, fault.Immutables(immutable)
	}
	problems := slices.Clone(patch.Problems)
	next := t
	if patch.Name != nil {
		text.SetName(&next.Name, "name", patch.Name, NameLength, &problems)
		if text.Fold(next.Name) != text.Fold(t.Name) {
			if err := checkOthers(next.Name, others, &problems); err != nil {
				return Change{Team: t}, nil, err
			}
		}
	}
	if patch.Headcount != nil {
		next.Headcount = checkHeadcount("headcount", *patch.Headcount, &problems)
	}
	next, err := next.with(patch.Settings, others, &problems)
	switch {
	case err != nil:
		return Change{Team: t}, nil, err
	case len(problems) > 0:
		return Change{Team: t}, nil, fault.Validation(problems)
	case next.Headcount < t.AgentCount:
		return Change{Team: t}, nil, fault.New(fault.HeadcountLimit,
			"The team has more agents (%d) than %d slots can hold; retire some first.", t.AgentCount, next.Headcount).
			With("agentCount", t.AgentCount)
	}
	next, updated := event.Update(t, next, func(next *Team) event.Event {
		next.changed(at)
		return next.event(event.TeamUpdated)
	})
	if updated == nil {
		return Change{Team: t}, nil, nil
	}
	return Change{
		Team:    next,
		Added:   next.slots(max(0, next.Headcount-t.Headcount), ids, at),
		Dropped: max(0, t.Headcount-next.Headcount),
	}, updated, nil
}

// with returns t with the settings that were sent, and adds what is wrong with them to problems.
func (t Team) with(sent Settings, others Others, problems *fault.Problems) (Team, error) {
	text.SetProse(&t.Description, "description", sent.Description, DescriptionLength, problems)
	budget.SetLimit(&t.Budget, "budget", sent.Budget, problems)
	switch {
	case sent.Manager == nil:
	case *sent.Manager == nil:
		t.Manager = ""
	default:
		return t.managedBy(**sent.Manager, others, problems)
	}
	return t, nil
}

// managedBy returns t with a manager, who must be employed unless it is the present one, who may have retired since.
func (t Team) managedBy(sent string, others Others, problems *fault.Problems) (Team, error) {
	manager, ok := id.Parse[id.Agent](sent)
	if ok && manager == t.Manager {
		return t, nil
	}
	if ok {
		var err error
		if ok, err = others.Employs(manager); err != nil {
			return t, err
		}
	}
	if !ok {
		problems.Add(fault.Fieldf("managerAgentId", fault.UnknownValue, "managerAgentId must be the id of an agent of the company"))
		return t, nil
	}
	t.Manager = manager
	return t, nil
}

// slugStem returns what the slug of a team with this name begins with, whatever other teams there are.
func slugStem(name string) string {
	const longestSuffix = len("-999999")
	slug := text.Slug(name, "team")
	return strings.TrimRight(slug[:min(len(slug), text.SlugLength-longestSuffix)], "-")
}

// freeSlug derives a slug from name that is not in use, with a suffix -2, -3, ... when needed.
func freeSlug(name string, inUse func(slug string) bool) string {
	first := text.Slug(name, "team")
	slug := first
	for n := 2; inUse(slug); n++ {
		suffix := fmt.Sprintf("-%d", n)
		slug = strings.TrimRight(first[:min(len(first), text.SlugLength-len(suffix))], "-") + suffix
	}
	return slug
}
