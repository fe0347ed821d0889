package issue_test

import (
	"errors"
	"slices"

	"holdco/domain/id"
	"holdco/domain/issue"
)

// office is a company as issues know it: issue.Others in memory.
type office struct {
	issues    map[id.Issue]issue.Issue
	agents    map[id.Agent]id.Team // who has not retired
	idle      map[id.Team]id.Agent // of each team that there is; empty: nobody
	projects  map[id.Project]issue.Project
	goals     map[id.Goal]issue.Goal
	workflows map[id.Workflow]issue.Workflow
	fails     string // the method that fails with errBroken
}

var errBroken = errors.New("broken")

func (o *office) failure(of string) error {
	if o.fails == of {
		return errBroken
	}
	return nil
}

// add adds an issue with a parent and blockers, and returns its id.
func (o *office) add(n int, status issue.Status, parent id.Issue, blockedBy ...id.Issue) id.Issue {
	if o.issues == nil {
		o.issues = map[id.Issue]issue.Issue{}
	}
	which := numbered[id.Issue](n)
	o.issues[which] = issue.Issue{ID: which, Status: status, Parent: parent, BlockedBy: blockedBy}
	return which
}

// chain adds issues, each below the one before, and returns their ids.
func (o *office) chain(from, to int) (chain []id.Issue) {
	parent := id.Issue("")
	for n := from; n <= to; n++ {
		parent = o.add(n, issue.Queued, parent)
		chain = append(chain, parent)
	}
	return chain
}

func (o *office) Above(which id.Issue) (above []issue.Ancestor, err error) {
	for i, found := o.issues[which]; found; i, found = o.issues[i.Parent] {
		above = append(above, issue.Ancestor{ID: i.ID, Status: i.Status})
	}
	return above, o.failure("Above")
}

func (o *office) LevelsBelow(which id.Issue, most int) (levels int, err error) {
	for level := []id.Issue{which}; levels < most; levels++ {
		var below []id.Issue
		for _, i := range o.issues {
			if slices.Contains(level, i.Parent) {
				below = append(below, i.ID)
			}
		}
		if level = below; len(level) == 0 {
			break
		}
	}
	return levels, o.failure("LevelsBelow")
}

func (o *office) Blocking(issues []id.Issue) (map[id.Issue]issue.Status, error) {
	states := map[id.Issue]issue.Status{}
	for _, which := range issues {
		if i, found := o.issues[which]; found {
			states[which] = i.Status
		}
	}
	return states, o.failure("Blocking")
}

func (o *office) Blockers(of []id.Issue) (found []id.Issue, err error) {
	for _, which := range of {
		found = append(found, o.issues[which].BlockedBy...)
	}
	slices.Sort(found)
	return slices.Compact(found), o.failure("Blockers")
}

func (o *office) Employee(which id.Agent) (issue.Assignment, bool, error) {
	team, found := o.agents[which]
	if !found {
		return issue.Assignment{}, false, o.failure("Employee")
	}
	return issue.Assignment{Agent: which, AgentTeam: team}, true, o.failure("Employee")
}

func (o *office) HasTeam(which id.Team) (bool, error) {
	_, found := o.idle[which]
	return found, o.failure("HasTeam")
}

func (o *office) Project(which id.Project) (issue.Project, error) {
	return o.projects[which], o.failure("Project")
}

func (o *office) Goal(which id.Goal) (issue.Goal, error) { return o.goals[which], o.failure("Goal") }

func (o *office) Idle(in id.Team) (issue.Assignment, bool, error) {
	if o.idle[in] == "" {
		return issue.Assignment{}, false, o.failure("Idle")
	}
	return issue.Assignment{Agent: o.idle[in], AgentTeam: in}, true, o.failure("Idle")
}

func (o *office) Workflow(which id.Workflow) (issue.Workflow, error) {
	return o.workflows[which], o.failure("Workflow")
}

func (o *office) WorkflowCalled(which string) (id.Workflow, issue.Workflow, error) {
	found := o.workflows[id.Workflow(which)]
	if !found.Exists {
		return "", found, o.failure("WorkflowCalled")
	}
	return id.Workflow(which), found, o.failure("WorkflowCalled")
}

func (o *office) Steps(of id.Issue) (steps []issue.StepState, err error) {
	for n := 1; n <= len(o.issues); n++ {
		if i := o.issues[numbered[id.Issue](n)]; i.Container == of {
			steps = append(steps, issue.StepState{ID: i.ID, Place: i.Place, Status: i.Status})
		}
	}
	return steps, o.failure("Steps")
}
