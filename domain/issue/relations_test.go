package issue_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/event"
	"holdco/domain/fault/faulttest"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
)

// patch changes the parent and the blockers of an issue of the office, and keeps the result.
func (o *office) patch(which id.Issue, sent issue.Settings) error {
	next, _, err := o.issues[which].Apply(issue.Patch{Settings: sent}, o, later)
	if err == nil {
		o.issues[which] = next
	}
	return err
}

func to(which id.Issue) **string { return new(new(string(which))) }

func by(issues ...id.Issue) *[]string {
	list := []string{}
	for _, which := range issues {
		list = append(list, string(which))
	}
	return &list
}

const (
	isCycle = "dependency_cycle cycle"
	tooDeep = "dependency_cycle too_deep"
)

func TestIssuesAreNestedEightLevelsDeep(t *testing.T) {
	t.Parallel()
	o := &office{}
	eight := o.chain(1, 8)
	for n, want := range map[int]string{6: "", 7: tooDeep} {
		got, err := file(titled(issue.Settings{Parent: to(eight[n])}), o)
		faulttest.Check(t, fmt.Sprintf("a new one below level %d", n+1), err, want)
		if err == nil && got.Parent != eight[n] {
			t.Errorf("%+v", got)
		}
	}
	three := o.chain(11, 13) // takes two levels more below itself
	for n, want := range map[int]string{4: "", 5: tooDeep, 7: tooDeep} {
		faulttest.Check(t, fmt.Sprintf("three levels below level %d", n+1), o.patch(three[0], issue.Settings{Parent: to(eight[n])}), want)
	}
	o.chain(21, 28)
	faulttest.Check(t, "below itself, which is cheaper to say", o.patch(eight[0], issue.Settings{Parent: to(eight[7])}), isCycle)
}

func TestAnIssueIsNotBelowItself(t *testing.T) {
	t.Parallel()
	o := &office{}
	chain := o.chain(1, 3)
	for _, parent := range chain {
		faulttest.Check(t, string(parent), o.patch(chain[0], issue.Settings{Parent: to(parent)}), isCycle)
	}
	faulttest.Check(t, "up", o.patch(chain[2], issue.Settings{Parent: to(chain[0])}), "")
	faulttest.Check(t, "to the top", o.patch(chain[1], issue.Settings{Parent: &noParent}), "")
	faulttest.Check(t, "which was its child", o.patch(chain[0], issue.Settings{Parent: to(chain[1])}), "")
}

func TestNothingGetsBelowWhatIsCancelled(t *testing.T) {
	t.Parallel()
	o := &office{}
	cancelled := o.add(1, issue.Cancelled, "")
	below := o.add(2, issue.Running, cancelled)
	inIt := o.add(3, issue.Queued, below)
	done := o.add(4, issue.Done, "")
	for parent, want := range map[id.Issue]string{
		cancelled: "validation_failed parentId:unknown_value", below: "validation_failed parentId:unknown_value", done: "",
	} {
		_, err := file(titled(issue.Settings{Parent: to(parent)}), o)
		faulttest.Check(t, "a new one", err, want)
		faulttest.Check(t, "another", o.patch(o.add(5, issue.Queued, ""), issue.Settings{Parent: to(parent)}), want)
	}
	faulttest.Check(t, "where it is", o.patch(inIt, issue.Settings{Parent: to(below), Priority: new("low")}), "")
}

func TestAnIssueDoesNotWaitForItself(t *testing.T) {
	t.Parallel()
	o := &office{}
	one, two, three := o.add(1, issue.Queued, ""), o.add(2, issue.Queued, ""), o.add(3, issue.Done, "")
	faulttest.Check(t, "itself", o.patch(one, issue.Settings{BlockedBy: by(one)}), isCycle)
	faulttest.Check(t, "another", o.patch(one, issue.Settings{BlockedBy: by(two)}), "")
	faulttest.Check(t, "what waits for it", o.patch(two, issue.Settings{BlockedBy: by(three, one)}), isCycle)
	faulttest.Check(t, "what is done", o.patch(two, issue.Settings{BlockedBy: by(three)}), "")
	open := o.issues[three]
	open.Status = issue.Queued
	o.issues[three] = open
	faulttest.Check(t, "what waits for it, by another", o.patch(three, issue.Settings{BlockedBy: by(one)}), isCycle)
	faulttest.Check(t, "its parent", o.patch(three, issue.Settings{Parent: to(one)}), "")
}

