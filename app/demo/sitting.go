package demo

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"holdco/domain/approval"
	"holdco/domain/cost"
	"holdco/domain/demo"
	"holdco/domain/issue"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/ports/inbound"
)

// slower is how much longer an agent thinks than at the usual pace, at which people watch.
const slower = 60

// mostAtWork is how many agents work side by side in a sitting.
const mostAtWork = 3

// sitting is what some agents do side by side, each of them one issue from its claim to its end.
type sitting struct {
	*office

	now    time.Time
	coming []moment // in the order in which they come
}

// moment is something that happens at a time.
type moment struct {
	at time.Time
	do func(ctx context.Context) error
}

// sit is a sitting that begins at a time. It returns when it ended.
func (o *office) sit(ctx context.Context, begins time.Time) (ended time.Time, err error) {
	s := &sitting{office: o, now: begins}
	s.in(0, func(ctx context.Context) error { return o.decide(ctx, begins) })
	has, err := o.waiting(ctx)
	if err != nil {
		return begins, err
	}
	for n := has; n < demo.Backlog; n++ {
		s.in(o.minutes(1, 4), func(ctx context.Context) error { return o.file(ctx, demo.NextTask(&o.dice)) }) //nolint:mnd // minutes
	}
	free := slices.Clone(o.staff)
	for range o.dice.Between(1, mostAtWork) {
		n := o.dice.Below(len(free))
		who := &seat{sitting: s, employee: free[n]}
		free = slices.Delete(free, n, n+1)
		s.in(o.minutes(5, 9), who.claim) //nolint:mnd // minutes
	}
	return s.run(ctx)
}

// minutes is a time of so many minutes.
func (o *office) minutes(least, most int) time.Duration {
	const ms = 60_000
	return time.Duration(o.dice.Between(least*ms, most*ms)) * time.Millisecond
}

// in has something happen after a while.
func (s *sitting) in(after time.Duration, do func(ctx context.Context) error) {
	next := moment{s.now.Add(after), do}
	at := slices.IndexFunc(s.coming, func(m moment) bool { return m.at.After(next.at) })
	if at < 0 {
		at = len(s.coming)
	}
	s.coming = slices.Insert(s.coming, at, next)
}

// run lets everything happen, and returns when that has ended.
func (s *sitting) run(ctx context.Context) (ended time.Time, err error) {
	for len(s.coming) > 0 && err == nil {
		next := s.coming[0]
		s.coming = s.coming[1:]
		s.now = next.at
		s.Clock.set(next.at)
		err = next.do(ctx)
	}
	return s.now, err
}

// seat is an agent in a sitting.
type seat struct {
	*sitting
	employee

	call   inbound.LeaseCall
	issue  issue.Issue
	script []demo.Beat
	beat   int  // of script, that comes next
	isLast bool // in the last sitting: what it does succeeds, and it does not wait for approvals
}

// claim begins an issue, if there is one.
func (w *seat) claim(ctx context.Context) error {
	granted, err := w.Leases.Claim(ctx, w.Caller, inbound.Claim{LeaseSeconds: new(int64(run.LongestLease / time.Second))})
	if err != nil || granted == nil {
		return err
	}
	w.call = inbound.LeaseCall{Lease: granted.Run.Lease.ID, Token: new(granted.Run.Lease.Token)}
	w.issue = granted.Issue
	w.script = demo.ScriptFor(demo.Situation{
		Number: w.issue.Number, Attempt: int64(w.issue.Attempt), Labels: w.issue.Labels,
		IsBegun: len(granted.Context.Checkpoints) > 0, IsStep: w.issue.Container != "", IsLucky: w.isLast,
	})
	w.think()
	return nil
}

// think has the next beat come.
func (w *seat) think() { w.in(slower*w.script[w.beat].Think, w.play) }

// play plays the next beat.
func (w *seat) play(ctx context.Context) error {
	beat := w.script[w.beat]
	w.beat++
	state, _, err := w.Leases.Charge(ctx, w.Caller, w.call, []cost.Draft{w.charge(beat.Tokens)})
	if err != nil {
		return err
	}
	if beat.Note != "" {
		if state, err = w.Leases.Checkpoint(ctx, w.Caller, w.call, run.CheckpointDraft{Note: new(beat.Note)}); err != nil {
			return err
		}
	}
	if !state.Budget.FinishBy.IsZero() {
		return w.complete(ctx, demo.OutOfBudget)
	}
	switch beat.Do {
	case demo.Ask:
		return w.ask(ctx)
	case demo.Complete:
		return w.complete(ctx, demo.Summary(w.issue.Number))
	case demo.Fail:
		code, message := demo.Failure(w.issue.Number)
		return w.end(ctx, inbound.LeaseEnd{Action: issue.Fail, Failure: run.FailureDraft{
			Code: new(code), Message: new(message), RetryAfter: new(int64(0)),
		}})
	case demo.HandOff:
		return w.end(ctx, inbound.LeaseEnd{Action: issue.HandOff, Note: note(demo.Question(w.issue.Number))})
	}
	w.think()
	return nil
}

