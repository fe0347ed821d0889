package work

import (
	"context"
	"fmt"
	"time"

	"holdco/domain/agent"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Unit is one unit of work on the issues of a company, whose turn it has taken.
type Unit struct {
	tx    store.Tx
	ids   outbound.IDs
	of    id.Company
	actor event.Actor
	left  int // how many dependent issues it may still look at
}

// In begins the part of a unit of work that moves issues.
func In(tx store.Tx, ids outbound.IDs, of id.Company, actor event.Actor) *Unit {
	return &Unit{tx: tx, ids: ids, of: of, actor: actor, left: store.Portion}
}

// Move stores an issue that was moved, with its event and all that follows from it. If it was running, its run ends for the reason.
func (u *Unit) Move(ctx context.Context, before, next issue.Issue, happened event.Event, why run.Reason) error {
	if err := u.endRun(ctx, before, why, next.UpdatedAt); err != nil {
		return err
	}
	if err := u.EndApprovals(ctx, before, next); err != nil {
		return err
	}
	return u.Follow(ctx, next, happened, true)
}

// endRun ends the run of an issue, if it is running.
func (u *Unit) endRun(ctx context.Context, of issue.Issue, why run.Reason, at time.Time) error {
	if of.Status != issue.Running || of.IsContainer {
		return nil
	}
	r, err := u.tx.Runs().LockOpen(ctx, of.ID)
	if err != nil {
		return err
	}
	return u.EndAlone(ctx, r, why, at)
}

// EndAlone ends a run, and leaves its issue, which is ended otherwise or is not there.
func (u *Unit) EndAlone(ctx context.Context, r run.Run, why run.Reason, at time.Time) error {
	if err := u.giveBack(ctx, r); err != nil {
		return err
	}
	return u.tx.Runs().Save(ctx, r.End(why, "", at))
}

// Follow is Move for an issue whose run, if it had one, is ended by the caller. Blocks is false if no issue waits for this one.
func (u *Unit) Follow(ctx context.Context, next issue.Issue, happened event.Event, blocks bool) error {
	if err := u.save(ctx, next, happened); err != nil {
		return err
	}
	if next.Agent != "" {
		if err := u.count(ctx, next); err != nil {
			return err
		}
	}
	if !next.Status.IsFinal() {
		return nil
	}
	if next.Status == issue.Cancelled {
		if err := u.Begin(ctx, store.Settlement{Kind: store.CancelBelow, Subject: string(next.ID)}); err != nil {
			return err
		}
	}
	if blocks {
		if err := u.Begin(ctx, store.Settlement{Kind: store.CountBlockers, Subject: string(next.ID)}); err != nil {
			return err
		}
	}
	return u.FollowStep(ctx, next)
}

// count adds an issue that is done or has failed to the stats of its agent.
func (u *Unit) count(ctx context.Context, ended issue.Issue) error {
	switch ended.Status {
	case issue.Done:
		return u.tx.Agents().Count(ctx, ended.Agent, agent.Work{Completed: 1})
	case issue.Failed:
		return u.tx.Agents().Count(ctx, ended.Agent, agent.Work{Failed: 1})
	}
	return nil
}

// Explain stores the note with which an action on an issue is explained as a comment, and returns it for the event.
func (u *Unit) Explain(
	ctx context.Context, i issue.Issue, action issue.Action, newID id.Comment, note issue.Note, at time.Time,
) ([]event.Field, error) {
	made, err := i.Explain(action, newID, note, u.actor, at)
	if err != nil || made == nil {
		return nil, err
	}
	return []event.Field{made.Field()}, u.tx.Issues().AddComment(ctx, *made)
}

// File stores a new issue under its number. The steps of a container follow it, and the container of a step that is done again.
func (u *Unit) File(ctx context.Context, made issue.Issue) (issue.Issue, error) {
	number, err := u.tx.Issues().NextNumber(ctx, u.of)
	if err != nil {
		return made, err
	}
	made, created := made.Created(number)
	if err := u.tx.Issues().Add(ctx, made); err != nil {
		return made, err
	}
	if err := u.tx.Record(ctx, created.By(u.actor)); err != nil {
		return made, err
	}
	switch {
	case made.IsContainer:
		return made, u.fileSteps(ctx, made)
	case made.IsStep() && made.RetryOf != "":
		return made, u.FollowStep(ctx, made)
	}
	return made, nil
}

func (u *Unit) save(ctx context.Context, next issue.Issue, happened event.Event) error {
	if err := u.tx.Issues().Save(ctx, next); err != nil {
		return err
	}
	return u.tx.Record(ctx, happened.By(u.actor))
}

// Begin settles as much as the unit may, and leaves the rest to Settle. Kind, Subject and Other are given.
func (u *Unit) Begin(ctx context.Context, s store.Settlement) error {
	s.Company, s.Actor = u.of, u.actor
	rest, err := u.settle(ctx, []store.Settlement{s})
	if err != nil {
		return err
	}
	for _, left := range rest {
		left.ID = id.New[id.Settlement](u.ids.UUIDv7())
		if err := u.tx.Settlements().Add(ctx, left); err != nil {
			return err
		}
	}
	return nil
}

// settle works through a list, to which what follows is added, and returns what is left of it.
func (u *Unit) settle(ctx context.Context, list []store.Settlement) ([]store.Settlement, error) {
	for len(list) > 0 && u.left > 0 {
		last := len(list) - 1
		more, err := u.step(ctx, list[last])
		if err != nil {
			return nil, err
		}
		list = append(list[:last], more...)
	}
	return list, nil
}

// step does a portion of a settlement, and returns what is left of it and what follows from it.
func (u *Unit) step(ctx context.Context, s store.Settlement) ([]store.Settlement, error) {
	switch s.Kind {
	case store.CancelBelow:
		return u.cancelEach(ctx, s, func(ctx context.Context) ([]store.Child, error) {
			return u.tx.Issues().Children(ctx, u.of, id.Issue(s.Subject), id.Issue(s.After))
		})
	case store.CancelProject:
		s.Other = issue.BecauseProjectArchived
		return u.cancelEach(ctx, s, func(ctx context.Context) ([]store.Child, error) {
			return u.tx.Issues().OpenInProject(ctx, id.Project(s.Subject), id.Issue(s.After))
		})
	case store.CountBlockers:
		return u.each(ctx, s, u.tx.Issues().Dependents, u.recount)
	case store.Replace:
		return u.each(ctx, s, u.tx.Issues().Dependents, func(ctx context.Context, i issue.Issue, at time.Time) error {
			next, updated, err := i.Replace(id.Issue(s.Subject), id.Issue(s.Other), Others(ctx, u.tx, u.of), at)
			if err != nil || updated == nil {
				return err
			}
			return u.save(ctx, next, *updated)
		})
	case store.Revoke:
		return u.revoke(ctx, s)
	case store.Abandon:
		return u.each(ctx, s, func(ctx context.Context, agent, after id.Issue) ([]id.Issue, error) {
			return u.tx.Issues().Abandonable(ctx, id.Agent(agent), after)
		}, u.abandon)
	}
	return nil, fmt.Errorf("settlement %s is of the kind %q, which this version does not know", s.ID, s.Kind)
}

// each settles the issues that find returns for the subject: Portion of those after one.
func (u *Unit) each(
	ctx context.Context, s store.Settlement, find func(ctx context.Context, subject, after id.Issue) ([]id.Issue, error),
	settle func(ctx context.Context, i issue.Issue, at time.Time) error,
) ([]store.Settlement, error) {
	found, err := find(ctx, id.Issue(s.Subject), id.Issue(s.After))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	at, err := u.tx.StoreNow(ctx)
	if err != nil {
		return nil, err
	}
	isRest := len(found) < store.Portion
	if len(found) > u.left {
		found, isRest = found[:u.left], false
	}
	for _, which := range found {
		i, err := u.tx.Issues().Lock(ctx, which)
		if err == nil {
			err = settle(ctx, i, at)
		}
		if err != nil {
			return nil, err
		}
	}
	u.left -= len(found)
	if isRest {
		return nil, nil
	}
	s.After = string(found[len(found)-1])
	return []store.Settlement{s}, nil
}

// recount counts the blockers of an issue again.
func (u *Unit) recount(ctx context.Context, i issue.Issue, _ time.Time) error {
	states, err := u.tx.Issues().States(ctx, u.of, i.BlockedBy)
	if err != nil {
		return err
	}
	if next, isChanged := i.Recount(states); isChanged {
		u.tx.Unrecorded()
		return u.tx.Issues().Save(ctx, next)
	}
	return nil
}

// abandon takes an issue from an agent that has retired.
func (u *Unit) abandon(ctx context.Context, i issue.Issue, at time.Time) error {
	next, requeued, err := i.Abandon(at)
	if err != nil {
		return err
	}
	return u.Move(ctx, i, next, requeued, run.AgentRetired)
}

// revoke gives back the issues whose leases ended with an epoch of the company: to the queue, or, if that is over its budget, to a person.
func (u *Unit) revoke(ctx context.Context, s store.Settlement) ([]store.Settlement, error) {
	outdated, err := u.tx.Runs().Outdated(ctx, u.of, s.Epoch)
	if err != nil || len(outdated) == 0 {
		return nil, err
	}
	at, err := u.tx.StoreNow(ctx)
	if err != nil {
		return nil, err
	}
	reason, err := u.tx.Runs().Revocation(ctx, u.of, s.Epoch-1)
	if err != nil {
		return nil, err
	}
	for _, one := range outdated {
		i, err := u.tx.Issues().Lock(ctx, one.Issue)
		if err != nil {
			return nil, err
		}
		next, happened, err := i.Revoke(string(reason), at)
		if reason == run.OverBudget {
			next, happened, err = i.HandOff(at, event.F("reason", string(reason)))
		}
		if err == nil {
			err = u.Move(ctx, i, next, happened, reason)
		}
		if err != nil {
			return nil, err
		}
	}
	u.left -= len(outdated)
	if len(outdated) < store.Portion {
		return nil, nil
	}
	return []store.Settlement{s}, nil
}

// cancelEach cancels the open ones of the issues right below one, or of those in a project, and goes on below these.
func (u *Unit) cancelEach(
	ctx context.Context, s store.Settlement, find func(ctx context.Context) ([]store.Child, error),
) (more []store.Settlement, err error) {
	children, err := find(ctx)
	if err != nil || len(children) == 0 {
		return nil, err
	}
	at, err := u.tx.StoreNow(ctx)
	if err != nil {
		return nil, err
	}
	isRest := len(children) < store.Portion
	if len(children) > u.left {
		children, isRest = children[:u.left], false
	}
	for _, child := range children {
		if !child.Status.IsFinal() {
			if err := u.cancel(ctx, child.ID, s.Other, at); err != nil {
				return nil, err
			}
		}
		if child.IsBlocker {
			more = append(more, store.Settlement{
				Company: s.Company, Kind: store.CountBlockers, Subject: string(child.ID), Actor: s.Actor,
			})
		}
		if child.IsParent {
			more = append(more, store.Settlement{
				Company: s.Company, Kind: store.CancelBelow, Subject: string(child.ID), Other: s.Other, Actor: s.Actor,
			})
		}
	}
	u.left -= len(children)
	if !isRest {
		s.After = string(children[len(children)-1].ID)
		more = append(more, s)
	}
	return more, nil
}

func (u *Unit) cancel(ctx context.Context, which id.Issue, because string, at time.Time) error {
	i, err := u.tx.Issues().Lock(ctx, which)
	if err != nil {
		return err
	}
	var why []event.Field
	if because != "" {
		why = []event.Field{event.F("reason", because)}
	}
	next, cancelled, err := i.Cancel(at, why...)
	if err != nil {
		return err
	}
	if err := u.endRun(ctx, i, run.IssueCancelled, at); err != nil {
		return err
	}
	if err := u.EndApprovals(ctx, i, next); err != nil {
		return err
	}
	if err := u.save(ctx, next, cancelled); err != nil { // what is below it is cancelled by this settlement too
		return err
	}
	return u.FollowStep(ctx, next)
}