// wide adds an issue that waits for so many, in one level below it and another, and returns it: that many and eleven in all.
func wide(o *office, from, count int) id.Issue {
	var leaves, level []id.Issue
	for n := range count {
		leaves = append(leaves, o.add(from+n, issue.Queued, ""))
	}
	for some := range slices.Chunk(leaves, 1000) {
		level = append(level, o.add(from+count+len(level), issue.Queued, "", some...))
	}
	return o.add(from+count+len(level), issue.Queued, "", level...)
}

func TestTheSearchForACycleOfBlockersIsBounded(t *testing.T) {
	t.Parallel()
	o := &office{}
	most, more := wide(o, 100, 9_989), o.add(1, issue.Queued, "")
	faulttest.Check(t, "ten thousand", o.patch(o.add(2, issue.Queued, ""), issue.Settings{BlockedBy: by(most)}), "")
	faulttest.Check(t, "one more", o.patch(o.add(3, issue.Queued, ""), issue.Settings{BlockedBy: by(more, most)}),
		"dependency_cycle too_large")

	// What is no longer waited for, and what was before, cannot make a cycle.
	third, other := o.add(4, issue.Queued, "", more, most), o.add(5, issue.Queued, "")
	faulttest.Check(t, "one besides", o.patch(third, issue.Settings{BlockedBy: by(more, most, other)}), "")
	faulttest.Check(t, "fewer", o.patch(third, issue.Settings{BlockedBy: by(most, more)}), "")
}

func TestChangesOfParentsAndBlockersAreRefusedExactlyWhenTheyMakeACycle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := &office{}
		const most = 12
		all := []id.Issue{""}
		for n := 1; n <= most; n++ {
			all = append(all, o.add(n, issue.Queued, ""))
		}
		pick := func(label string, from int) id.Issue { return all[rapid.IntRange(from, most).Draw(t, label)] }
		for range rapid.IntRange(1, 60).Draw(t, "patches") {
			which, after := pick("issue", 1), maps.Clone(o.issues)
			next := after[which]
			var sent issue.Settings
			if rapid.Bool().Draw(t, "parent or blockers") {
				next.Parent = pick("parent", 0)
				if sent.Parent = to(next.Parent); next.Parent == "" {
					sent.Parent = &noParent
				}
			} else {
				next.BlockedBy = nil
				for range rapid.IntRange(0, 3).Draw(t, "blockers") {
					next.BlockedBy = append(next.BlockedBy, pick("blocker", 1))
				}
				sent.BlockedBy = by(next.BlockedBy...)
			}
			after[which] = next
			err := o.patch(which, sent)
			if want := isSound(after); (err == nil) != want {
				t.Fatalf("%s of %+v: %v, want it allowed: %t", which, sent, err, want)
			}
		}
	})
}

// isSound reports whether no issue is below itself or too deep, and none waits for itself.
func isSound(issues map[id.Issue]issue.Issue) bool {
	for which := range issues {
		level := 0
		for at := which; at != ""; at = issues[at].Parent {
			if level++; level > issue.MostDepth {
				return false
			}
		}
		waitsFor := slices.Clone(issues[which].BlockedBy)
		for n := 0; n < len(waitsFor); n++ {
			if waitsFor[n] == which {
				return false
			}
			for _, blocker := range issues[waitsFor[n]].BlockedBy {
				if !slices.Contains(waitsFor, blocker) {
					waitsFor = append(waitsFor, blocker)
				}
			}
		}
	}
	return true
}

func TestARetryBeginsAnew(t *testing.T) {
	t.Parallel()
	for _, from := range []issue.Status{issue.Failed, issue.Cancelled} {
		old := call(from)
		old.Waiting = true
		got, err := old.Again(numbered[id.Issue](9), "token:tok_2", staffed(), later)
		want := issue.Issue{
			ID: numbered[id.Issue](9), Company: acme, Title: "Call", Description: "*Now*", Status: issue.Assigned, Priority: issue.High,
			Parent: numbered[id.Issue](1), Project: numbered[id.Project](1), Goal: numbered[id.Goal](1),
			Agent: ada, AgentTeam: sales, Team: sales, // picked, for it was not named
			BlockedBy: old.BlockedBy, OpenBlockers: 1, FailedBlockers: 1, Labels: old.Labels, PerTask: old.PerTask,
			Attempt: 1, MaxAttempts: 3,
			RequiresReview: true, DueAt: old.DueAt, RetryOf: callID, CreatedBy: "token:tok_2", CreatedAt: later, UpdatedAt: later,
			Version: 1,
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", from, err, diff)
		}
	}
}

