package storetest

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/store"
)

var issueRules = anyIssue.rules(slices.Concat(issueListRules, issueDerivedRules, []rule{
	{"no two issues of a company have one number", issueNumberUnique},
	{"numbers are 1, 2, 3 in each company, whoever asks at once", issueNumbers},
	{"above an issue of a company are its ancestors, up to the root", issuesAbove},
	{"the levels below an issue are counted up to a bound", issueLevelsBelow},
	{"the states are those of the issues that the company has", issueStates},
	{"children come in portions oldest first, and say whether they have children", issueChildren},
	{"an agent can be made to abandon its issues that are queued, assigned and running", abandonable},
	{"what waits for an instant is due when that has come, the earliest first", issuesDue},
	{"what an issue costs adds up, whoever charges it at once", issueCharged},
	{"the comments of an issue are its own, newest first", issueComments},
	{"comments are kept to the last byte", commentTexts},
}))

var anyIssue = aggregate[id.Issue, issue.Issue]{
	of:  func(r store.Reader) store.Getter[id.Issue, issue.Issue] { return r.Issues() },
	in:  func(tx store.Tx) store.Repository[id.Issue, issue.Issue] { return tx.Issues() },
	new: func(f *fixture) issue.Issue { return f.newIssue(f.employer()) },
	list: func(f *fixture, size int) pages[issue.Issue] {
		return f.issuePages(store.IssueFilter{Company: f.employer()}, size)
	},
	full: func(f *fixture, i *issue.Issue) {
		at := f.clock.Now()
		i.Description, i.Status, i.Priority, i.Parent = "*Now*", issue.Done, issue.Urgent, "iss_parent"
		i.Agent, i.AgentTeam, i.Binding, i.Team = "agt_some", "tm_some", issue.Named, "tm_other"
		i.Project, i.Goal = "prj_some", "gl_some"
		i.Workflow, i.WorkflowVersion, i.IsContainer, i.Container = "wf_some", 1<<53+1, true, "iss_container"
		i.Place, i.StepKey, i.Gate = 50, "write", issue.ApprovalGate
		i.BlockedBy, i.OpenBlockers, i.FailedBlockers, i.Labels = []id.Issue{"iss_b", "iss_a"}, 2, 1, []string{"two words, \"quoted\"", "a"}
		i.PerTask, i.Spent, i.Attempt, i.MaxAttempts = budget.Of(budget.Most), budget.Most, 21, 20
		i.Repeats = 2
		i.Result, i.Error = `{"n":1e400,"ä":"\u0000"}`, `[null]`
		i.DueAt, i.NotBefore, i.Waiting = at.Add(-time.Hour), at.Add(time.Hour), true
		i.StartedAt, i.FinishedAt, i.RetryOf, i.FencingToken = at.Add(time.Second), at.Add(time.Minute), "iss_old", 1<<53+1
		i.WaitingFor, i.Asking = "apr_some", true
		i.UpdatedAt, i.Version = at.Add(time.Minute), 1<<53+1
	},
	edit: func(f *fixture, i *issue.Issue) {
		at := f.clock.Now()
		i.Company, i.Number, i.RetryOf, i.CreatedBy, i.CreatedAt = "cmp_other", i.Number+1000, "iss_other", "user:other", at.Add(time.Hour)
		i.Title, i.Description, i.Status, i.Priority, i.Parent = "New", "", issue.Handoff, issue.Low, ""
		i.Agent, i.AgentTeam, i.Binding, i.Team = "", "", issue.Loose, ""
		i.Project, i.Goal = "", ""
		i.Workflow, i.WorkflowVersion, i.IsContainer, i.Container = "wf_other", 7, true, "iss_other"
		i.Place, i.StepKey, i.Gate = 7, "other", issue.ReviewGate
		i.BlockedBy, i.OpenBlockers, i.FailedBlockers, i.Labels = []id.Issue{"iss_c"}, 1, 0, []string{"a"}
		i.PerTask, i.Spent, i.Attempt, i.MaxAttempts, i.RequiresReview = budget.Limit{}, 0, 1, 1, false
		i.Repeats = 0
		i.Result, i.Error, i.DueAt, i.NotBefore, i.Waiting = "", "", time.Time{}, time.Time{}, false
		i.StartedAt, i.FinishedAt, i.FencingToken, i.UpdatedAt = time.Time{}, time.Time{}, 7, at.Add(time.Hour)
		i.WaitingFor, i.Asking = "", false
	},
	permanent: []string{
		"Company", "Number", "RetryOf", "CreatedBy", "CreatedAt", "Workflow", "WorkflowVersion", "IsContainer", "Container", "Place",
		"StepKey", "Gate",
	},
	texts: func(i *issue.Issue, text string) {
		i.Title, i.Description, i.Result, i.Error = text, text, text, text
		if i.Labels = []string{"other"}; utf8.RuneCountInString(text) <= issue.LabelLength {
			i.Labels = []string{text, "other"}
		}
	},
}

