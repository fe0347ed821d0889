package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/store"
)

var issueDerivedRules = []rule{
	{"random changes leave what is derived from issues as if it were derived anew", issueHistories},
	{"a unit reads the counts that it changed", talliesOfUnit},
	{"work is raised when an issue becomes claimable or is so for others, and not otherwise", workRevision},
	{"what waits for a blocker is found while that is open, in portions by their ids", issueDependents},
	{"the blockers of many issues are found, each once", issueBlockers},
}

// derived is what a store should derive from the issues of a company.
type derived struct {
	issues   map[id.Issue]issue.Issue
	open     map[id.Issue][]id.Issue // the blockers of each issue that it counts as open
	revision int64
	days     map[string]int64 // "<day>|<what>" to how many became that
}

func (d derived) clone() derived {
	return derived{maps.Clone(d.issues), maps.Clone(d.open), d.revision, maps.Clone(d.days)}
}

// save adds an issue, or replaces it by its next version.
func (d *derived) save(after issue.Issue) {
	before, exists := d.issues[after.ID]
	d.issues[after.ID] = after
	if !exists || !slices.Equal(before.BlockedBy, after.BlockedBy) || before.OpenBlockers != after.OpenBlockers {
		var open []id.Issue
		for _, blocker := range after.BlockedBy {
			if d.issues[blocker].Status != issue.Done {
				open = append(open, blocker)
			}
		}
		d.open[after.ID] = open
	}
	if after.IsClaimable() && (!exists || !before.IsClaimable() || before.ClaimKey() != after.ClaimKey()) {
		d.revision++
	}
	ended := after.Status == issue.Done || after.Status == issue.Failed
	if ended && (!exists || before.Status != after.Status) {
		d.days[after.FinishedAt.Format(time.DateOnly)+"|"+string(after.Status)]++
	}
}

// issueHistory is a company whose issues change at random.
type issueHistory struct {
	*history
	company id.Company
	all     []id.Issue // that were made; not all of them are kept
	kept    derived
}

var (
	someAgents   = []id.Agent{"", "agt_a", "agt_b", "agt_c"}
	someTeams    = []id.Team{"", "tm_a", "tm_b"}
	someProjects = []id.Project{"", "prj_a", "prj_b"}
	someGoals    = []id.Goal{"", "gl_a", "gl_b"}
	someLabels   = []string{"a", "b", "c", "it's \"Ä\""}
)

func issueHistories(f *fixture) {
	var number atomic.Int64
	rapid.Check(f.t, func(t *rapid.T) {
		own := *f
		own.reporter = t
		h := issueHistory{
			history: &history{fixture: &own, draw: t},
			company: own.found(fmt.Sprintf("issues-%d", number.Add(1))).ID,
			kept:    derived{map[id.Issue]issue.Issue{}, map[id.Issue][]id.Issue{}, 0, map[string]int64{}},
		}
		for range 1 + h.upTo("units", 7) {
			h.clock.Advance(time.Duration(h.upTo("hours", 30)) * time.Hour)
			h.runUnit()
		}
		h.compare()
	})
}

// runUnit runs a unit of a few changes, which may give up at its end.
func (h *issueHistory) runUnit() {
	steps := make([]func(ctx context.Context, tx store.Tx, d *derived) error, 1+h.upTo("steps", 3))
	for n := range steps {
		steps[n] = h.change()
	}
	givesUp := h.upTo("gives up", 4) == 4
	var next derived
	err := h.store.Update(h.ctx, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		next = h.kept.clone()
		for _, step := range steps {
			if err := step(ctx, tx, &next); err != nil {
				return err
			}
		}
		if givesUp {
			return errGivenUp
		}
		return nil
	})
	if givesUp && !errors.Is(err, errGivenUp) {
		h.Fatal(err)
	}
	if !givesUp {
		h.ok(err)
		h.kept = next
	}
}

