package leases_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/store"
)

// reporter is what testing.T and rapid.T have in common.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func must[T any](t reporter) func(value T, err error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return value
	}
}

// all runs a job until it has nothing more to do.
func all(w *world, job job) error {
	for {
		if more, err := job(w.ctx); err != nil || !more {
			return err
		}
	}
}

// everything pages through a list.
func everything[T any](t reporter, list func(after page.Position) (page.Page[T], error)) (found []T) {
	t.Helper()
	for after := (page.Position{}); ; {
		got := must[page.Page[T]](t)(list(after))
		found = append(found, got.Items...)
		if after = got.Next; after.IsStart() {
			return found
		}
	}
}

// books is all that a company has, as the store shows it at one instant.
type books struct {
	company company.Company
	agents  map[id.Agent]agent.Agent
	issues  map[id.Issue]issue.Issue
	runs    map[id.Issue][]run.Run // in the order of their tokens
	events  []told                 // in the order in which they were recorded
}

// told is an event with its data.
type told struct {
	event.Event

	data map[string]any
}

func (w *world) books(t reporter, o *office) books {
	t.Helper()
	b := books{
		company: must[company.Company](t)(w.store.Companies().Get(w.ctx, o.id)),
		agents:  map[id.Agent]agent.Agent{}, issues: map[id.Issue]issue.Issue{}, runs: map[id.Issue][]run.Run{},
	}
	for _, which := range o.agents {
		b.agents[which] = must[agent.Agent](t)(w.store.Agents().Get(w.ctx, which))
	}
	for _, i := range everything(t, func(after page.Position) (page.Page[issue.Issue], error) {
		return w.store.Issues().List(w.ctx, store.IssueFilter{Company: o.id}, after, page.MaxSize)
	}) {
		b.issues[i.ID] = i
		b.runs[i.ID] = everything(t, func(after page.Position) (page.Page[run.Run], error) {
			return w.store.Runs().List(w.ctx, i.ID, after, page.MaxSize)
		})
		slices.SortFunc(b.runs[i.ID], func(x, y run.Run) int { return cmp.Compare(x.Lease.Token, y.Lease.Token) })
	}
	if w.told == nil {
		w.told = map[id.Entry]told{}
	}
	for _, e := range everything(t, func(after page.Position) (page.Page[event.Event], error) {
		return w.store.Activity().List(w.ctx, store.ActivityFilter{Company: &o.id}, after, page.MaxSize)
	}) {
		if _, known := w.told[e.ID]; !known { // events never change
			w.told[e.ID] = told{e, decoded(e.Data)}
		}
		b.events = append(b.events, w.told[e.ID])
	}
	slices.SortFunc(b.events, func(x, y told) int { return cmp.Compare(x.ID, y.ID) })
	return b
}

// check checks all that is true of the companies between two units, and returns their books.
func (w *world) check(t reporter) map[id.Company]books {
	t.Helper()
	kept := map[id.Company]books{}
	for _, o := range w.offices {
		b := w.books(t, o)
		for _, i := range b.issues {
			b.checkLeases(t, i)
			b.checkBlockers(t, i)
			b.checkSteps(t, i)
		}
		b.checkEpoch(t)
		b.checkEvents(t)
		b.checkStats(t)
		w.checkDerived(t, o, b)
		w.checkMoney(t, o, b)
		w.checkSaid(t, b)
		kept[o.id] = b
	}
	return kept
}

// audit looks at the companies as the doctor does.
func (w *world) audit(t reporter) {
	t.Helper()
	for _, o := range w.offices {
		err := w.store.View(w.ctx, func(ctx context.Context, r store.Reader) error {
			differs := func(d store.Difference) { t.Errorf("%+v", d) }
			return errors.Join(r.Checks().Budgets(ctx, o.id, differs), r.Checks().Issues(ctx, o.id, differs))
		})
		if err != nil {
			t.Errorf("an audit: %v", err)
		}
	}
}

