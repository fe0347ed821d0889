package storetest

import (
	"context"
	"slices"
	"time"

	"holdco/domain/approval"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
)

var approvalRules = anyApproval.rules([]rule{
	{"a list has the approvals of a company that meet every condition", approvalsListed},
	{"pages of several states neither skip nor repeat", approvalsMerged},
	{"the approvals on an issue are the newest of all its runs", approvalsOnIssue},
	{"the last that was approved is that of the agent, of the action and on the issue", lastApproved},
	{"the open approvals on an issue are locked, oldest first", openApprovals},
	{"open approvals whose time is over are overdue, the earliest first", overdueApprovals},
	{"of some approvals those that are pending are known", pendingApprovals},
	{"an approval that is no longer pending raises the work revision", decisionRaises},
	{"the comments on an approval are its own, oldest first", approvalComments},
	{"a rule reads back, and is gone once it is removed", approvalRuleKept},
	{"the rules of a company are listed and counted", approvalRulesListed},
	{"the rules for an agent are its own, those of its team, and those for all", approvalRulesFor},
})

var anyApproval = aggregate[id.Approval, approval.Approval]{
	of:  func(r store.Reader) store.Getter[id.Approval, approval.Approval] { return r.Approvals() },
	in:  func(tx store.Tx) store.Repository[id.Approval, approval.Approval] { return tx.Approvals() },
	new: func(f *fixture) approval.Approval { return f.newApproval(f.employer()) },
	list: func(f *fixture, size int) pages[approval.Approval] {
		return f.approvalPages(store.ApprovalFilter{Company: f.employer()}, size)
	},
	full: func(f *fixture, a *approval.Approval) {
		at := f.clock.Now()
		a.Team, a.Reasoning, a.IfDenied, a.SideEffects = "tm_some", "Why", "Wait", []string{"two words, \"quoted\"", "a"}
		a.Cost = approval.Cost{USD: budget.Of(budget.Most), Tokens: 1<<53 + 1}
		a.Status, a.Edits, a.Note, a.Parked, a.Comments = approval.ApprovedWithEdits, `{"n":1e400}`, "*Fine*", true, 7
		a.DecidedBy, a.DecidedAt, a.Version = "rule:apl_some", at.Add(time.Second), 1<<53+1
	},
	edit: func(f *fixture, a *approval.Approval) {
		at := f.clock.Now()
		a.Company, a.Issue, a.Run, a.Agent, a.Team = "cmp_other", "iss_other", "run_other", "agt_other", "tm_other"
		a.ActionName, a.Action, a.Reasoning, a.IfDenied, a.SideEffects = "other", "Other", "Other", "Other", []string{"b"}
		a.Cost, a.Parked, a.CreatedAt = approval.Cost{}, false, at.Add(time.Hour)
		a.Status, a.Edits, a.Note, a.Comments, a.DecidedBy = approval.AskedQuestion, "", "", 8, ""
		a.ExpiresAt, a.DecidedAt = at.Add(9*time.Hour), time.Time{}
	},
	permanent: []string{
		"Company", "Issue", "Run", "Agent", "Team", "ActionName", "Action", "Reasoning", "IfDenied", "SideEffects", "IsSet", "USD",
		"Tokens", "Parked", "CreatedAt",
	},
	texts: func(a *approval.Approval, text string) { a.Edits, a.Note, a.DecidedBy = text, text, text },
}

// newApproval makes an approval that is in no store yet, on an issue of its own.
func (f *fixture) newApproval(of id.Company) approval.Approval {
	f.Helper()
	by := f.newRun(of, id.New[id.Issue](f.ids.UUIDv7()))
	draft := approval.Draft{ActionName: new("deploy"), Action: new("Deploy")}
	made, _, err := approval.New(id.New[id.Approval](f.ids.UUIDv7()), by, "", 0, draft, f.clock.Now())
	f.ok(err)
	return made
}

// asks adds so many new approvals of a company, each altered, a millisecond apart.
func (f *fixture) asks(of id.Company, count int, alter func(n int, a *approval.Approval)) []approval.Approval {
	f.Helper()
	made := make([]approval.Approval, count)
	for n := range made {
		f.clock.Advance(time.Millisecond)
		made[n] = f.newApproval(of)
		alter(n, &made[n])
	}
	f.update(askingFor(made...))
	return made
}

func askingFor(made ...approval.Approval) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		for _, one := range made {
			if err := tx.Approvals().Add(ctx, one); err != nil {
				return err
			}
		}
		return nil
	}
}