func TestARetryGoesToWhomItWasNamedForElseToItsTeamElseToAll(t *testing.T) {
	t.Parallel()
	gone, goneTeam := numbered[id.Agent](9), numbered[id.Team](9)
	for name, c := range map[string]struct {
		binding issue.Binding
		agent   id.Agent
		team    id.Team
		want    issue.Issue
	}{
		"named":                     {issue.Named, eve, "", namedFor(eve, support, "")},
		"named, in its team":        {issue.Named, eve, support, namedFor(eve, support, support)},
		"named, and retired":        {issue.Named, gone, sales, pickedFrom(sales, ada)},
		"named, retired, no team":   {issue.Named, gone, "", openTo("")},
		"kept":                      {issue.Kept, eve, support, openTo(support)},
		"kept, without a team":      {issue.Kept, eve, "", openTo("")},
		"picked":                    {issue.Loose, eve, sales, pickedFrom(sales, ada)},
		"of a team":                 {issue.Loose, "", support, openTo(support)},
		"of a team that was closed": {issue.Loose, "", goneTeam, openTo("")},
		"of all":                    {issue.Loose, "", "", openTo("")},
	} {
		old := call(issue.Failed)
		old.Binding, old.Agent, old.Team = c.binding, c.agent, c.team
		old.AgentTeam = map[id.Agent]id.Team{eve: support, gone: sales}[c.agent]
		got, err := old.Again(numbered[id.Issue](9), "token:tok_2", staffed(), later)
		var whom issue.Issue
		assignTo(&whom, got)
		if diff := cmp.Diff(c.want, whom); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestARetryLeavesWhatIsCancelled(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{1, 3} {
		o := staffed()
		chain := o.chain(11, 13)
		above := o.issues[chain[3-depth]]
		above.Status = issue.Cancelled
		o.issues[above.ID] = above
		old := call(issue.Cancelled)
		old.Parent = chain[2]
		got, err := old.Again(numbered[id.Issue](9), "token:tok_2", o, later)
		if err != nil || got.Parent != "" {
			t.Errorf("%v, %+v", err, got)
		}
	}
}

func TestARetryTakesThePlaceOfWhatItRetries(t *testing.T) {
	t.Parallel()
	one, two, three, nine := numbered[id.Issue](1), numbered[id.Issue](2), numbered[id.Issue](3), numbered[id.Issue](9)
	o := staffed()
	o.add(9, issue.Queued, "")
	for name, c := range map[string]struct {
		before, want []id.Issue
		open         int
	}{
		"alone":                        {[]id.Issue{three}, []id.Issue{nine}, 1},
		"among others":                 {[]id.Issue{one, three, two}, []id.Issue{one, nine, two}, 2},
		"where it was already":         {[]id.Issue{three, one, nine}, []id.Issue{nine, one}, 2},
		"where it was already, before": {[]id.Issue{nine, one, three}, []id.Issue{nine, one}, 2},
	} {
		before := call(issue.Assigned)
		before.BlockedBy, before.OpenBlockers, before.FailedBlockers = slices.Clone(c.before), 7, 1
		got, updated, err := before.Replace(three, nine, o, later)
		want := before
		want.BlockedBy, want.OpenBlockers, want.FailedBlockers, want.UpdatedAt, want.Version = c.want, c.open, 0, later, 8
		if diff := cmp.Diff(want, got) + cmp.Diff(c.before, before.BlockedBy); diff != "" || err != nil || updated == nil {
			t.Errorf("%s: %v, %v\n%s", name, err, updated, diff)
			continue
		}
		var previous []string
		for _, field := range updated.Previous {
			previous = append(previous, field.Name)
		}
		if diff := cmp.Diff([]string{"blockedBy", "openBlockers", "failedBlockers", "updatedAt"}, previous); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		updated.Previous = nil
		checkEvent(t, name, *updated, event.IssueUpdated, want, "")
	}
	same := call(issue.Queued)
	same.BlockedBy, same.OpenBlockers, same.FailedBlockers = []id.Issue{one}, 1, 0
	got, updated, err := same.Replace(three, nine, o, later)
	if diff := cmp.Diff(same, got); diff != "" || err != nil || updated != nil {
		t.Errorf("%v, %v\n%s", err, updated, diff)
	}
}

func TestWhatIsSharedWithAnIssueIsNotChangedByItsMoves(t *testing.T) {
	t.Parallel()
	before, o := call(issue.Failed), staffed()
	retried, err := before.Again(numbered[id.Issue](9), "token:tok_2", o, later)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := retried.Replace(numbered[id.Issue](3), numbered[id.Issue](1), o, later); err != nil {
		t.Fatal(err)
	}
	if _, _, err := retried.Apply(issue.Patch{Settings: issue.Settings{
		Labels: new([]string{"x"}), BlockedBy: ids(1), PerTask: new(new(money.Number("1"))), DueAt: new(new(noon.Add(time.Hour))),
	}}, o, later); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(call(issue.Failed), before); diff != "" {
		t.Error(diff)
	}
}