// checkLeases: an issue has an open run exactly while it runs, and the tokens of its leases are 1, 2, 3, ...
func (b books) checkLeases(t reporter, i issue.Issue) {
	t.Helper()
	var open []run.Run
	var spent money.USD
	for n, r := range b.runs[i.ID] {
		if r.Lease.Token != int64(n+1) {
			t.Errorf("the leases of %s have the tokens %d in the place of %d", i.ID, r.Lease.Token, n+1)
		}
		hasEnded := !r.IsOpen()
		if hasEnded == (r.Status == run.Running) || hasEnded == r.FinishedAt.IsZero() || hasEnded == (r.Lease.Reason == "") {
			t.Errorf("the run %s is %s: %+v", r.ID, r.Status, r)
		}
		if !hasEnded {
			open = append(open, r)
		}
		spent += r.Spent
	}
	if i.FencingToken != int64(len(b.runs[i.ID])) {
		t.Errorf("%s had %d leases, and its token is %d", i.ID, len(b.runs[i.ID]), i.FencingToken)
	}
	if len(open) > 1 || (len(open) == 1) != (i.Status == issue.Running && !i.IsContainer) {
		t.Errorf("%s is %s, and has %d open runs", i.ID, i.Status, len(open))
	}
	if len(open) == 1 && (open[0].Agent != i.Agent || open[0].Attempt != i.Attempt || open[0].Lease.Epoch != b.company.LeaseEpoch) {
		t.Errorf("the open run of %+v is %+v, in the epoch %d", i, open[0], b.company.LeaseEpoch)
	}
	if i.Spent != spent {
		t.Errorf("%s has spent %v, and its runs %v", i.ID, i.Spent, spent)
	}
}

// checkSteps: the steps of a container are done in their order, one at a time, and its state is that of its steps.
func (b books) checkSteps(t reporter, container issue.Issue) {
	t.Helper()
	if !container.IsContainer {
		return
	}
	var steps []issue.Issue
	for _, i := range b.issues {
		if i.Container == container.ID {
			steps = append(steps, i)
		}
	}
	slices.SortFunc(steps, func(x, y issue.Issue) int { return cmp.Compare(x.Number, y.Number) })
	holders, running := map[int]issue.Issue{}, 0
	for _, step := range steps {
		if former, exists := holders[step.Place]; exists && (!former.Status.IsFinal() || step.RetryOf != former.ID) {
			t.Errorf("%s has taken the place of %+v", step.ID, former)
		}
		holders[step.Place] = step
		if step.Status == issue.Running {
			running++
		}
	}
	isDone, isBad := true, false
	for place := range len(holders) {
		step := holders[place+1]
		if (step.FencingToken > 0 || step.Status == issue.Done) && !isDone {
			t.Errorf("the step %+v was begun too early", step)
		}
		isDone = isDone && step.Status == issue.Done
		isBad = isBad || step.Status == issue.Failed || step.Status == issue.Cancelled
	}
	var want []issue.Status
	switch {
	case container.Status == issue.Cancelled:
		return
	case isBad:
		want = []issue.Status{issue.Handoff}
	case isDone:
		want = []issue.Status{issue.Review, issue.Done}
	case running > 0:
		want = []issue.Status{issue.Running}
	default:
		want = []issue.Status{issue.Queued, issue.Running}
	}
	if len(holders) != 3 || running > 1 || !slices.Contains(want, container.Status) {
		t.Errorf("the container %s is %s, want one of %v; its steps are %+v", container.ID, container.Status, want, steps)
	}
}

func (b books) checkBlockers(t reporter, i issue.Issue) {
	t.Helper()
	open, failed := 0, 0
	for _, blocker := range i.BlockedBy {
		status := b.issues[blocker].Status
		if status != issue.Done {
			open++
		}
		if status == issue.Failed || status == issue.Cancelled {
			failed++
		}
	}
	if i.OpenBlockers != open || i.FailedBlockers != failed {
		t.Errorf("%s has %d open blockers, %d of which failed, and counts %d, %d", i.ID, open, failed, i.OpenBlockers, i.FailedBlockers)
	}
	if i.Waiting && (i.NotBefore.IsZero() || i.Status.IsFinal()) {
		t.Errorf("%s waits for nothing: %+v", i.ID, i)
	}
}

// checkEvents: the events of each issue tell its whole history, up to what it is now.
func (b books) checkEvents(t reporter) {
	t.Helper()
	last, attempts, starts := map[id.Issue]told{}, map[id.Issue]int{}, map[id.Issue]int{}
	statuses := map[id.Issue]string{}
	for _, e := range b.events {
		if e.Subject.Type != "issue" || e.Type == event.IssueCommented {
			continue
		}
		of := id.Issue(e.Subject.ID)
		data := e.data
		if e.Type != event.IssueUpdated && e.Type != event.IssueCreated {
			changed := statuses[of] != data["status"]
			if !changed && e.Type != event.IssueAssigned && e.Type != event.IssueRequeued {
				t.Errorf("%s says of %s no more than before: %v", e.Type, of, data)
			}
		} else if old, known := statuses[of]; known && old != data["status"] {
			t.Errorf("%s changes the state of %s from %s to %v", e.Type, of, old, data["status"])
		}
		last[of], statuses[of] = e, data["status"].(string)
		switch reason, _ := data["reason"].(string); {
		case e.Type == event.IssueStarted:
			starts[of]++
		case e.Type == event.IssueRejected, e.Type == event.IssueRequeued && (reason == issue.AfterFailure || reason == issue.AfterExpiry):
			attempts[of]++
		}
	}
	for which, i := range b.issues {
		if i.Attempt != attempts[which]+1 || starts[which] != len(b.runs[which]) && !i.IsContainer {
			t.Errorf("%s is in its attempt %d, of %d that were begun anew; it was started %d times, and has %d runs", which, i.Attempt,
				attempts[which], starts[which], len(b.runs[which]))
		}
		said, is := maps.Clone(last[which].data), decoded(i.Fields())
		for _, data := range []map[string]any{said, is} {
			delete(data, "openBlockers") // which changes with other issues
			delete(data, "failedBlockers")
			delete(data, "budget") // which charges change
			delete(data, "reason")
			delete(data, "comment")
			delete(data, "stepId")
		}
		if diff := gocmp.Diff(is, said); diff != "" {
			t.Errorf("the last event of %s, %s, tells another state\n-is +told:\n%s", which, last[which].Type, diff)
		}
	}
}

