package goal

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/issue"
)

// Project is a part of the work of a company, which may pursue a goal. NewProject and stores make a Project, and only its methods
// change it.
type Project struct {
	ID      id.Project
	Company id.Company
	Goal    id.Goal // of the same company; empty: none
	Outline
	OwnerTeam id.Team // of the same company when it was set; empty: none
	Status    ProjectStatus
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64 // grows by one with every change of the project itself
}

// ProjectStatus is a state of a project.
type ProjectStatus string

// The states. Archived is final: all issues of the project have ended, or are about to be cancelled.
const (
	Underway ProjectStatus = "active"
	Archived ProjectStatus = "archived"
)

// Owner returns the company, for generic code.
func (p Project) Owner() id.Company { return p.Company }

// CurrentVersion returns Version, for generic code.
func (p Project) CurrentVersion() int64 { return p.Version }

// IsArchived reports whether the project has no more work.
func (p Project) IsArchived() bool { return p.Status == Archived }

// ShownProject is a project with how many issues it has.
type ShownProject struct {
	Project
	Issues issue.Counts
}

// Fields returns the project as the API shows it.
func (s ShownProject) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(s.ID)),
		event.F("companyId", string(s.Company)),
		event.F("goalId", orNull(s.Goal)),
		event.F("title", s.Title),
		event.F("description", s.Description),
		event.F("ownerTeamId", orNull(s.OwnerTeam)),
		event.F("status", string(s.Status)),
		s.budgetField(),
		progressField(s.Issues),
		event.F("createdAt", instant.Format(s.CreatedAt)),
		event.F("updatedAt", instant.Format(s.UpdatedAt)),
	}
}

// Brief returns what an agent is shown of the project that it works for.
func (p Project) Brief() event.Fields {
	return event.Fields{
		event.F("id", string(p.ID)),
		event.F("title", p.Title),
		event.F("description", p.Description),
	}
}

func (s ShownProject) event(what event.Type) event.Event {
	return event.Of(what, s.Company, string(s.ID), s.Fields())
}

func (s *ShownProject) changed(at time.Time) {
	s.UpdatedAt = at
	s.Version++
}

// ProjectDraft is what was sent to make or change a project; nil fields were absent. Problems are errors of its form.
type ProjectDraft struct {
	OutlineDraft
	Goal      **string
	OwnerTeam **string
	Problems  fault.Problems
}

// Others is what a project has to know of its company.
type Others interface {
	// Goal returns a goal of the company with how many projects it has, and whether there is one.
	Goal(which id.Goal) (found Goal, projects int, exists bool, err error)

	// HasTeam reports whether the company has a team.
	HasTeam(which id.Team) (bool, error)
}

// NewProject makes a project of a company, without issues. It fails with fault.ValidationFailed, which lists every invalid field,
// with fault.GoalClosed, or with an error of others.
func NewProject(
	newID id.Project, company id.Company, draft ProjectDraft, others Others, at time.Time,
) (Project, event.Event, error) {
	problems := slices.Clone(draft.Problems)
	p := Project{ID: newID, Company: company, Status: Underway, CreatedAt: at, UpdatedAt: at, Version: 1}
	p.Outline = outline(draft.OutlineDraft, &problems)
	p, err := p.related(draft, others, problems)
	if err != nil {
		return Project{}, event.Event{}, err
	}
	return p, ShownProject{Project: p}.event(event.ProjectCreated), nil
}

// related returns p with the goal and the team that were sent, which must be there unless they stay. It fails with all problems.
func (p Project) related(sent ProjectDraft, others Others, problems fault.Problems) (Project, error) {
	var refusal error
	if sent.Goal != nil {
		goal, isKept := reference(*sent.Goal, p.Goal)
		if p.Goal = goal; !isKept {
			found, projects, exists, err := others.Goal(goal)
			switch {
			case err != nil:
				return p, err
			case !exists:
				problems.Add(fault.Fieldf("goalId", fault.UnknownValue, "goalId must be the id of a goal of the company"))
			case projects >= MostProjects:
				problems.Add(fault.Fieldf("goalId", fault.TooMany, "goalId is a goal with %d projects; it may have no more", MostProjects))
			case found.IsClosed():
				refusal = issue.GoalClosed()
			}
		}
	}
	if sent.OwnerTeam != nil {
		team, isKept := reference(*sent.OwnerTeam, p.OwnerTeam)
		if p.OwnerTeam = team; !isKept {
			exists, err := others.HasTeam(team)
			if err != nil {
				return p, err
			}
			if !exists {
				problems.Add(fault.Fieldf("ownerTeamId", fault.UnknownValue, "ownerTeamId must be the id of a team of the company"))
			}
		}
	}
	if len(problems) > 0 {
		return p, fault.Validation(problems)
	}
	return p, refusal
}

// reference parses an id that was sent, and reports whether it needs no check: null, or the present one.
func reference[I id.ID](sent *string, present I) (which I, isKept bool) {
	if sent == nil {
		return "", true
	}
	which, isID := id.Parse[I](*sent)
	return which, isID && which == present
}

// projectReadOnly are the fields of a project that no patch can change.
var projectReadOnly = []string{"id", "companyId", "status", "progress", "createdAt", "updatedAt"}

// Apply merges a patch into a project with these issues, which keep their goals. It returns the next project and the event to record,
// or no event when nothing changed. It fails with fault.ImmutableField, the faults of NewProject, and with fault.ProjectArchived.
func (p Project) Apply(patch ProjectDraft, issues issue.Counts, others Others, at time.Time) (Project, *event.Event, error) {
	if immutable := patch.Problems.Immutable(projectReadOnly); immutable != nil {
		return p, nil, fault.Immutables(immutable)
	}
	problems := slices.Clone(patch.Problems)
	next := p
	next.Outline = p.with(patch.OutlineDraft, &problems)
	next, err := next.related(patch, others, problems)
	switch {
	case fault.CodeOf(err) == fault.ValidationFailed:
		return p, nil, err
	case p.IsArchived():
		return p, nil, issue.ProjectArchived()
	case err != nil:
		return p, nil, err
	}
	shown, updated := event.Update(ShownProject{p, issues}, ShownProject{next, issues}, func(next *ShownProject) event.Event {
		next.changed(at)
		return next.event(event.ProjectUpdated)
	})
	return shown.Project, updated, nil
}

// Archiving is what was sent to archive a project; a nil field was absent. Problems are errors of its form.
type Archiving struct {
	CancelOpenIssues *bool
	Problems         fault.Problems
}

// Archive ends the project, which has these issues; the open ones have to be cancelled after it. It fails with fault.ValidationFailed,
// with fault.InvalidTransition if it is archived already, and with fault.ProjectNotEmpty if it has open issues that are not to be
// cancelled.
func (p Project) Archive(sent Archiving, issues issue.Counts, at time.Time) (Project, event.Event, error) {
	open, cancels := issues.Open(), sent.CancelOpenIssues != nil && *sent.CancelOpenIssues
	switch {
	case len(sent.Problems) > 0:
		return p, event.Event{}, fault.Validation(sent.Problems)
	case p.IsArchived():
		return p, event.Event{}, fault.Transition(string(p.Status), "archive", "The project is archived already.")
	case open > 0 && !cancels:
		return p, event.Event{}, fault.New(fault.ProjectNotEmpty,
			"The project has open issues; finish or cancel them, or archive it with cancelOpenIssues.").With("openIssues", open)
	}
	next := ShownProject{p, issues}
	next.Status = Archived
	next.changed(at)
	return next.Project, next.event(event.ProjectArchived), nil
}