// newIssue makes an issue that is in no store yet.
func (f *fixture) newIssue(of id.Company) issue.Issue {
	f.Helper()
	uuid := f.ids.UUIDv7()
	made, err := issue.New(id.New[id.Issue](uuid), of, issue.Draft{Title: new("Call")}, actor, nil, f.clock.Now())
	f.ok(err)
	made.Number = int64(binary.BigEndian.Uint64(uuid[8:]) &^ (1 << 63))
	return made
}

func filing(issues ...issue.Issue) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		for _, i := range issues {
			if err := tx.Issues().Add(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
}

// files adds so many new issues of a company, each altered.
func (f *fixture) files(of id.Company, count int, alter func(n int, i *issue.Issue)) []issue.Issue {
	f.Helper()
	made := make([]issue.Issue, count)
	for n := range made {
		made[n] = f.newIssue(of)
		alter(n, &made[n])
	}
	for some := range slices.Chunk(made, 50) { // a unit must not take long
		f.update(filing(some...))
	}
	return made
}

// someIssue adds two issues with a comment and what is derived from them, and a settlement.
func someIssue(f *fixture, of id.Company) unit {
	blocker, blocked := f.newIssue(of), f.newIssue(of)
	blocker.Status, blocker.FinishedAt = issue.Done, f.clock.Now()
	blocked.BlockedBy, blocked.Labels, blocked.Agent, blocked.Team = []id.Issue{blocker.ID}, []string{"a"}, "agt_some", "tm_some"
	comment, settlement := f.newComment(blocked), f.newSettlement(of)
	return func(ctx context.Context, tx store.Tx) error {
		if err := filing(blocker, blocked)(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Issues().NextNumber(ctx, of); err != nil {
			return err
		}
		if err := tx.Issues().AddComment(ctx, comment); err != nil {
			return err
		}
		return tx.Settlements().Add(ctx, settlement)
	}
}

func (f *fixture) newComment(on issue.Issue) issue.Comment {
	return issue.Comment{
		ID: id.New[id.Comment](f.ids.UUIDv7()), Company: on.Company, Issue: on.ID, Author: actor, Body: "Why?", CreatedAt: f.clock.Now(),
	}
}

func commenting(said issue.Comment) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Issues().AddComment(ctx, said)
	}
}

func issueIDs(of []issue.Issue) []id.Issue {
	list := make([]id.Issue, len(of))
	for n, i := range of {
		list[n] = i.ID
	}
	return list
}

func (f *fixture) issueWrites() map[string]writeCase {
	acme := f.found("with-issues")
	kept, newcomer := f.newIssue(acme.ID), f.newIssue(acme.ID)
	f.update(filing(kept))
	lock := func(ctx context.Context, tx store.Tx) (issue.Issue, error) { return tx.Issues().Lock(ctx, kept.ID) }
	return map[string]writeCase{
		"Issues.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Issues.Add":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Issues().Add(ctx, newcomer) }},
		"Issues.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			locked.Title, locked.Version = "New", locked.Version+1
			return tx.Issues().Save(ctx, locked)
		}},
		"Issues.NextNumber": {changes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Issues().NextNumber(ctx, acme.ID)
			return err
		}},
		"Issues.AddComment": {changes, func(ctx context.Context, tx store.Tx) error {
			return tx.Issues().AddComment(ctx, f.newComment(kept))
		}},
	}
}