func (f *fixture) newApprovalComment(on approval.Approval) approval.Comment {
	return approval.Comment{
		ID: id.New[id.Comment](f.ids.UUIDv7()), Company: on.Company, Approval: on.ID, Author: actor, Body: "Why?", CreatedAt: f.clock.Now(),
	}
}

func saying(made approval.Comment) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Approvals().AddComment(ctx, made)
	}
}

func (f *fixture) newApprovalRule(of id.Company) approval.Rule {
	return approval.Rule{
		ID: id.New[id.ApprovalRule](f.ids.UUIDv7()), Company: of, ActionName: "deploy.*", Decision: approval.Deny, CreatedBy: actor,
		CreatedAt: f.clock.Now(),
	}
}

func ruling(made approval.Rule) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.ApprovalRules().Add(ctx, made)
	}
}

// someApproval adds an approval with a comment, and a rule.
func someApproval(f *fixture, of id.Company) unit {
	made, ruled := f.newApproval(of), f.newApprovalRule(of)
	comment := f.newApprovalComment(made)
	return func(ctx context.Context, tx store.Tx) error {
		for _, step := range []unit{askingFor(made), saying(comment), ruling(ruled)} {
			if err := step(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
}

func (f *fixture) approvalWrites() map[string]writeCase {
	acme := f.found("with-approvals")
	kept, newcomer := anyApproval.add(f), f.newApproval(acme.ID)
	comment := f.newApprovalComment(kept)
	ruled, another := f.newApprovalRule(acme.ID), f.newApprovalRule(acme.ID)
	f.update(ruling(ruled))
	lock := func(ctx context.Context, tx store.Tx) (approval.Approval, error) {
		return tx.Approvals().Lock(ctx, kept.ID)
	}
	return map[string]writeCase{
		"Approvals.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Approvals.LockOpen": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Approvals().LockOpen(ctx, kept.Issue)
			return err
		}},
		"Approvals.Add": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Approvals().Add(ctx, newcomer) }},
		"Approvals.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			next, _ := locked.Expire(f.clock.Now())
			return tx.Approvals().Save(ctx, next)
		}},
		"Approvals.AddComment": {changes, func(ctx context.Context, tx store.Tx) error {
			return tx.Approvals().AddComment(ctx, comment)
		}},
		"ApprovalRules.Lock": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.ApprovalRules().Lock(ctx, ruled.ID)
			return err
		}},
		"ApprovalRules.Add": {changes, func(ctx context.Context, tx store.Tx) error { return tx.ApprovalRules().Add(ctx, another) }},
		"ApprovalRules.Remove": {changes, func(ctx context.Context, tx store.Tx) error {
			return tx.ApprovalRules().Remove(ctx, ruled.ID)
		}},
	}
}

func (f *fixture) approvalPages(filter store.ApprovalFilter, size int) pages[approval.Approval] {
	return func(after page.Position) (page.Page[approval.Approval], error) {
		return f.store.Approvals().List(f.ctx, filter, after, size)
	}
}

var approvalStates = []approval.Status{
	approval.Pending, approval.AskedQuestion, approval.Approved, approval.ApprovedWithEdits, approval.Denied, approval.Expired,
}

func approvalsListed(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	begins := f.clock.Now()
	all := f.asks(acme, 24, func(n int, a *approval.Approval) {
		a.Status = approvalStates[n%len(approvalStates)]
		a.Agent, a.Team = []id.Agent{"agt_a", "agt_b"}[n%2], []id.Team{"tm_a", "tm_b", "tm_c"}[n%3]
		a.Issue = []id.Issue{"iss_a", "iss_b"}[n/12]
	})
	f.asks(other, 3, func(_ int, a *approval.Approval) { a.Agent, a.Team, a.Issue = "agt_a", "tm_a", "iss_a" })
	slices.Reverse(all)
	since, until := begins.Add(5*time.Millisecond), begins.Add(20*time.Millisecond)
	for _, filter := range []store.ApprovalFilter{
		{}, {Status: []approval.Status{approval.Pending}}, {Status: []approval.Status{approval.Pending, approval.Denied}},
		{Status: []approval.Status{approval.Pending, approval.Pending}}, {Agent: "agt_a"}, {Team: "tm_b"}, {Issue: "iss_b"},
		{Since: since}, {Until: until}, {Agent: "agt_none"},
		{Agent: "agt_b", Team: "tm_a", Issue: "iss_a", Status: approvalStates, Since: since, Until: until},
	} {
		filter.Company = acme
		var want []approval.Approval
		for _, a := range all {
			isIn := (filter.Status == nil || slices.Contains(filter.Status, a.Status)) && (filter.Agent == "" || filter.Agent == a.Agent) &&
				(filter.Team == "" || filter.Team == a.Team) && (filter.Issue == "" || filter.Issue == a.Issue) &&
				!a.CreatedAt.Before(filter.Since) && (filter.Until.IsZero() || a.CreatedAt.Before(filter.Until))
			if isIn {
				want = append(want, a)
			}
		}
		for _, size := range []int{1, 3, page.DefaultSize} {
			f.same(walk(f, size, f.approvalPages(filter, size)), want)
		}
	}
}