func decoded(fields event.Fields) map[string]any {
	decoder := json.NewDecoder(bytes.NewReader(fields.Append(nil)))
	decoder.UseNumber()
	data := map[string]any{}
	if err := decoder.Decode(&data); err != nil {
		data["error"] = err.Error()
	}
	return data
}

// checkStats counts again what agents have done.
func (b books) checkStats(t reporter) {
	t.Helper()
	want := map[id.Agent]agent.Stats{}
	for _, e := range b.events {
		by, _ := e.data["assignedAgentId"].(string)
		work := want[id.Agent(by)]
		switch e.Type {
		case event.IssueCompleted:
			work.Completed++
		case event.IssueFailed:
			work.Failed++
		}
		want[id.Agent(by)] = work
	}
	for _, runs := range b.runs {
		for _, r := range runs {
			work := want[r.Agent]
			work.Spent += r.Spent
			want[r.Agent] = work
		}
	}
	for which, a := range b.agents {
		got := agent.Stats{Completed: a.Stats.Completed, Failed: a.Stats.Failed, Spent: a.Stats.Spent}
		if got != want[which] {
			t.Errorf("the stats of %s are %+v, want %+v", which, got, want[which])
		}
	}
}

// checkDerived compares what the store derives from issues with them.
func (w *world) checkDerived(t reporter, o *office, b books) {
	t.Helper()
	tally := func(of store.Tally, counted func(i issue.Issue) bool) {
		t.Helper()
		want := map[issue.Status]int64{}
		for _, i := range b.issues {
			if counted(i) {
				want[i.Status]++
			}
		}
		got := must[issue.Counts](t)(w.store.Issues().Tally(w.ctx, of)).Of
		maps.DeleteFunc(got, func(_ issue.Status, n int64) bool { return n == 0 })
		if !maps.Equal(got, want) {
			t.Errorf("the tally of %+v is %v, want %v", of, got, want)
		}
	}
	tally(store.Tally{Company: o.id}, func(issue.Issue) bool { return true })
	keys := []string{"c"}
	for _, team := range o.teams {
		keys = append(keys, "t:"+string(team))
		tally(store.Tally{Company: o.id, Team: team}, func(i issue.Issue) bool { return i.TeamInCharge() == team })
	}
	for _, which := range o.agents {
		keys = append(keys, "a:"+string(which))
		tally(store.Tally{Company: o.id, Agent: which}, func(i issue.Issue) bool { return i.Agent == which })
	}
	var want []id.Issue
	for _, i := range b.mayBeLeased() {
		want = append(want, i.ID)
	}
	var got []id.Issue
	for _, i := range must[[]issue.Issue](t)(w.store.Issues().Claimable(w.ctx, o.id, keys, len(b.issues)+1)) {
		got = append(got, i.ID)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("what may be leased\n-want +got:\n%s", diff)
	}
}