func issueCharged(f *fixture) {
	of := f.found("charged").ID
	working, idle := f.newAgent(of, "tm_some"), f.newAgent(of, "tm_some")
	f.update(hiring(working))
	f.update(hiring(idle))
	filed := f.files(of, 2, func(_ int, i *issue.Issue) { i.Status, i.Spent = issue.Running, 7 })
	charged, other := filed[0], filed[1]
	charged.Spent, other.Spent = 0, 0
	anyIssue.is(f, charged)

	r := f.newRun(of, charged.ID)
	r.Agent = working.ID
	f.update(starting(r))
	charge := func(n int) error {
		made := f.newCharge(r, fmt.Sprint("key ", n))
		made.USD = 3
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			if err := tx.Turn(ctx, of); err != nil {
				return err
			}
			return charging(made)(ctx, tx)
		})
	}
	f.exactly(together(crowd, charge), map[fault.Code]int{"": crowd})
	charged.Spent, working.Stats.Spent = 3*crowd, 3*crowd
	anyIssue.is(f, charged)
	anyIssue.is(f, other)
	anyAgent.is(f, working)
	anyAgent.is(f, idle)

	charged = anyIssue.edited(f, charged, func(i *issue.Issue) { i.Title, i.Spent = "Edited while it was charged", 1 })
	charged.Spent = 3 * crowd
	anyIssue.is(f, charged)

	// A unit that charges once more, and ends what is running.
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		before, err := tx.Issues().Lock(ctx, charged.ID)
		if err != nil {
			return err
		}
		last := f.newCharge(r, "last")
		last.USD = 2
		if err := charging(last)(ctx, tx); err != nil {
			return err
		}
		if charged, err = tx.Issues().Lock(ctx, charged.ID); err != nil {
			return err
		}
		f.same(charged.Spent, before.Spent+2)
		charged.Status, charged.Version = issue.Done, charged.Version+1
		return tx.Issues().Save(ctx, charged)
	})
	working.Stats.Spent += 2
	f.same(charged.Spent, money.USD(3*crowd+2))
	anyIssue.is(f, charged)
	working = anyAgent.edited(f, working, func(a *agent.Agent) { a.Stats.Spent = 1 })
	working.Stats.Spent = 3*crowd + 2
	anyAgent.is(f, working)
}

func issueNumberUnique(f *fixture) {
	kept, twin := anyIssue.add(f), anyIssue.new(f)
	twin.Number = kept.Number
	f.refused(fault.Internal, filing(twin))
	twin.Company = f.found("other").ID
	f.update(filing(twin))
	anyIssue.is(f, kept)
	anyIssue.is(f, twin)
}

// issueNumbers files issues in two companies at once, in units of which every fourth gives up.
func issueNumbers(f *fixture) {
	companies := []id.Company{f.found("one").ID, f.found("two").ID}
	var kept sync.Mutex
	numbers := map[id.Company][]int64{}
	const rounds = 4
	f.exactly(together(crowd, func(n int) error {
		of := companies[n%2]
		for round := range rounds {
			made := f.newIssue(of)
			err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) (err error) {
				if err := tx.Turn(ctx, of); err != nil {
					return err
				}
				if made.Number, err = tx.Issues().NextNumber(ctx, of); err != nil {
					return err
				}
				if (n+round)%4 == 0 {
					return errGivenUp
				}
				return filing(made)(ctx, tx)
			})
			if (n+round)%4 == 0 {
				if !errors.Is(err, errGivenUp) {
					return err
				}
				continue
			}
			if err != nil {
				return err
			}
			kept.Lock()
			numbers[of] = append(numbers[of], made.Number)
			kept.Unlock()
		}
		return nil
	}), map[fault.Code]int{"": crowd})
	for _, of := range companies {
		slices.Sort(numbers[of])
		var want []int64
		for n := range crowd / 2 * rounds * 3 / 4 {
			want = append(want, int64(n+1))
		}
		f.same(numbers[of], want)
	}
}

// nested adds issues of a company, each below the one before.
func (f *fixture) nested(of id.Company, count int) []issue.Issue {
	f.Helper()
	var parent id.Issue
	return f.files(of, count, func(n int, i *issue.Issue) {
		i.Parent, i.Status = parent, issue.Statuses[n%len(issue.Statuses)]
		parent = i.ID
	})
}