// change draws a change of an issue, or of a new one if there is none of its id.
func (h *issueHistory) change() func(ctx context.Context, tx store.Tx, d *derived) error {
	made := h.newIssue(h.company)
	if h.upTo("container", 3) == 3 {
		made.Workflow, made.IsContainer = "wf_some", true
	}
	which := made.ID
	if n := h.upTo("issue", len(h.all)); n < len(h.all) {
		which = h.all[n]
	} else {
		h.all = append(h.all, made.ID)
	}
	var edits []func(*issue.Issue)
	may := func(label string, edit func(*issue.Issue)) {
		if h.upTo(label, 2) == 0 {
			edits = append(edits, edit)
		}
	}
	status, at := issue.Statuses[h.upTo("status", len(issue.Statuses)-1)], h.clock.Now()
	may("move", func(i *issue.Issue) {
		if i.Status, i.FinishedAt = status, (time.Time{}); status.IsFinal() {
			i.FinishedAt = at
		}
	})
	who, bound := h.upTo("agent", len(someAgents)-1), h.upTo("bound", 1) == 1
	may("assign", func(i *issue.Issue) {
		i.Agent, i.AgentTeam, i.Binding = someAgents[who], someTeams[(who+1)/2], issue.Loose
		if bound && i.Agent != "" {
			i.Binding = issue.Kept
		}
	})
	team := someTeams[h.upTo("team", len(someTeams)-1)]
	may("open to a team", func(i *issue.Issue) { i.Team = team })
	project, aim := someProjects[h.upTo("project", len(someProjects)-1)], someGoals[h.upTo("goal", len(someGoals)-1)]
	may("plan", func(i *issue.Issue) { i.Project, i.Goal = project, aim })
	waiting := h.upTo("waiting", 1) == 1
	may("wait", func(i *issue.Issue) { i.Waiting = waiting })
	open := h.upTo("open", 1)
	may("count blockers", func(i *issue.Issue) { i.OpenBlockers = open })
	labels := someLabels[h.upTo("from", len(someLabels)):]
	may("label", func(i *issue.Issue) { i.Labels = labels })
	first := h.upTo("first blocker", len(h.all))
	blockers := h.all[first:min(first+2, len(h.all))]
	may("block", func(i *issue.Issue) {
		i.BlockedBy = slices.DeleteFunc(slices.Clone(blockers), func(blocker id.Issue) bool { return blocker == i.ID })
	})
	return func(ctx context.Context, tx store.Tx, d *derived) error {
		i, exists := d.issues[which]
		if !exists {
			i = made
			i.ID = which
		}
		for _, edit := range edits {
			edit(&i)
		}
		i.BlockedBy = slices.DeleteFunc(slices.Clone(i.BlockedBy), func(blocker id.Issue) bool {
			return d.issues[blocker].ID == "" // it was made by a unit that gave up
		})
		if !exists {
			d.save(i)
			return tx.Issues().Add(ctx, i)
		}
		i.Version++
		d.save(i)
		if _, err := tx.Issues().Lock(ctx, which); err != nil {
			return err
		}
		return tx.Issues().Save(ctx, i)
	}
}

// compare compares all that is derived with the model.
func (h *issueHistory) compare() {
	h.Helper()
	issues := slices.Collect(maps.Values(h.kept.issues))
	h.tallyIs(store.Tally{Company: h.company}, issues, func(issue.Issue) bool { return true })
	for _, team := range someTeams[1:] {
		h.tallyIs(store.Tally{Company: h.company, Team: team}, issues, func(i issue.Issue) bool { return i.TeamInCharge() == team })
	}
	for _, agent := range someAgents[1:] {
		h.tallyIs(store.Tally{Company: h.company, Agent: agent}, issues, func(i issue.Issue) bool { return i.Agent == agent })
	}
	for _, project := range someProjects[1:] {
		h.tallyIs(store.Tally{Company: h.company, Project: project}, issues, func(i issue.Issue) bool { return i.Project == project })
	}
	for _, aim := range someGoals[1:] {
		h.tallyIs(store.Tally{Company: h.company, Goal: aim}, issues, func(i issue.Issue) bool { return i.Goal == aim })
	}
	for _, label := range someLabels {
		var want []id.Issue
		for _, i := range issues {
			if slices.Contains(i.Labels, label) {
				want = append(want, i.ID)
			}
		}
		found, err := h.store.Issues().List(h.ctx, store.IssueFilter{Company: h.company, Label: label}, page.Position{}, page.MaxSize)
		h.ok(err)
		got := issueIDs(found.Items)
		slices.Sort(got)
		slices.Sort(want)
		h.same(got, want)
	}
	dependents := map[id.Issue][]id.Issue{}
	for _, which := range slices.Sorted(maps.Keys(h.kept.issues)) {
		for _, blocker := range h.kept.open[which] {
			dependents[blocker] = append(dependents[blocker], which)
		}
		blockers, err := h.store.Issues().Blockers(h.ctx, []id.Issue{which})
		h.ok(err)
		h.same(blockers, slices.Sorted(slices.Values(h.kept.issues[which].BlockedBy)))
	}
	for _, which := range h.all {
		got, err := h.store.Issues().Dependents(h.ctx, which, "")
		h.ok(err)
		h.same(got, dependents[which])
	}
	rows := h.dump()
	var days []string
	for day, n := range h.kept.days {
		days = append(days, fmt.Sprintf("%s|%d", day, n))
	}
	h.same(rowsOf(rows["day_tallies"], h.company), slices.Sorted(slices.Values(days)))
	h.same(workRevisionOf(rows, h.company), h.kept.revision)
}

