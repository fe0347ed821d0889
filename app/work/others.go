package work

import (
	"context"

	"holdco/domain/agent"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/store"
)

// Others returns what an issue has to know of its company, as it is in a unit of work.
func Others(ctx context.Context, tx store.Tx, of id.Company) issue.Others { return others{ctx, tx, of} }

type others struct {
	ctx context.Context //nolint:containedctx // of the unit
	tx  store.Tx
	of  id.Company
}

func (o others) Above(which id.Issue) ([]issue.Ancestor, error) {
	return o.tx.Issues().Above(o.ctx, o.of, which)
}

func (o others) LevelsBelow(which id.Issue, most int) (int, error) {
	return o.tx.Issues().LevelsBelow(o.ctx, o.of, which, most)
}

func (o others) Blocking(issues []id.Issue) (map[id.Issue]issue.Status, error) {
	return o.tx.Issues().States(o.ctx, o.of, issues)
}

func (o others) Blockers(of []id.Issue) ([]id.Issue, error) { return o.tx.Issues().Blockers(o.ctx, of) }

func (o others) Employee(which id.Agent) (issue.Assignment, bool, error) {
	found, err := store.GetIn(o.ctx, o.tx.Agents(), o.of, which)
	exists, err := store.Exists(err)
	return to(found), exists && found.IsEmployed(), err
}

func (o others) HasTeam(which id.Team) (bool, error) {
	_, err := store.GetIn(o.ctx, o.tx.Teams(), o.of, which)
	return store.Exists(err)
}

func (o others) Project(which id.Project) (issue.Project, error) {
	found, err := store.GetIn(o.ctx, o.tx.Projects(), o.of, which)
	exists, err := store.Exists(err)
	return issue.Project{Exists: exists, IsArchived: found.IsArchived(), Goal: found.Goal}, err
}

func (o others) Goal(which id.Goal) (issue.Goal, error) {
	found, err := store.GetIn(o.ctx, o.tx.Goals(), o.of, which)
	exists, err := store.Exists(err)
	return issue.Goal{Exists: exists, IsClosed: exists && found.IsClosed()}, err
}

func (o others) Idle(in id.Team) (issue.Assignment, bool, error) {
	found, err := o.tx.Agents().Idle(o.ctx, in)
	exists, err := store.Exists(err)
	return to(found), exists, err
}

func to(a agent.Agent) issue.Assignment { return issue.Assignment{Agent: a.ID, AgentTeam: a.Team} }

func (o others) Workflow(which id.Workflow) (issue.Workflow, error) {
	_, found, err := o.WorkflowCalled(string(which))
	return found, err
}

func (o others) WorkflowCalled(which string) (id.Workflow, issue.Workflow, error) {
	found, err := store.FindWorkflow(o.ctx, o.tx.Workflows(), o.of, which)
	exists, err := store.Exists(err)
	return found.ID, issue.Workflow{Exists: exists, Version: found.Version}, err
}

func (o others) Steps(of id.Issue) ([]issue.StepState, error) { return o.tx.Issues().Steps(o.ctx, of) }

// IsActive reports whether an agent exists and is active.
func IsActive(ctx context.Context, tx store.Tx, which id.Agent) (bool, error) {
	found, err := tx.Agents().Get(ctx, which)
	exists, err := store.Exists(err)
	return exists && found.Status == agent.Active, err
}

// IsEnding reports whether a project, or none, is archived: its open issues are about to be cancelled.
func IsEnding(ctx context.Context, in store.ProjectReader, which id.Project) (bool, error) {
	if which == "" {
		return false, nil
	}
	found, err := in.Get(ctx, which)
	return err == nil && found.IsArchived(), err
}