// checkMoney: in each envelope is held what its open leases have reserved and not spent, and spent what was charged in its period.
func (w *world) checkMoney(t reporter, o *office, b books) {
	t.Helper()
	held := map[string]money.USD{}
	for _, runs := range b.runs {
		for _, r := range runs {
			if r.Held < 0 || r.Held > 0 && !r.IsOpen() {
				t.Errorf("%s holds %s: %+v", r.ID, r.Held, r)
			}
			for _, which := range r.Envelopes() {
				held[which] += r.Held
			}
		}
	}
	scopes := map[string]budget.Scope{string(o.id): budget.OfCompany}
	for _, team := range o.teams {
		scopes[string(team)] = budget.OfTeam
	}
	for _, which := range o.agents {
		scopes[string(which)] = budget.OfAgent
	}
	accounts := must[map[string]budget.Account](t)(
		w.store.Envelopes().Accounts(w.ctx, o.id, append(slices.Collect(maps.Keys(scopes)), string(o.flow))...))
	var spentByFlow money.USD
	for _, runs := range b.runs {
		for _, r := range runs {
			if r.Workflow != "" {
				spentByFlow += r.Spent
			}
		}
	}
	if flow := accounts[string(o.flow)]; flow.Held != held[string(o.flow)] || flow.Spent != spentByFlow {
		t.Errorf("the workflow has spent %s and holds %s; its runs %s and %s", flow.Spent, flow.Held, spentByFlow, held[string(o.flow)])
	}
	for which, scope := range scopes {
		account := accounts[which]
		if account.Held != held[which] {
			t.Errorf("%s holds %s, and its leases %s", which, account.Held, held[which])
		}
		if account.Period == "" {
			continue
		}
		spent := must[money.USD](t)(w.store.Envelopes().Spent(w.ctx, o.id, scope, which, account.Start))
		if account.Spent != spent {
			t.Errorf("%s has spent %s since %s, and its charges are %s", which, account.Spent, account.Start, spent)
		}
	}
}

// mayBeLeased are the issues whose state allows a lease, in the order in which they are taken.
func (b books) mayBeLeased() (found []issue.Issue) {
	for _, i := range b.issues {
		if (i.Status == issue.Queued || i.Status == issue.Assigned) && !i.Waiting && !i.IsContainer &&
			!slices.ContainsFunc(i.BlockedBy, func(blocker id.Issue) bool { return b.issues[blocker].Status != issue.Done }) {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(x, y issue.Issue) int {
		return cmp.Or(cmp.Compare(y.Priority.Rank(), x.Priority.Rank()), cmp.Compare(x.Number, y.Number))
	})
	return found
}

// mayTake reports whether an issue is for an agent: bound to it, or open to its team or to all.
func mayTake(a agent.Agent, i issue.Issue) bool {
	switch {
	case i.Binding != issue.Loose:
		return i.Agent == a.ID
	case i.Team != "":
		return i.Team == a.Team
	default:
		return true
	}
}

// isBelowCancelled reports whether an issue will be cancelled with one above it.
func (b books) isBelowCancelled(i issue.Issue) bool {
	for i.Parent != "" {
		if i = b.issues[i.Parent]; i.Status == issue.Cancelled {
			return true
		}
	}
	return false
}

// checkSaid: what was acknowledged to agents is true.
func (w *world) checkSaid(t reporter, b books) {
	t.Helper()
	w.said.mutex.Lock()
	defer w.said.mutex.Unlock()
	byRun := map[id.Run]run.Run{}
	for _, runs := range b.runs {
		for _, r := range runs {
			byRun[r.ID] = r
		}
	}
	for _, g := range w.said.granted {
		r, known := byRun[g.run]
		if g.by.Company != b.company.ID {
			continue
		}
		if !known || r.Agent != g.by.ID || r.Lease.ID != g.lease || r.Lease.Token != g.token {
			t.Errorf("the lease %+v is %+v", g, r)
		}
		delete(byRun, g.run)
		var spent money.USD
		for _, usd := range w.said.charged[g.run] {
			spent += usd
		}
		if r.Spent != spent || r.Charges != len(w.said.charged[g.run]) ||
			r.Checkpoints != w.said.noted[g.run] || r.Filed != w.said.filed[g.run] {
			t.Errorf("of %s were charged %v, checkpoints %d, filed %d: %+v", g.run, w.said.charged[g.run], w.said.noted[g.run],
				w.said.filed[g.run], r)
		}
		keys := slices.Sorted(maps.Keys(w.said.charged[g.run]))
		for _, entry := range must[[]costEntry](t)(w.store.Runs().Charges(w.ctx, g.run, keys)) {
			if entry.USD != w.said.charged[g.run][entry.Key] || entry.Agent != r.Agent || entry.Issue != r.Issue {
				t.Errorf("the charge %+v of %+v", entry, r)
			}
		}
	}
	if len(byRun) > 0 {
		t.Errorf("runs that nobody was granted: %v", byRun)
	}
	for _, e := range w.said.endings {
		if e.by.Company != b.company.ID {
			continue
		}
		runs := b.runs[e.issue]
		n := slices.IndexFunc(runs, func(r run.Run) bool { return r.ID == e.run })
		kept := run.KeptAnswer{Fingerprint: e.fingerprint, Answer: e.answer}
		if n < 0 || runs[n].Status != e.status || runs[n].KeptAnswer != kept ||
			!strings.HasPrefix(e.answer, fmt.Sprintf(`{"issue":{"id":"%s"`, e.issue)) {
			t.Errorf("the %s of %s was acknowledged, and is lost: %+v", e.action, e.run, runs)
		}
	}
}
