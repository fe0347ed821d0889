package demo

import (
	"context"
	"encoding/json"
	"time"

	"holdco/domain/approval"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/demo"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
)

// When the company works, in UTC, and how.
const (
	day     = 24 * time.Hour
	opening = 7 * time.Hour

	closing        = 19 * time.Hour
	weekendOpening = 10 * time.Hour
	weekendClosing = 13 * time.Hour

	longest  = 2 * time.Hour    // that a sitting lasts
	lastHour = 50 * time.Minute // how long before the end of the past the last sitting begins

	seen = 50 // how many of a list people look at
)

// work is one day, which begins at midnight.
func (o *office) work(ctx context.Context, midnight time.Time) error {
	from, to := midnight.Add(opening), midnight.Add(closing)
	if wd := midnight.Weekday(); wd == time.Saturday || wd == time.Sunday {
		from, to = midnight.Add(weekendOpening), midnight.Add(weekendClosing)
	}
	if last := o.until.Add(-longest - lastHour); to.After(last) {
		to = last
	}
	if !from.Before(to) {
		return nil
	}
	morning := from.Add(-time.Minute)
	err := o.unit(ctx, morning, func(ctx context.Context, o *office) error { return o.begin(ctx, morning) })
	if err != nil {
		return err
	}
	for from.Before(to) {
		var ended time.Time
		err = o.unit(ctx, from, func(ctx context.Context, o *office) (err error) {
			ended, err = o.sit(ctx, from)
			return err
		})
		if err != nil {
			return err
		}
		from = ended.Add(time.Duration(o.dice.Between(1, 9)) * time.Minute) //nolint:mnd // minutes between sittings
	}
	return nil
}

// unit does something as one unit of work that begins at a time.
func (o *office) unit(ctx context.Context, begins time.Time, do func(ctx context.Context, o *office) error) error {
	var next office
	err := o.Unit(ctx, o.of, func(ctx context.Context) error {
		next = *o // it may run more than once
		o.Clock.set(begins)
		return do(ctx, &next)
	})
	if err == nil {
		*o = next
	}
	return err
}

// begin is what people do first in the morning: they raise the budget of the company when most of it is spent, and once a week they
// file a release.
func (o *office) begin(ctx context.Context, at time.Time) error {
	spent, err := o.budget(ctx, o.of)
	if err != nil {
		return err
	}
	if to, isDue := demo.Raised(spent.Set.USD, spent.Level()); isDue {
		_, err = o.Companies.Update(ctx, people, o.of, company.Patch{Settings: company.Settings{
			Budget: &budget.Change{USD: new(money.Number(to.String()))},
		}}, precondition.Match{})
		if err != nil {
			return err
		}
	}
	if !demo.IsReleaseDay(at) {
		return nil
	}
	o.releases++
	return o.file(ctx, demo.ReleaseTask(o.releases-1))
}

// file files an issue: for a team, or to go through a workflow.
func (o *office) file(ctx context.Context, task demo.Task) error {
	draft := issue.Draft{Title: new(task.Title), Settings: issue.Settings{
		Description: new(task.Description), Priority: new(task.Priority), Labels: new(task.Labels),
	}}
	if task.Workflow != "" {
		draft.Workflow = new(task.Workflow)
	} else {
		draft.Team = new(string(o.teams[task.Team]))
		draft.RequiresReview = new(!task.NeedsNoReview)
	}
	if task.Project >= 0 {
		draft.Project = new(new(string(o.projects[task.Project])))
	}
	if task.Attempts > 0 {
		draft.MaxAttempts = new(int64(task.Attempts))
	}
	made, err := o.Issues.Create(ctx, people, o.of, draft, once)
	if err != nil {
		return err
	}
	if said := demo.Remark(&o.dice); said != "" {
		return o.say(ctx, made.ID, said)
	}
	return nil
}

