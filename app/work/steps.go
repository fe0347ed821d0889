package work

import (
	"context"

	"holdco/domain/id"
	"holdco/domain/issue"
)

// fileSteps files the steps of a container that was filed, each blocked by the one before.
func (u *Unit) fileSteps(ctx context.Context, container issue.Issue) error {
	steps, err := u.tx.Workflows().Steps(ctx, container.Workflow, container.WorkflowVersion)
	if err != nil {
		return err
	}
	others, hasTeams := Others(ctx, u.tx, u.of), map[id.Team]bool{}
	var before id.Issue
	for n, step := range steps {
		hasTeam, known := hasTeams[step.Team]
		if !known && step.Team != "" {
			if hasTeam, err = others.HasTeam(step.Team); err != nil {
				return err
			}
			hasTeams[step.Team] = hasTeam
		}
		made, err := container.NewStep(id.New[id.Issue](u.ids.UUIDv7()), n+1, step, hasTeam, before)
		if err != nil {
			return err
		}
		if _, err := u.File(ctx, made); err != nil {
			return err
		}
		before = made.ID
	}
	return nil
}

// FollowStep moves the container of an issue that has moved, if it is a step of one, and does all that follows from that.
func (u *Unit) FollowStep(ctx context.Context, moved issue.Issue) error {
	if !moved.IsStep() {
		return nil
	}
	container, err := u.tx.Issues().Lock(ctx, moved.Container)
	if err != nil || container.Status.IsFinal() {
		return err
	}
	steps, err := u.tx.Issues().Steps(ctx, container.ID)
	if err != nil {
		return err
	}
	next, happened := container.Follow(moved, steps)
	if happened == nil {
		return nil
	}
	return u.Follow(ctx, next, *happened, true)
}

// RedoLast files the step of a container that issue.Redone names again, because a review has rejected what came of all steps. The note
// is for who does it. What waited for the step that was done does not wait for the new one: it may have begun. What waits for the
// container still does.
func (u *Unit) RedoLast(ctx context.Context, container issue.Issue, note issue.Note) error {
	steps, err := u.tx.Issues().Steps(ctx, container.ID)
	if err != nil {
		return err
	}
	last, err := u.tx.Issues().Get(ctx, issue.Redone(steps).ID)
	if err != nil {
		return err
	}
	at := container.UpdatedAt
	again, err := last.Redo(id.New[id.Issue](u.ids.UUIDv7()), u.actor, Others(ctx, u.tx, u.of), at)
	if err != nil {
		return err
	}
	if again, err = u.File(ctx, again); err != nil {
		return err
	}
	_, err = u.Explain(ctx, again, issue.Reject, id.New[id.Comment](u.ids.UUIDv7()), note, at)
	return err
}