func approvalsMerged(f *fixture) {
	acme := f.found("acme").ID
	filter := store.ApprovalFilter{Company: acme, Status: []approval.Status{approval.Pending, approval.Denied}}
	f.asks(acme, 20, func(n int, a *approval.Approval) { a.Status = filter.Status[n%2] })
	steady(f, 3, f.approvalPages(filter, 3), func(one approval.Approval) string { return string(one.ID) }, func() {
		f.asks(acme, 1, func(int, *approval.Approval) {})
	})
}

func approvalsOnIssue(f *fixture) {
	acme := f.found("acme").ID
	all := f.asks(acme, 6, func(n int, a *approval.Approval) {
		a.Issue, a.Status = []id.Issue{"iss_a", "iss_b"}[n%2], approvalStates[n]
	})
	got, err := f.store.Approvals().OnIssue(f.ctx, "iss_a", 2)
	f.ok(err)
	f.same(got, []approval.Approval{all[4], all[2]})
}

func lastApproved(f *fixture) {
	acme := f.found("acme").ID
	all := f.asks(acme, 9, func(n int, a *approval.Approval) {
		a.Issue, a.Agent, a.ActionName, a.Status = "iss_a", "agt_a", "deploy", approval.Approved
		switch n {
		case 3:
			a.Status = approval.ApprovedWithEdits
		case 4:
			a.Issue = "iss_b"
		case 5:
			a.Agent = "agt_b"
		case 6:
			a.ActionName = "deploy.all"
		case 7:
			a.Status = approval.Denied
		case 8:
			a.Status = approval.Pending
		}
	})
	got, err := f.store.Approvals().LastApproved(f.ctx, "iss_a", "agt_a", "deploy")
	f.ok(err)
	f.same(got, all[3])
	_, err = f.store.Approvals().LastApproved(f.ctx, "iss_a", "agt_a", "other")
	f.code(err, fault.NotFound)
}

func openApprovals(f *fixture) {
	acme := f.found("acme").ID
	all := f.asks(acme, 7, func(n int, a *approval.Approval) {
		a.Issue = "iss_a"
		if a.Status = approval.Pending; n < len(approvalStates) {
			a.Status = approvalStates[n]
		}
	})
	f.asks(acme, 1, func(_ int, a *approval.Approval) { a.Issue = "iss_b" })
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		got, err := tx.Approvals().LockOpen(ctx, "iss_a")
		if err != nil {
			return err
		}
		f.same(got, []approval.Approval{all[0], all[1], all[6]})
		for _, one := range got {
			next, _ := one.Expire(f.clock.Now())
			if err := tx.Approvals().Save(ctx, next); err != nil {
				return err
			}
		}
		got, err = tx.Approvals().LockOpen(ctx, "iss_a")
		f.same(got, []approval.Approval{})
		return err
	})
}

func overdueApprovals(f *fixture) {
	acme := f.found("acme").ID
	gone := f.found("gone", func(c *company.Company) { c.Status = company.Deleting }).ID
	at := f.clock.Now().Add(time.Hour)
	made := f.asks(acme, 6, func(n int, a *approval.Approval) {
		a.ExpiresAt = at.Add(-time.Duration(n) * time.Minute)
		switch n {
		case 1:
			a.Status = approval.AskedQuestion
		case 2:
			a.Status = approval.Expired
		case 3:
			a.ExpiresAt = at.Add(time.Millisecond)
		}
	})
	f.asks(gone, 1, func(_ int, a *approval.Approval) { a.ExpiresAt = at })
	got, err := f.store.Approvals().Overdue(f.ctx, at)
	f.ok(err)
	var want []store.OpenApproval
	for _, n := range []int{5, 4, 1, 0} {
		want = append(want, store.OpenApproval{ID: made[n].ID, Company: acme})
	}
	f.same(got, want)
	f.asks(acme, store.Portion, func(_ int, a *approval.Approval) { a.ExpiresAt = at })
	got, err = f.store.Approvals().Overdue(f.ctx, at)
	f.ok(err)
	f.same(len(got), store.Portion)
}