func (o *office) say(ctx context.Context, on id.Issue, body string) error {
	_, err := o.Issues.Comment(ctx, people, o.of, on, note(body), once)
	return err
}

func note(body string) issue.Note { return issue.Note{Body: new(body)} }

// decide is what people do now and then: they accept or reject what is done, say what was asked, and decide about approvals.
func (o *office) decide(ctx context.Context, at time.Time) error {
	if err := o.approve(ctx); err != nil {
		return err
	}
	for _, status := range []issue.Status{issue.Review, issue.Handoff} {
		if err := o.respond(ctx, status); err != nil {
			return err
		}
	}
	since := o.looked
	o.looked = at
	return o.retry(ctx, since)
}

func (o *office) issues(ctx context.Context, status issue.Status, sort string) ([]issue.Issue, error) {
	found, err := o.Issues.List(ctx, people, inbound.IssueList{Company: o.of, Status: []issue.Status{status}, Sort: sort, Size: seen})
	return found.Items, err
}

func (o *office) move(ctx context.Context, which id.Issue, move inbound.IssueMove) error {
	_, err := o.Issues.Move(ctx, people, o.of, which, move, precondition.Match{}, once)
	return err
}

// approve decides about what agents ask for, who do not wait for it under a lease.
func (o *office) approve(ctx context.Context) error {
	asked := []approval.Status{approval.Pending}
	found, err := o.Approvals.List(ctx, people, inbound.ApprovalList{Company: o.of, Status: asked, Size: seen})
	for _, one := range found.Items {
		if _, err = o.verdict(ctx, one.ID); err != nil {
			return err
		}
	}
	return err
}

// verdict decides about an approval, and reports whether it is granted.
func (o *office) verdict(ctx context.Context, which id.Approval) (isGranted bool, err error) {
	verdict, said, edits := demo.Decide(&o.dice)
	sent := approval.Verdict{Action: approval.Approve}
	switch verdict {
	case demo.Deny:
		sent.Action = approval.Deny
	case demo.ApproveWithEdits:
		sent.Action = approval.ApproveWithEdits
		if sent.Edits, err = json.Marshal(edits); err != nil {
			return false, err
		}
	}
	if said != "" {
		sent.Note = new(said)
	}
	_, err = o.Approvals.Decide(ctx, people, o.of, which, sent, precondition.Match{}, once)
	return verdict != demo.Deny, err
}

// respond decides about what is done, or was handed off.
func (o *office) respond(ctx context.Context, status issue.Status) error {
	found, err := o.issues(ctx, status, "")
	for _, one := range found {
		response, isDue := demo.Respond(&o.dice, one.Status, one.WaitingFor != "", int64(one.Attempt))
		if !isDue {
			continue
		}
		move := inbound.IssueMove{Action: response.Action}
		switch response.Action {
		case issue.Reject:
			move.Note = note(response.Note)
		case issue.Assign:
			move.To = issue.AssignmentDraft{Agent: new(string(one.Agent))}
			if err = o.say(ctx, one.ID, response.Note); err != nil {
				return err
			}
		}
		if err = o.move(ctx, one.ID, move); err != nil {
			return err
		}
	}
	return err
}

// retry has some of what failed since an instant done again.
func (o *office) retry(ctx context.Context, since time.Time) error {
	found, err := o.issues(ctx, issue.Failed, "updated")
	for _, one := range found {
		if !one.FinishedAt.After(since) || !demo.IsRetried(&o.dice) {
			continue
		}
		if err = o.move(ctx, one.ID, inbound.IssueMove{Action: issue.Retry}); err != nil {
			return err
		}
	}
	return err
}

// waiting is how many issues wait for an agent.
func (o *office) waiting(ctx context.Context) (int, error) {
	all, err := o.Issues.Count(ctx, people, inbound.IssueList{Company: o.of, Size: 1})
	return int(all.Of[issue.Queued] + all.Of[issue.Assigned]), err
}

var noPlace page.Position
