package issue

import (
	"cmp"
	"fmt"
	"slices"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// Others is what an issue has to know of its company.
type Others interface {
	// Above returns an issue of the company and its ancestors, the issue first and the root last; none if there is no such
	// issue. There are at most MostDepth.
	Above(which id.Issue) ([]Ancestor, error)

	// LevelsBelow returns how many levels of issues are below one: 0 when nothing has it as parent. It counts to most at most.
	LevelsBelow(which id.Issue, most int) (int, error)

	// Blocking returns the states of those issues that the company has.
	Blocking(issues []id.Issue) (map[id.Issue]Status, error)

	// Blockers returns what blocks any of some issues, each once.
	Blockers(of []id.Issue) ([]id.Issue, error)

	// Employee returns an agent of the company that has not retired, with its team, and whether there is one.
	Employee(which id.Agent) (Assignment, bool, error)

	// HasTeam reports whether the company has a team.
	HasTeam(which id.Team) (bool, error)

	// Project returns what matters of a project of the company.
	Project(which id.Project) (Project, error)

	// Goal returns what matters of a goal of the company.
	Goal(which id.Goal) (Goal, error)

	// Workflow returns what matters of a workflow of the company.
	Workflow(which id.Workflow) (Workflow, error)

	// WorkflowCalled is Workflow for an id or a slug. It also returns the id.
	WorkflowCalled(which string) (id.Workflow, Workflow, error)

	// Steps returns the steps of a container, those that were retried too, in the order in which they were made.
	Steps(of id.Issue) ([]StepState, error)

	// Idle picks an idle agent of a team, with its team: of the active ones without a running issue the one with the fewest open
	// issues, then the oldest.
	Idle(in id.Team) (Assignment, bool, error)
}

// Project is what an issue has to know of a project.
type Project struct {
	Exists, IsArchived bool
	Goal               id.Goal // empty: none
}

// Goal is what an issue has to know of a goal.
type Goal struct{ Exists, IsClosed bool }

// Ancestor is an issue above another.
type Ancestor struct {
	ID       id.Issue
	Status   Status
	IsEnding bool // its project is archived
}

// isCancelled reports whether the ancestor is cancelled, or about to be.
func (a Ancestor) isCancelled() bool {
	return a.Status == Cancelled || a.IsEnding && !a.Status.IsFinal()
}

// IsBelowCancelled reports whether one of the ancestors of an issue is cancelled, or about to be: then so is the issue.
func IsBelowCancelled(above []Ancestor) bool { return slices.ContainsFunc(above, Ancestor.isCancelled) }

// relations checks what an issue has to do with others, and collects problems of what was sent.
type relations struct {
	others   Others
	problems *fault.Problems
}

// change sets the parent and the blockers that were sent, in next.
func (r relations) change(before Issue, next *Issue, sent Settings) error {
	if sent.Parent != nil {
		if err := r.changeParent(before, next, *sent.Parent); err != nil {
			return err
		}
	}
	if sent.BlockedBy != nil {
		return r.changeBlockers(next, *sent.BlockedBy)
	}
	return nil
}

// changeParent sets the parent of next. A new one must not be cancelled, nor be below what is.
func (r relations) changeParent(before Issue, next *Issue, sent *string) error {
	if sent == nil {
		next.Parent = ""
		return nil
	}
	parent, _ := id.Parse[id.Issue](*sent)
	if parent != "" && parent == before.Parent {
		return nil
	}
	above, err := r.others.Above(parent)
	switch {
	case err != nil:
		return err
	case len(above) == 0:
		r.problems.Add(fault.Fieldf("parentId", fault.UnknownValue, "parentId must be the id of an issue of the company"))
	case slices.ContainsFunc(above, Ancestor.isCancelled):
		r.problems.Add(fault.Fieldf("parentId", fault.UnknownValue, "parentId must not be a cancelled issue, or below one"))
	}
	next.Parent = parent
	return nil
}

// changePurpose sets the project and the goal of next. A refusal is for when nothing is wrong with what was sent. A new issue
// without a goal gets that of its project. No issue comes to a project whose goal is closed.
func (r relations) changePurpose(before Issue, next *Issue, sent Settings) (refusal, err error) {
	var project Project
	if sent.Project != nil {
		next.Project, _ = id.Parse[id.Project](orEmpty(*sent.Project))
		if isSent := *sent.Project != nil; isSent && (next.Project == "" || next.Project != before.Project) {
			if project, err = r.others.Project(next.Project); err != nil {
				return nil, err
			}
			if !project.Exists {
				r.problems.Add(fault.Fieldf("projectId", fault.UnknownValue, "projectId must be the id of a project of the company"))
			}
			if project.IsArchived {
				refusal = ProjectArchived()
			}
			if project.Goal != "" {
				if refusal, err = r.checkGoal(project.Goal, refusal); err != nil {
					return nil, err
				}
			}
		}
	}
	if sent.Goal != nil {
		next.Goal, _ = id.Parse[id.Goal](orEmpty(*sent.Goal))
		if isSent := *sent.Goal != nil; isSent && (next.Goal == "" || next.Goal != before.Goal) {
			return r.checkGoal(next.Goal, refusal)
		}
	}
	if before.ID == "" && next.Goal == "" {
		next.Goal = project.Goal
	}
	return refusal, nil
}

// changeWorkflow makes i a container if a workflow was sent.
func (r relations) changeWorkflow(i *Issue, draft Draft) error {
	if draft.Workflow == nil {
		return nil
	}
	for _, excluded := range []struct {
		field string
		sent  *string
	}{{"assignedAgentId", draft.Agent}, {"assignedTeamId", draft.Team}} {
		if excluded.sent != nil {
			r.problems.Add(fault.Fieldf(excluded.field, fault.Duplicate, "%s and workflowId exclude each other", excluded.field))
		}
	}
	which, found, err := r.others.WorkflowCalled(*draft.Workflow)
	if err != nil {
		return err
	}
	if !found.Exists {
		r.problems.Add(fault.Fieldf("workflowId", fault.UnknownValue, "workflowId must be the id or slug of a workflow of the company"))
	}
	i.Workflow, i.WorkflowVersion, i.IsContainer, i.Waiting = which, found.Version, true, false
	return nil
}

// checkGoal returns the refusal, or that of a goal that is closed.
func (r relations) checkGoal(which id.Goal, refusal error) (_, err error) {
	goal, err := r.others.Goal(which)
	if err != nil {
		return nil, err
	}
	if !goal.Exists {
		r.problems.Add(fault.Fieldf("goalId", fault.UnknownValue, "goalId must be the id of a goal of the company"))
	}
	if refusal == nil && goal.IsClosed {
		refusal = GoalClosed()
	}
	return refusal, nil
}

// checkPurpose refuses new work for the project and the goal of an issue if these are over.
func (r relations) checkPurpose(of Issue) error {
	if of.Project != "" {
		if project, err := r.others.Project(of.Project); err != nil || project.IsArchived {
			return cmp.Or(err, ProjectArchived())
		}
	}
	if of.Goal != "" {
		if goal, err := r.others.Goal(of.Goal); err != nil || goal.IsClosed {
			return cmp.Or(err, GoalClosed())
		}
	}
	return nil
}

// ProjectArchived is the fault of work for a project that is archived.
func ProjectArchived() error {
	return fault.New(fault.ProjectArchived, "The project is archived; it takes no changes and no issues.")
}

// GoalClosed is the fault of new work for a goal that is closed.
func GoalClosed() error {
	return fault.New(fault.GoalClosed, "The goal is closed; it takes no changes, no projects and no issues.")
}

func orEmpty(sent *string) string {
	if sent == nil {
		return ""
	}
	return *sent
}

// changeBlockers sets the blockers of next, and counts the open ones. One that is given twice is kept once.
func (r relations) changeBlockers(next *Issue, sent []string) error {
	if len(sent) > MostBlockers {
		r.problems.Add(fault.Fieldf("blockedBy", fault.TooMany, "blockedBy has %d items; at most %d are allowed", len(sent), MostBlockers))
		return nil
	}
	var blockers []id.Issue
	for _, raw := range sent {
		if blocker, _ := id.Parse[id.Issue](raw); !slices.Contains(blockers, blocker) {
			blockers = append(blockers, blocker)
		}
	}
	states, err := r.others.Blocking(blockers)
	if err != nil {
		return err
	}
	for n, raw := range sent {
		if blocker, _ := id.Parse[id.Issue](raw); states[blocker] == "" {
			path := fmt.Sprintf("blockedBy.%d", n)
			r.problems.Add(fault.Fieldf(path, fault.UnknownValue, "%s must be the id of an issue of the company", path))
		}
	}
	next.BlockedBy = blockers
	next.countBlockers(states)
	return nil
}

// recount counts the blockers of next again.
func (r relations) recount(next *Issue) error {
	states, err := r.others.Blocking(next.BlockedBy)
	next.countBlockers(states)
	return err
}

// countBlockers counts the blockers, of whose states it gets all.
func (i *Issue) countBlockers(states map[id.Issue]Status) {
	i.OpenBlockers, i.FailedBlockers = 0, 0
	for _, status := range states {
		if status != Done {
			i.OpenBlockers++
		}
		if status == Failed || status == Cancelled {
			i.FailedBlockers++
		}
	}
}

// assignment finds who was named, in a field of an agent or one of a team; neither is nobody.
func (r relations) assignment(agentField string, agent *string, teamField string, team *string) (to Assignment, err error) {
	var found bool
	switch {
	case agent != nil && team != nil:
		r.problems.Add(fault.Fieldf(teamField, fault.Duplicate, "%s and %s exclude each other", agentField, teamField))
	case agent != nil:
		which, _ := id.Parse[id.Agent](*agent)
		if to, found, err = r.others.Employee(which); err == nil && !found {
			r.problems.Add(fault.Fieldf(agentField, fault.UnknownValue,
				"%s must be the id of an agent of the company that has not retired", agentField))
		}
	case team != nil:
		which, _ := id.Parse[id.Team](*team)
		if found, err = r.others.HasTeam(which); err == nil && !found {
			r.problems.Add(fault.Fieldf(teamField, fault.UnknownValue, "%s must be the id of a team of the company", teamField))
		}
		if err == nil && found {
			return r.pick(which)
		}
	}
	return to, err
}

// pick assigns to a team, and to one of its agents if that is idle.
func (r relations) pick(team id.Team) (Assignment, error) {
	to, _, err := r.others.Idle(team)
	to.Team, to.IsPick = team, true
	return to, err
}

// again is whom the retry of an issue is assigned to.
func (r relations) again(of Issue) (Assignment, error) {
	if of.Binding == Named {
		if to, employed, err := r.others.Employee(of.Agent); err != nil || employed {
			to.Team = of.Team
			return to, err
		}
	}
	exists, err := r.others.HasTeam(of.Team)
	if err != nil || !exists {
		return Assignment{}, err
	}
	return r.pick(of.Team)
}

// checkCycles refuses new parents and blockers that lead back to the issue.
func (r relations) checkCycles(before, next Issue) error {
	if next.Parent != "" && next.Parent != before.Parent {
		below, err := r.others.LevelsBelow(next.ID, MostDepth)
		if err != nil {
			return err
		}
		if err := r.checkDepth(next, 1+below); err != nil {
			return err
		}
	}
	isOld := func(blocker id.Issue) bool { return slices.Contains(before.BlockedBy, blocker) }
	return r.checkBlockers(next.ID, slices.DeleteFunc(slices.Clone(next.BlockedBy), isOld))
}

// checkDepth refuses a parent that is the issue itself or below it, and one that puts any of so many levels beyond MostDepth.
func (r relations) checkDepth(i Issue, levels int) error {
	if i.Parent == "" {
		return nil
	}
	above, err := r.others.Above(i.Parent)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(above, func(a Ancestor) bool { return a.ID == i.ID }) {
		return cycle("cycle", "The parent is the issue itself, or below it.")
	}
	if len(above)+levels > MostDepth {
		return cycle("too_deep", fmt.Sprintf("Issues can be nested %d levels deep; this would be level %d.", MostDepth, len(above)+levels))
	}
	return nil
}

// mostSearched bounds how many issues the search for a cycle of blockers looks at.
const mostSearched = 10_000

// checkBlockers refuses new blockers that wait for the issue, directly or by others: it searches breadth first.
func (r relations) checkBlockers(of id.Issue, level []id.Issue) error {
	seen := map[id.Issue]bool{}
	for len(level) > 0 {
		for _, blocker := range level {
			seen[blocker] = true
		}
		switch {
		case seen[of]:
			return cycle("cycle", "The issue would wait for itself.")
		case len(seen) > mostSearched:
			return cycle("too_large", fmt.Sprintf("More than %d issues would have to be searched for a cycle of blockers.", mostSearched))
		}
		next, err := r.others.Blockers(level)
		if err != nil {
			return err
		}
		level = slices.DeleteFunc(next, func(blocker id.Issue) bool { return seen[blocker] })
	}
	return nil
}

func cycle(reason, message string) error {
	return fault.New(fault.DependencyCycle, "%s", message).With("reason", reason)
}