func issuesAbove(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	chain := f.nested(acme, issue.MostDepth)
	for n := range chain {
		var want []issue.Ancestor
		for _, above := range slices.Backward(chain[:n+1]) {
			want = append(want, issue.Ancestor{ID: above.ID, Status: above.Status})
		}
		got, err := f.store.Issues().Above(f.ctx, acme, chain[n].ID)
		f.ok(err)
		f.same(got, want)
	}
	launch := anyProject.add(f, func(p *goal.Project) { p.Status = goal.Archived })
	anyIssue.edited(f, chain[0], func(i *issue.Issue) { i.Project = launch.ID })
	got, err := f.store.Issues().Above(f.ctx, acme, chain[1].ID)
	f.ok(err)
	f.same(got, []issue.Ancestor{{ID: chain[1].ID, Status: chain[1].Status}, {ID: chain[0].ID, Status: chain[0].Status, IsEnding: true}})
	for of, which := range map[id.Company]id.Issue{other: chain[7].ID, acme: "iss_none", "": chain[7].ID} {
		got, err := f.store.Issues().Above(f.ctx, of, which)
		f.ok(err)
		f.same(got, []issue.Ancestor(nil))
	}
}

func issueLevelsBelow(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	chain := f.nested(acme, 4)
	f.files(acme, 3, func(_ int, i *issue.Issue) { i.Parent = chain[0].ID }) // which are not as deep
	levels := func(of id.Company, which id.Issue, most, want int) {
		f.Helper()
		got, err := f.store.Issues().LevelsBelow(f.ctx, of, which, most)
		f.ok(err)
		f.same(got, want)
	}
	for n := range chain {
		levels(acme, chain[n].ID, 8, 3-n)
	}
	for most := 1; most <= 4; most++ {
		levels(acme, chain[0].ID, most, min(most, 3))
	}
	levels(other, chain[0].ID, 8, 0)
	levels(acme, "iss_none", 8, 0)
}

func issueStates(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	of := func(n int, i *issue.Issue) { i.Status = issue.Statuses[n] }
	ours, theirs := f.files(acme, len(issue.Statuses), of), f.files(other, len(issue.Statuses), of)
	asked := append(issueIDs(append(ours[1:len(ours):len(ours)], theirs...)), "iss_none", "", ours[1].ID)
	want := map[id.Issue]issue.Status{}
	for n, i := range ours[1:] {
		want[i.ID] = issue.Statuses[n+1]
	}
	got, err := f.store.Issues().States(f.ctx, acme, asked)
	f.ok(err)
	f.same(got, want)
	got, err = f.store.Issues().States(f.ctx, acme, nil)
	f.ok(err)
	f.same(got, map[id.Issue]issue.Status{})
}

func issueChildren(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	parent := f.files(acme, 1, func(int, *issue.Issue) {})[0].ID
	const count = 2*store.Portion + 50
	made := f.files(acme, count, func(n int, i *issue.Issue) {
		i.Parent, i.Status = parent, issue.Statuses[n%len(issue.Statuses)]
		i.CreatedAt = i.CreatedAt.Add(-time.Duration(n/3) * time.Millisecond) // several in one instant
	})
	f.files(acme, 3, func(n int, i *issue.Issue) { i.Parent = made[n*2].ID })
	f.files(other, 1, func(_ int, i *issue.Issue) { i.Parent = made[1].ID })
	parents := []id.Issue{made[0].ID, made[2].ID, made[4].ID}
	slices.SortStableFunc(made, func(a, b issue.Issue) int { return a.CreatedAt.Compare(b.CreatedAt) })
	var want []store.Child
	for _, i := range made {
		want = append(want, store.Child{ID: i.ID, Status: i.Status, IsParent: slices.Contains(parents, i.ID)})
	}
	var got []store.Child
	after := id.Issue("")
	for _, length := range []int{store.Portion, store.Portion, 50, 0} {
		portion, err := f.store.Issues().Children(f.ctx, acme, parent, after)
		f.ok(err)
		f.same(len(portion), length)
		if got = append(got, portion...); length > 0 {
			after = portion[length-1].ID
		}
	}
	f.same(got, want)
	none, err := f.store.Issues().Children(f.ctx, other, parent, "")
	f.ok(err)
	f.same(len(none), 0)
}

