package goal

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
)

// Project is a part of the work of a company, which may pursue a goal. NewProject and stores make a Project, and only its methods
// change it.
type Project struct {
	Purpose[id.Project]
	Goal      id.Goal // of the same company; empty: none
	OwnerTeam id.Team // of the same company when it was set; empty: none
	Status    ProjectStatus
}

// ProjectStatus is a state of a project.
type ProjectStatus string

// The states. Archived is final: all issues of the project have ended, or are about to be cancelled.
const (
	Underway ProjectStatus = "active"
	Archived ProjectStatus = "archived"
)

// IsArchived reports whether the project has no more work.
func (p Project) IsArchived() bool { return p.Status == Archived }

func (p Project) fields(done Work) event.Fields {
	return p.shown(done,
		event.Optional("goalId", p.Goal),
		event.Optional("ownerTeamId", p.OwnerTeam),
		event.F("status", string(p.Status)),
	)
}

// ShownProject is a project with what is done for it.
type ShownProject = Shown[id.Project, Project]

// ProjectDraft is what was sent to make or change a project; nil fields were absent.
type ProjectDraft struct {
	PurposeDraft
	Goal      **string
	OwnerTeam **string
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
	p := Project{Purpose: newPurpose(newID, company, draft.PurposeDraft, at, &problems), Status: Underway}
	p, err := p.related(draft, others, problems)
	if err != nil {
		return Project{}, event.Event{}, err
	}
	return p, ShownProject{Of: p}.event(event.ProjectCreated), nil
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

// Apply merges a patch into a project for which this is done; its issues keep their goals. It returns the next project and the event
// to record, or no event when nothing changed. It fails with fault.ImmutableField, the faults of NewProject, and with
// fault.ProjectArchived.
func (p Project) Apply(patch ProjectDraft, done Work, others Others, at time.Time) (Project, *event.Event, error) {
	if immutable := patch.Problems.Immutable(projectReadOnly); immutable != nil {
		return p, nil, fault.Immutables(immutable)
	}
	problems := slices.Clone(patch.Problems)
	next := p
	next.Purpose = p.with(patch.PurposeDraft, &problems)
	next, err := next.related(patch, others, problems)
	switch {
	case fault.CodeOf(err) == fault.ValidationFailed:
		return p, nil, err
	case p.IsArchived():
		return p, nil, issue.ProjectArchived()
	case err != nil:
		return p, nil, err
	}
	shown, updated := event.Update(ShownProject{p, done}, ShownProject{next, done}, func(next *ShownProject) event.Event {
		next.Of.changed(at)
		return next.event(event.ProjectUpdated)
	})
	return shown.Of, updated, nil
}

// Archiving is what was sent to archive a project; a nil field was absent. Problems are errors of its form.
type Archiving struct {
	CancelOpenIssues *bool
	Problems         fault.Problems
}

// Archive ends the project, for which this is done, and which has so many open issues with containers: these have to be cancelled after
// it. It fails with fault.ValidationFailed, with fault.InvalidTransition if it is archived already, and with fault.ProjectNotEmpty if it
// has open issues that are not to be cancelled.
func (p Project) Archive(sent Archiving, open int64, done Work, at time.Time) (Project, event.Event, error) {
	cancels := sent.CancelOpenIssues != nil && *sent.CancelOpenIssues
	switch {
	case len(sent.Problems) > 0:
		return p, event.Event{}, fault.Validation(sent.Problems)
	case p.IsArchived():
		return p, event.Event{}, fault.Transition(string(p.Status), "archive", "The project is archived already.")
	case open > 0 && !cancels:
		return p, event.Event{}, fault.New(fault.ProjectNotEmpty,
			"The project has open issues; finish or cancel them, or archive it with cancelOpenIssues.").With("openIssues", open)
	}
	p.Status = Archived
	p.changed(at)
	return p, ShownProject{p, done}.event(event.ProjectArchived), nil
}