func (f *fixture) tallyIs(of store.Tally, all []issue.Issue, counted func(issue.Issue) bool) {
	f.Helper()
	want := issue.Counts{Of: map[issue.Status]int64{}}
	for _, i := range all {
		if counted(i) {
			want.Of[i.Status]++
		}
	}
	got, err := f.store.Issues().Tally(f.ctx, of)
	f.ok(err)
	maps.DeleteFunc(got.Of, func(_ issue.Status, n int64) bool { return n == 0 })
	f.same(got, want)
}

// rowsOf are the rows of a dump that begin with the id of a company, without it.
func rowsOf(rows []string, of id.Company) (found []string) {
	for _, row := range rows {
		if rest, ok := strings.CutPrefix(row, string(of)+"|"); ok {
			found = append(found, rest)
		}
	}
	return found
}

// workRevisionOf reads the work revision of a company from a dump: no method shows it.
func workRevisionOf(rows map[string][]string, of id.Company) (revision int64) {
	for _, row := range rowsOf(rows["work_revisions"], of) {
		_, _ = fmt.Sscan(row, &revision)
	}
	return revision
}

func talliesOfUnit(f *fixture) {
	acme := f.found("acme").ID
	one, two := f.newIssue(acme), f.newIssue(acme)
	one.Team, two.Agent, two.AgentTeam = "tm_a", "agt_a", "tm_a"
	f.update(func(ctx context.Context, tx store.Tx) error {
		if err := filing(one, two)(ctx, tx); err != nil {
			return err
		}
		next := anyIssue.next(one)
		next.Status = issue.Cancelled
		if err := anyIssue.saving(next)(ctx, tx); err != nil {
			return err
		}
		next = anyIssue.next(next)
		next.Title = "Saved again"
		if err := tx.Issues().Save(ctx, next); err != nil {
			return err
		}
		for of, want := range map[store.Tally]map[issue.Status]int64{
			{Company: acme}:                      {issue.Queued: 1, issue.Cancelled: 1},
			{Company: acme, Team: "tm_a"}:        {issue.Queued: 1, issue.Cancelled: 1},
			{Company: acme, Agent: "agt_a"}:      {issue.Queued: 1},
			{Company: acme, Agent: "agt_b"}:      {},
			{Company: "cmp_other"}:               {},
			{Company: "cmp_other", Team: "tm_a"}: {},
		} {
			got, err := tx.Issues().Tally(ctx, of)
			if err != nil {
				return err
			}
			maps.DeleteFunc(got.Of, func(_ issue.Status, n int64) bool { return n == 0 })
			f.same(got, issue.Counts{Of: want})
		}
		return nil
	})
}