func abandonable(f *fixture) {
	acme := f.found("acme").ID
	made := f.files(acme, 3*len(issue.Statuses), func(n int, i *issue.Issue) {
		i.Agent, i.Status = []id.Agent{"agt_a", "agt_b", ""}[n%3], issue.Statuses[n/3]
	})
	are := func(of id.Agent, want []id.Issue) {
		f.Helper()
		got, err := f.store.Issues().Abandonable(f.ctx, of, "")
		f.ok(err)
		f.same(got, want)
	}
	are("agt_a", []id.Issue{made[0].ID, made[3].ID, made[6].ID})
	are("agt_b", []id.Issue{made[1].ID, made[4].ID, made[7].ID})
	are("agt_none", nil)
	many := f.files(acme, store.Portion+7, func(_ int, i *issue.Issue) { i.Agent = "agt_c" })
	last := many[store.Portion-1].ID
	are("agt_c", issueIDs(many[:store.Portion]))
	anyIssue.edited(f, many[3], func(i *issue.Issue) { i.Agent = "" })
	anyIssue.edited(f, many[4], func(i *issue.Issue) { i.Status = issue.Cancelled })
	are("agt_c", issueIDs(slices.Delete(many[:store.Portion+2], 3, 5)))
	rest, err := f.store.Issues().Abandonable(f.ctx, "agt_c", last)
	f.ok(err)
	f.same(len(rest), 7)
}

func issuesDue(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	at := f.clock.Now()
	due := func(want ...issue.Issue) {
		f.Helper()
		var list []store.DueIssue
		for _, i := range want {
			list = append(list, store.DueIssue{ID: i.ID, Company: i.Company})
		}
		got, err := f.store.Issues().Due(f.ctx, at)
		f.ok(err)
		f.same(got, list)
	}
	due()
	made := f.files(acme, 6, func(n int, i *issue.Issue) {
		i.NotBefore, i.Waiting = at.Add(time.Duration(1-n)*time.Millisecond), n < 4
	})
	theirs := f.files(other, 1, func(_ int, i *issue.Issue) { i.NotBefore, i.Waiting = at.Add(-time.Hour), true })
	gone := f.found("gone", func(c *company.Company) { c.Status = company.Deleting }).ID
	f.files(gone, 1, func(_ int, i *issue.Issue) { i.NotBefore, i.Waiting = at.Add(-2*time.Hour), true })
	due(theirs[0], made[3], made[2], made[1])
	anyIssue.edited(f, made[3], func(i *issue.Issue) { i.Waiting = false })
	due(theirs[0], made[2], made[1])
	f.files(acme, store.Portion, func(_ int, i *issue.Issue) { i.NotBefore, i.Waiting = at, true })
	got, err := f.store.Issues().Due(f.ctx, at)
	f.ok(err)
	f.same(len(got), store.Portion)
	f.same(got[:2], []store.DueIssue{{ID: theirs[0].ID, Company: other}, {ID: made[2].ID, Company: acme}})
}

func issueComments(f *fixture) {
	acme := f.found("acme").ID
	ours := f.files(acme, 3, func(int, *issue.Issue) {})
	comments := func(on id.Issue, size int) pages[issue.Comment] {
		return func(after page.Position) (page.Page[issue.Comment], error) {
			return f.store.Issues().Comments(f.ctx, on, after, size)
		}
	}
	want := map[id.Issue][]issue.Comment{}
	say := func(n int) {
		made := f.newComment(ours[n%2])
		made.Author, made.Explains = event.Actor("user:"+string(made.ID)), []issue.Action{"", issue.Reject}[n%2]
		f.update(commenting(made))
		want[made.Issue] = append([]issue.Comment{made}, want[made.Issue]...)
	}
	f.severally(say)
	for range page.DefaultSize {
		say(0)
	}
	for _, which := range append(slices.Collect(maps.Keys(want)), ours[2].ID) {
		list := want[which]
		slices.SortFunc(list, func(a, b issue.Comment) int {
			return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
		})
		for _, size := range []int{1, 3, page.DefaultSize} {
			f.same(walk(f, size, comments(which, size)), list)
		}
	}
	steady(f, 2, comments(ours[0].ID, 2), func(c issue.Comment) string { return string(c.ID) }, func() {
		f.clock.Advance(time.Millisecond)
		say(0)
	})
}

func commentTexts(f *fixture) {
	i := anyIssue.add(f)
	for _, text := range slices.Concat(texts, longTexts) {
		f.clock.Advance(time.Millisecond)
		made := f.newComment(i)
		made.Body = text
		f.update(commenting(made))
		got, err := f.store.Issues().Comments(f.ctx, i.ID, page.Position{}, 1)
		f.ok(err)
		f.same(got.Items, []issue.Comment{made})
	}
}