func pendingApprovals(f *fixture) {
	acme := f.found("acme").ID
	var all, want []id.Approval
	for n, one := range f.asks(acme, store.Portion+10, func(n int, a *approval.Approval) {
		a.Status = approvalStates[n%len(approvalStates)]
	}) {
		all = append(all, one.ID)
		if n%len(approvalStates) == 0 {
			want = append(want, one.ID)
		}
	}
	got, err := f.store.Approvals().Pending(f.ctx, append(all, "apr_none"))
	f.ok(err)
	slices.Sort(got)
	slices.Sort(want)
	f.same(got, want)
	got, err = f.store.Approvals().Pending(f.ctx, nil)
	f.ok(err)
	f.same(got, []id.Approval{})
}

func decisionRaises(f *fixture) {
	acme := f.employer()
	one := anyApproval.add(f)
	raised := make(chan struct{}, 1)
	f.store.Raised(raised)
	last := int64(0)
	saves := func(status approval.Status, raises bool) {
		f.Helper()
		one = anyApproval.edited(f, one, func(a *approval.Approval) { a.Status = status })
		revisions, err := f.store.Issues().Revisions(f.ctx, []id.Company{acme})
		f.ok(err)
		if got := revisions[acme] > last; got != raises {
			f.Errorf("%s: whether it raised the revision: %t", status, got)
		}
		last = revisions[acme]
		select {
		case <-raised:
			f.same(raises, true)
		default:
			f.same(raises, false)
		}
	}
	saves(approval.Pending, false)
	saves(approval.AskedQuestion, true)
	saves(approval.Pending, false)
	saves(approval.Expired, true)
}

func approvalComments(f *fixture) {
	one, other := anyApproval.add(f), anyApproval.add(f)
	var want []approval.Comment
	for n := range 5 {
		made := f.newApprovalComment(one)
		made.Body = texts[n%len(texts)]
		f.update(saying(made))
		want = append(want, made)
		f.update(saying(f.newApprovalComment(other)))
		f.clock.Advance(time.Millisecond)
	}
	got, err := f.store.Approvals().Comments(f.ctx, one.ID)
	f.ok(err)
	f.same(got, want)
}

func approvalRuleKept(f *fixture) {
	acme := f.found("acme").ID
	bare, full := f.newApprovalRule(acme), f.newApprovalRule(acme)
	full.ActionName, full.Agent, full.Team, full.MaxUSD = texts[0], "agt_some", "tm_some", budget.Of(budget.Most)
	full.Decision, full.ExpiresAt = approval.Approve, f.clock.Now().Add(time.Hour)
	for _, one := range []approval.Rule{bare, full} {
		f.update(ruling(one))
	}
	for _, one := range []approval.Rule{bare, full} {
		got, err := f.store.ApprovalRules().Get(f.ctx, one.ID)
		f.ok(err)
		f.same(got, one)
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			locked, err := tx.ApprovalRules().Lock(ctx, one.ID)
			if err != nil {
				return err
			}
			f.same(locked, one)
			return tx.ApprovalRules().Remove(ctx, one.ID)
		})
		_, err = f.store.ApprovalRules().Get(f.ctx, one.ID)
		f.code(err, fault.NotFound)
	}
}

func approvalRulesListed(f *fixture) {
	acme := f.found("acme").ID
	f.update(ruling(f.newApprovalRule(f.found("other").ID)))
	var want []approval.Rule
	for range 5 {
		one := f.newApprovalRule(acme)
		f.update(ruling(one))
		want = append([]approval.Rule{one}, want...)
		f.clock.Advance(time.Millisecond)
	}
	f.same(walk(f, 2, func(after page.Position) (page.Page[approval.Rule], error) {
		return f.store.ApprovalRules().List(f.ctx, acme, after, 2)
	}), want)
	count, err := f.store.ApprovalRules().Count(f.ctx, acme)
	f.ok(err)
	f.same(count, len(want))
}

func approvalRulesFor(f *fixture) {
	acme := f.found("acme").ID
	f.update(ruling(f.newApprovalRule(f.found("other").ID)))
	var all []id.ApprovalRule
	for n := range 5 {
		one := f.newApprovalRule(acme)
		one.Agent, one.Team = []id.Agent{"", "agt_a", "", "agt_b", ""}[n], []id.Team{"", "", "tm_a", "", "tm_b"}[n]
		f.update(ruling(one))
		all = append(all, one.ID)
	}
	found, err := f.store.ApprovalRules().For(f.ctx, acme, "agt_a", "tm_a")
	f.ok(err)
	var got []id.ApprovalRule
	for _, one := range found {
		got = append(got, one.ID)
	}
	slices.Sort(got)
	f.same(got, all[:3])
}