func workRevision(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	var want int64
	raised := func(what string, by int64) {
		f.Helper()
		want += by
		if got := workRevisionOf(f.dump(), acme); got != want {
			f.Fatalf("%s: the revision is %d, want %d", what, got, want)
		}
	}
	raised("nothing", 0)
	i := anyIssue.add(f, func(i *issue.Issue) { i.Company = acme })
	raised("a claimable one is filed", 1)
	anyIssue.add(f, func(i *issue.Issue) { i.Company, i.OpenBlockers = acme, 1 })
	anyIssue.add(f, func(i *issue.Issue) { i.Company, i.Waiting = acme, true })
	anyIssue.add(f, func(i *issue.Issue) { i.Company, i.Status = acme, issue.Running })
	raised("others that are not claimable", 0)
	for _, step := range []struct {
		what   string
		change func(*issue.Issue)
		by     int64
	}{
		{"another title", func(i *issue.Issue) { i.Title = "New" }, 0},
		{"another priority", func(i *issue.Issue) { i.Priority = issue.Urgent }, 0},
		{"open to a team", func(i *issue.Issue) { i.Team = "tm_a" }, 1},
		{"picked", func(i *issue.Issue) { i.Status, i.Agent, i.AgentTeam = issue.Assigned, "agt_a", "tm_a" }, 0},
		{"named", func(i *issue.Issue) { i.Binding = issue.Named }, 1},
		{"named for another", func(i *issue.Issue) { i.Agent = "agt_b" }, 1},
		{"leased", func(i *issue.Issue) { i.Status = issue.Running }, 0},
		{"to another while it runs", func(i *issue.Issue) { i.Agent = "agt_a" }, 0},
		{"requeued", func(i *issue.Issue) { i.Status = issue.Queued }, 1},
		{"blocked", func(i *issue.Issue) { i.OpenBlockers = 2 }, 0},
		{"blocked less", func(i *issue.Issue) { i.OpenBlockers = 1 }, 0},
		{"waiting too", func(i *issue.Issue) { i.Waiting = true }, 0},
		{"not blocked", func(i *issue.Issue) { i.OpenBlockers = 0 }, 0},
		{"woken", func(i *issue.Issue) { i.Waiting = false }, 1},
		{"cancelled", func(i *issue.Issue) { i.Status = issue.Cancelled }, 0},
	} {
		i = anyIssue.edited(f, i, step.change)
		raised(step.what, step.by)
	}
	if got := workRevisionOf(f.dump(), other); got != 0 {
		f.Errorf("the revision of another company is %d", got)
	}
}

func issueDependents(f *fixture) {
	acme := f.found("acme").ID
	blockers := f.files(acme, 3, func(n int, i *issue.Issue) { i.Status = []issue.Status{issue.Queued, issue.Failed, issue.Done}[n] })
	open, failed, done := blockers[0], blockers[1], blockers[2]
	const count = store.Portion + 10
	made := f.files(acme, count, func(_ int, i *issue.Issue) {
		i.BlockedBy, i.OpenBlockers = []id.Issue{done.ID, open.ID, failed.ID}, 2
		i.CreatedAt = i.CreatedAt.Add(-time.Duration(i.Number) * time.Millisecond)
	})
	dependents := func(of id.Issue, want []issue.Issue) {
		f.Helper()
		got, err := f.store.Issues().Dependents(f.ctx, of, "")
		f.ok(err)
		f.same(got, issueIDs(want))
	}
	dependents(open.ID, made[:store.Portion])
	dependents(failed.ID, made[:store.Portion])
	dependents(done.ID, nil)
	dependents("iss_none", nil)
	rest, err := f.store.Issues().Dependents(f.ctx, open.ID, made[store.Portion-1].ID)
	f.ok(err)
	f.same(rest, issueIDs(made[store.Portion:]))

	anyIssue.edited(f, open, func(i *issue.Issue) { i.Status = issue.Done })
	dependents(open.ID, made[:store.Portion]) // until they are saved
	for n, i := range made[:20] {
		made[n] = anyIssue.edited(f, i, func(i *issue.Issue) { i.OpenBlockers = 1 })
	}
	dependents(open.ID, made[20:])
	dependents(failed.ID, made[:store.Portion])
	anyIssue.edited(f, made[0], func(i *issue.Issue) { i.Title = "New" })
	anyIssue.edited(f, made[20], func(i *issue.Issue) { i.Title = "New" })
	dependents(open.ID, made[20:])
	anyIssue.edited(f, made[21], func(i *issue.Issue) { i.BlockedBy, i.OpenBlockers = []id.Issue{failed.ID}, 1 })
	dependents(open.ID, append([]issue.Issue{made[20]}, made[22:]...))
}

func issueBlockers(f *fixture) {
	acme := f.found("acme").ID
	blockers := f.files(acme, 4, func(n int, i *issue.Issue) { i.Status = issue.Statuses[n*2] })
	made := f.files(acme, 2*store.Portion+3, func(n int, i *issue.Issue) {
		i.BlockedBy = []id.Issue{blockers[n%2].ID, blockers[2].ID}
		if n == 2*store.Portion+1 {
			i.BlockedBy = []id.Issue{blockers[3].ID}
		}
	})
	for _, c := range []struct{ of, want []issue.Issue }{
		{nil, nil},
		{blockers, nil},
		{made[:1], []issue.Issue{blockers[0], blockers[2]}},
		{made[:2], blockers[:3]},
		{made, blockers},
	} {
		got, err := f.store.Issues().Blockers(f.ctx, issueIDs(c.of))
		f.ok(err)
		f.same(got, issueIDs(c.want))
	}
}