// charge is what thinking cost before the beat that comes next.
func (w *seat) charge(used demo.Tokens) cost.Draft {
	return cost.Draft{Key: new(demo.ChargeKey(w.beat)), Kind: new(string(cost.LLM)), Model: new(w.Model), Tokens: &cost.TokensDraft{
		Input: new(used.Input), Output: new(used.Output), CacheRead: new(used.CacheRead),
	}}
}

// ask asks for an approval. A person decides after a while.
func (w *seat) ask(ctx context.Context) error {
	asking := demo.AskingFor(w.issue.Title)
	asked, err := w.Leases.RequestApproval(ctx, w.Caller, w.call, approval.Draft{
		ActionName: new(demo.Deploy), Action: new(asking.Action), Reasoning: new(asking.Reasoning), IfDenied: new(asking.IfDenied),
		SideEffects: new(asking.SideEffects), Park: new(w.isLast),
	})
	if err != nil || w.isLast {
		return err
	}
	w.in(w.minutes(3, 20), func(ctx context.Context) error { //nolint:mnd // minutes
		isGranted, err := w.verdict(ctx, asked.ID)
		switch {
		case err != nil:
			return err
		case isGranted:
			w.think()
		default:
			w.in(w.minutes(1, 2), func(ctx context.Context) error { return w.complete(ctx, demo.NotAllowed) }) //nolint:mnd // minutes
		}
		return nil
	})
	return nil
}

func (w *seat) complete(ctx context.Context, summary string) error {
	result, err := json.Marshal(demo.Result(w.issue.Number, summary))
	if err != nil {
		return err
	}
	return w.end(ctx, inbound.LeaseEnd{Action: issue.Complete, Result: result, Note: note(summary)})
}

func (w *seat) end(ctx context.Context, end inbound.LeaseEnd) error {
	_, err := w.Leases.End(ctx, w.Caller, w.call, end)
	return err
}

// leave is the last sitting. It leaves something for whoever looks at the company then: work to review, a question, an approval to
// decide, and issues that wait.
func (o *office) leave(ctx context.Context, begins time.Time) error {
	s := &sitting{office: o, now: begins}
	s.in(0, o.calm)
	free := slices.Clone(o.staff)
	for _, label := range []string{demo.Release, demo.Bug, demo.Decision} {
		task := demo.TaskWith(&o.dice, label)
		at := slices.IndexFunc(free, func(e employee) bool { return e.Agent.Team == task.Team })
		who := &seat{sitting: s, employee: free[at], isLast: true}
		free = slices.Delete(free, at, at+1)
		s.in(0, func(ctx context.Context) error {
			_, err := o.Issues.Create(ctx, people, o.of, issue.Draft{
				Title: new(task.Title), Agent: new(string(who.ID)),
				Settings: issue.Settings{Description: new(task.Description), Labels: new(task.Labels), Priority: new("urgent")},
			}, once)
			return err
		})
		s.in(time.Minute, who.claim)
	}
	for range demo.Backlog {
		s.in(o.minutes(1, 40), func(ctx context.Context) error { return o.file(ctx, demo.NextTask(&o.dice)) }) //nolint:mnd // minutes
	}
	_, err := s.run(ctx)
	return err
}

// calm is what people do before it: nothing that waits is urgent any more, so that agents begin with what is filed then.
func (o *office) calm(ctx context.Context) error {
	waiting := inbound.IssueList{
		Company: o.of, Status: []issue.Status{issue.Queued, issue.Assigned}, Priority: issue.Urgent, Size: seen,
	}
	found, err := o.Issues.List(ctx, people, waiting)
	for _, one := range found.Items {
		patch := issue.Patch{Settings: issue.Settings{Priority: new(string(issue.High))}}
		if _, err = o.Issues.Update(ctx, people, o.of, one.ID, patch, precondition.Match{}); err != nil {
			return err
		}
	}
	return err
}
