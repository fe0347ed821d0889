package issue_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/id"
	"holdco/domain/issue"
)

// move is a move of an issue in any state: a row of the table of states.
type move struct {
	name   string
	action issue.Action
	next   string // the next state from each of issue.Statuses; E: refused
	do     func(issue.Issue) (issue.Issue, event.Event, error)
	change func(*issue.Issue) // what changes besides state, version, and the times of the change and the end
	what   event.Type
	more   string // the fields of the event besides the issue
}

const (
	toQueued  = `"reason":`
	noteField = `"note":"Why"`
)

var note = event.F("note", "Why")

func nothing(*issue.Issue) {}

func freed(i *issue.Issue) { i.Agent, i.AgentTeam, i.Binding = "", "", issue.Loose }

// moves of an issue like call, in its second attempt of three, that ada works on and that is kept for ada.
func moves() []move {
	broken := issue.Failure{Error: `{"code":"broken"}`}
	waits := func(i *issue.Issue) { i.NotBefore, i.Waiting = later.Add(issue.RetryDelay(i.ID, 2)), true }
	failed := func(i *issue.Issue) { i.Attempt, i.Error = 3, broken.Error }
	return []move{
		{
			"assign an agent of the team", issue.Assign, "assigned assigned E E assigned E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				return i.Assign(issue.Assignment{Agent: numbered[id.Agent](1), AgentTeam: sales}, later)
			},
			func(i *issue.Issue) { i.Agent, i.Binding = numbered[id.Agent](1), issue.Named },
			event.IssueAssigned, "",
		},
		{
			"assign an agent of another team", issue.Assign, "assigned assigned E E assigned E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				return i.Assign(issue.Assignment{Agent: eve, AgentTeam: support}, later)
			},
			func(i *issue.Issue) { i.Agent, i.AgentTeam, i.Team, i.Binding = eve, support, "", issue.Named },
			event.IssueAssigned, "",
		},
		{
			"assign a team, of which one is picked", issue.Assign, "assigned assigned E E assigned E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				return i.Assign(issue.Assignment{Agent: eve, AgentTeam: support, Team: support, IsPick: true}, later)
			},
			func(i *issue.Issue) { i.Agent, i.AgentTeam, i.Team, i.Binding = eve, support, support, issue.Loose },
			event.IssueAssigned, "",
		},
		{
			"assign a team in which nobody is idle", issue.Assign, "queued queued E E queued E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				return i.Assign(issue.Assignment{Team: support, IsPick: true}, later)
			},
			func(i *issue.Issue) { freed(i); i.Team = support },
			event.IssueAssigned, "",
		},
		{
			"unassign", issue.Unassign, "queued queued E E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Unassign(later) },
			func(i *issue.Issue) { freed(i); i.Team = "" },
			event.IssueRequeued, toQueued + `"unassigned"`,
		},
		{
			"lease to its agent", issue.Lease, "running running E E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Start(ada, sales, later) },
			func(i *issue.Issue) { i.FencingToken = 6 },
			event.IssueStarted, "",
		},
		{
			"lease to another", issue.Lease, "running running E E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Start(eve, support, later) },
			func(i *issue.Issue) { i.Agent, i.AgentTeam, i.Binding, i.FencingToken = eve, support, issue.Loose, 6 },
			event.IssueStarted, "",
		},
		{
			"complete what is to be reviewed", issue.Complete, "E E review E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Complete(`[1]`, later) },
			func(i *issue.Issue) { i.Result, i.Error = `[1]`, "" },
			event.IssueSubmitted, "",
		},
		{
			"complete what is not", issue.Complete, "E E done E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				unreviewed := i
				unreviewed.RequiresReview = false
				next, completed, err := unreviewed.Complete("", later)
				if err != nil {
					next = i
				}
				return next, completed, err
			},
			func(i *issue.Issue) { i.RequiresReview, i.Result, i.Error = false, "", "" },
			event.IssueCompleted, "",
		},
		{
			"fail", issue.Fail, "E E queued E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.FailAttempt(broken, true, later) },
			func(i *issue.Issue) { failed(i); waits(i) },
			event.IssueRequeued, toQueued + `"failed"`,
		},
		{
			"fail of an agent that is not active", issue.Fail, "E E queued E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.FailAttempt(broken, false, later) },
			func(i *issue.Issue) { failed(i); freed(i); waits(i) },
			event.IssueRequeued, toQueued + `"failed"`,
		},
		{
			"fail, with a wait", issue.Fail, "E E queued E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				return i.FailAttempt(issue.Failure{Error: broken.Error, After: new(time.Minute)}, true, later)
			},
			func(i *issue.Issue) { failed(i); i.NotBefore, i.Waiting = later.Add(time.Minute), true },
			event.IssueRequeued, toQueued + `"failed"`,
		},
		{
			"fail, to be tried again at once", issue.Fail, "E E queued E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				return i.FailAttempt(issue.Failure{Error: broken.Error, After: new(time.Duration(0))}, true, later)
			},
			failed, event.IssueRequeued, toQueued + `"failed"`,
		},
		{
			"fail for good", issue.Fail, "E E failed E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				return i.FailAttempt(issue.Failure{Error: broken.Error, IsFinal: true, After: new(time.Minute)}, true, later)
			},
			func(i *issue.Issue) { i.Error = broken.Error },
			event.IssueFailed, toQueued + `"failed"`,
		},
		{
			"expiry", issue.Expire, "E E queued E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.ExpireLease(later) },
			func(i *issue.Issue) { freed(i); waits(i); i.Attempt, i.Error = 3, issue.Expired },
			event.IssueRequeued, toQueued + `"expired"`,
		},
		{
			"release", issue.Release, "E E queued E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.ReleaseLease(later) },
			freed, event.IssueRequeued, toQueued + `"released"`,
		},
		{
			"handoff", issue.HandOff, "E handoff handoff handoff E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.HandOff(later, note) },
			nothing, event.IssueHandedOff, noteField,
		},
		{
			"accept", issue.Accept, "E E E done E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Accept(later) },
			nothing, event.IssueCompleted, "",
		},
		{
			"reject", issue.Reject, "E E E assigned E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Reject(true, later, note) },
			func(i *issue.Issue) { i.Attempt = 3 },
			event.IssueRejected, noteField,
		},
		{
			"reject of an agent that is not active", issue.Reject, "E E E queued E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Reject(false, later, note) },
			func(i *issue.Issue) { freed(i); i.Attempt = 3 },
			event.IssueRejected, noteField,
		},
		{
			"cancel", issue.Cancel, "cancelled cancelled cancelled cancelled cancelled E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Cancel(later) },
			nothing, event.IssueCancelled, "",
		},
		{
			"cancel with a reason", issue.Cancel, "cancelled cancelled cancelled cancelled cancelled E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Cancel(later, note) },
			nothing, event.IssueCancelled, noteField,
		},
		{
			"the company is archived", issue.Requeue, "E E queued E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				return i.Revoke(issue.AfterCompanyArchived, later)
			},
			nothing, event.IssueRequeued, toQueued + `"company_archived"`,
		},
		{
			"the agent retires", issue.Requeue, "queued queued queued E E E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Abandon(later) },
			freed, event.IssueRequeued, toQueued + `"agent_retired"`,
		},
		{
			"update", issue.Update, "queued assigned running review handoff E E E",
			func(i issue.Issue) (issue.Issue, event.Event, error) {
				next, updated, err := i.Apply(issue.Patch{Title: new("Write")}, &office{}, later)
				if updated == nil {
					return next, event.Event{}, err
				}
				updated.Previous = nil
				return next, *updated, err
			},
			func(i *issue.Issue) { i.Title = "Write" },
			event.IssueUpdated, "",
		},
	}
}

func TestEveryStateHasItsMoves(t *testing.T) {
	t.Parallel()
	for _, m := range moves() {
		for n, to := range strings.Fields(m.next) {
			from := issue.Statuses[n]
			name := m.name + " of " + string(from)
			before := call(from)
			got, happened, err := m.do(before)
			if to == "E" {
				checkTransition(t, name, err, from, m.action)
				if !cmp.Equal(before, got) || happened.Type != "" {
					t.Errorf("%s is refused, yet: %+v, %+v", name, got, happened)
				}
				continue
			}
			want := before
			want.Status, want.UpdatedAt, want.Version = issue.Status(to), later, 8
			if want.Status.IsFinal() {
				want.FinishedAt = later
			}
			m.change(&want)
			if diff := cmp.Diff(want, got); diff != "" || err != nil || before.Allows(m.action) != nil {
				t.Errorf("%s: %v, allowed: %v\n%s", name, err, before.Allows(m.action), diff)
				continue
			}
			checkEvent(t, name, happened, m.what, got, m.more)
		}
	}
}

func checkTransition(t *testing.T, name string, err error, from issue.Status, action issue.Action) {
	t.Helper()
	if fault.CodeOf(err) != fault.InvalidTransition {
		t.Errorf("%s: %v", name, err)
		return
	}
	if details := fault.Of(err).Details; details["from"] != string(from) || details["action"] != string(action) {
		t.Errorf("%s: details %v", name, details)
	}
}

func TestOnlyWhatFailedOrWasCancelledIsRetried(t *testing.T) {
	t.Parallel()
	for _, from := range issue.Statuses {
		_, err := call(from).Again(numbered[id.Issue](9), "token:tok_2", &office{}, later)
		if from == issue.Failed || from == issue.Cancelled {
			faulttest.Check(t, string(from), err, "")
			continue
		}
		checkTransition(t, string(from), err, from, issue.Retry)
	}
}

func TestWhatIsOpenToAllCannotBeUnassigned(t *testing.T) {
	t.Parallel()
	open := call(issue.Queued)
	freed(&open)
	inTeam := open
	open.Team = ""
	_, _, err := open.Unassign(later)
	checkTransition(t, "open to all", err, issue.Queued, issue.Unassign)
	next, _, err := inTeam.Unassign(later)
	if err != nil || next.Team != "" || next.ClaimKey() != "c" {
		t.Errorf("open to a team: %v, %+v", err, next)
	}
}

// TestTheMovesDecideForWhomAnIssueIsKept has for each binding before the one after, and who is assigned then.
func TestTheMovesDecideForWhomAnIssueIsKept(t *testing.T) {
	t.Parallel()
	const kept, named, toTeam = "kept for ada", "named ada", "open to the team"
	for _, c := range []struct {
		name string
		from issue.Status
		do   func(issue.Issue) (issue.Issue, event.Event, error)
		want [3]string // of one that was loose, kept, and named
	}{
		{"lease to its agent", issue.Assigned, func(i issue.Issue) (issue.Issue, event.Event, error) {
			return i.Start(ada, sales, later)
		}, [3]string{toTeam, kept, named}},
		{"fail", issue.Running, func(i issue.Issue) (issue.Issue, event.Event, error) {
			return i.FailAttempt(issue.Failure{}, true, later)
		}, [3]string{kept, kept, named}},
		{"fail of an agent that is not active", issue.Running, func(i issue.Issue) (issue.Issue, event.Event, error) {
			return i.FailAttempt(issue.Failure{}, false, later)
		}, [3]string{toTeam, toTeam, toTeam}},
		{"expiry", issue.Running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.ExpireLease(later) },
			[3]string{toTeam, toTeam, named}},
		{"release", issue.Running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.ReleaseLease(later) },
			[3]string{toTeam, toTeam, named}},
		{"reject", issue.Review, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Reject(true, later) },
			[3]string{kept, kept, named}},
		{"reject of an agent that is not active", issue.Review, func(i issue.Issue) (issue.Issue, event.Event, error) {
			return i.Reject(false, later)
		}, [3]string{toTeam, toTeam, toTeam}},
		{"archive", issue.Running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Revoke("restored", later) },
			[3]string{kept, kept, named}},
		{"retirement", issue.Running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Abandon(later) },
			[3]string{toTeam, toTeam, toTeam}},
		{"handoff", issue.Running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.HandOff(later) },
			[3]string{toTeam, kept, named}},
	} {
		for n, binding := range []issue.Binding{issue.Loose, issue.Kept, issue.Named} {
			before := call(c.from)
			before.Binding = binding
			got, _, err := c.do(before)
			keys := map[string]string{kept: "a:" + string(ada), named: "a:" + string(ada), toTeam: "t:" + string(sales)}
			bindings := map[string]issue.Binding{kept: issue.Kept, named: issue.Named}
			if err != nil || got.Binding != bindings[c.want[n]] || got.ClaimKey() != keys[c.want[n]] {
				t.Errorf("%s of one that was %q: %v, %+v; want it %s", c.name, binding, err, got, c.want[n])
			}
		}
	}
}

func TestTheLastAttemptThatFailsIsFinal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempt, most int
		want          issue.Status
	}{{1, 1, issue.Failed}, {1, 2, issue.Queued}, {19, 20, issue.Queued}, {20, 20, issue.Failed}, {4, 3, issue.Failed}} {
		before := call(issue.Running)
		before.Attempt, before.MaxAttempts = c.attempt, c.most
		failed, happened, err := before.FailAttempt(issue.Failure{Error: `{}`}, true, later)
		expired, ended, errExpired := before.ExpireLease(later)
		wantAttempt, wantType := c.attempt, event.IssueFailed
		if c.want == issue.Queued {
			wantAttempt, wantType = c.attempt+1, event.IssueRequeued
		}
		for _, got := range []issue.Issue{failed, expired} {
			if got.Status != c.want || got.Attempt != wantAttempt || got.FinishedAt.IsZero() == (c.want == issue.Failed) {
				t.Errorf("attempt %d of %d: %+v", c.attempt, c.most, got)
			}
		}
		if err != nil || errExpired != nil {
			t.Fatal(err, errExpired)
		}
		checkEvent(t, "fail", happened, wantType, failed, `"reason":"failed"`)
		checkEvent(t, "expiry", ended, wantType, expired, `"reason":"expired"`)
		if expired.Error != `{"code":"expired","message":"The lease ran out."}` {
			t.Error(expired.Error)
		}
	}
}

func TestARejectGivesAnAttemptBeyondAll(t *testing.T) {
	t.Parallel()
	i := call(issue.Review)
	i.Attempt = i.MaxAttempts
	rejected, _, err := i.Reject(true, later)
	if err != nil || rejected.Attempt != i.MaxAttempts+1 || rejected.Status != issue.Assigned {
		t.Errorf("%v: %+v", err, rejected)
	}
	running, _, err := rejected.Start(ada, sales, later)
	if err != nil {
		t.Fatal(err)
	}
	failed, _, err := running.FailAttempt(issue.Failure{}, true, later)
	if err != nil || failed.Status != issue.Failed {
		t.Errorf("%v: %+v", err, failed)
	}
}

func TestARejectWithoutAPersonGivesNoAttemptBeyondAll(t *testing.T) {
	t.Parallel()
	i := call(issue.Review)
	for _, c := range []struct {
		attempt, then int
		want          issue.Status
		what          event.Type
	}{
		{i.MaxAttempts - 1, i.MaxAttempts, issue.Assigned, event.IssueRejected},
		{i.MaxAttempts, i.MaxAttempts, issue.Handoff, event.IssueHandedOff},
		{i.MaxAttempts + 1, i.MaxAttempts + 1, issue.Handoff, event.IssueHandedOff},
	} {
		i.Attempt = c.attempt
		next, happened, err := i.RejectAutomatically(true, later, note)
		if err != nil || next.Status != c.want || next.Attempt != c.then || next.Agent != i.Agent {
			t.Errorf("attempt %d: %+v, %v", c.attempt, next, err)
		}
		checkEvent(t, "reject", happened, c.what, next, noteField)
	}
}

func TestTheFirstLeaseIsTheStart(t *testing.T) {
	t.Parallel()
	fresh := least()
	first, _, err := fresh.Start(ada, sales, noon)
	if err != nil || !first.StartedAt.Equal(noon) || first.FencingToken != 1 {
		t.Errorf("%v: %+v", err, first)
	}
	back, _, err := first.ReleaseLease(noon)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := back.Start(ada, sales, later)
	if err != nil || !second.StartedAt.Equal(noon) || second.FencingToken != 2 {
		t.Errorf("%v: %+v", err, second)
	}
}

func TestOpenBlockersAreThoseThatAreNotDone(t *testing.T) {
	t.Parallel()
	two := numbered[id.Issue](2)
	for status, open := range map[issue.Status]int{
		issue.Queued: 1, issue.Assigned: 1, issue.Running: 1, issue.Review: 1, issue.Handoff: 1, issue.Done: 0, issue.Failed: 1,
		issue.Cancelled: 1,
	} {
		before := call(issue.Queued)
		before.OpenBlockers = 2
		got, isChanged := before.Recount(map[id.Issue]issue.Status{two: status, numbered[id.Issue](3): issue.Done})
		want := before
		want.OpenBlockers, want.FailedBlockers, want.Version = open, 0, 8
		if status == issue.Failed || status == issue.Cancelled {
			want.FailedBlockers = 1
		}
		if diff := cmp.Diff(want, got); diff != "" || !isChanged {
			t.Errorf("%s: %t\n%s", status, isChanged, diff)
		}
	}
	before := call(issue.Queued)
	before.FailedBlockers = 0
	got, isChanged := before.Recount(map[id.Issue]issue.Status{two: issue.Review})
	if !cmp.Equal(before, got) || isChanged {
		t.Errorf("%t, %+v", isChanged, got)
	}
}

func TestAnIssueNeedsAPerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(i *issue.Issue)
		need   issue.Need
	}{
		"queued":                  {func(i *issue.Issue) { i.Status = issue.Queued }, issue.NoNeed},
		"running":                 {func(i *issue.Issue) { i.Status = issue.Running }, issue.NoNeed},
		"handed off":              {func(i *issue.Issue) { i.Status = issue.Handoff }, issue.NeedsHelp},
		"parked":                  {func(i *issue.Issue) { i.Status, i.WaitingFor = issue.Handoff, "apr_1" }, issue.NoNeed},
		"in review":               {func(i *issue.Issue) { i.Status = issue.Review }, issue.NeedsReview},
		"at a gate":               {func(i *issue.Issue) { i.Status, i.WaitingFor = issue.Review, "apr_1" }, issue.NoNeed},
		"a container in review":   {func(i *issue.Issue) { i.Status, i.IsContainer = issue.Review, true }, issue.NoNeed},
		"blocked by a failure":    {func(i *issue.Issue) { i.Status, i.FailedBlockers = issue.Queued, 1 }, issue.IsBlocked},
		"assigned and blocked":    {func(i *issue.Issue) { i.Status, i.FailedBlockers = issue.Assigned, 2 }, issue.IsBlocked},
		"cancelled, once blocked": {func(i *issue.Issue) { i.Status, i.FailedBlockers = issue.Cancelled, 1 }, issue.NoNeed},
		"done":                    {func(i *issue.Issue) { i.Status = issue.Done }, issue.NoNeed},
	} {
		i := call(issue.Queued)
		i.FailedBlockers = 0
		c.change(&i)
		if got := i.Need(); got != c.need {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAnIssueWaitsUntilItsInstantHasCome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waits bool
		at    time.Duration // from the instant on
		want  bool
	}{
		"before": {true, -time.Millisecond, false}, "then": {true, 0, true}, "after": {true, time.Hour, true},
		"never": {false, time.Hour, false},
	} {
		before := call(issue.Assigned)
		before.Waiting, before.NotBefore = c.waits, later
		got, awake := before.Wake(later.Add(c.at))
		want := before
		if c.want {
			want.Waiting, want.Version = false, 8
		}
		if diff := cmp.Diff(want, got); diff != "" || awake != c.want {
			t.Errorf("%s: %t\n%s", name, awake, diff)
		}
	}
}

func TestNothingWaitsAfterItsEnd(t *testing.T) {
	t.Parallel()
	i := call(issue.Queued)
	i.NotBefore, i.Waiting = later.Add(time.Hour), true
	cancelled, _, err := i.Cancel(later)
	if err != nil || cancelled.Waiting || !cancelled.NotBefore.Equal(i.NotBefore) {
		t.Errorf("%v: %+v", err, cancelled)
	}
}

func TestAnyMovesLeaveAnIssueWhole(t *testing.T) {
	t.Parallel()
	all := moves()
	rapid.Check(t, func(t *rapid.T) {
		i := least()
		for range rapid.IntRange(1, 30).Draw(t, "moves") {
			m := all[rapid.IntRange(0, len(all)-1).Draw(t, "move")]
			next, happened, err := m.do(i)
			if err != nil {
				if !cmp.Equal(i, next) {
					t.Fatalf("%s is refused, yet changed %+v to %+v", m.name, i, next)
				}
				continue
			}
			if m.action != issue.Update && (next.Version != i.Version+1 || happened.Type == "") {
				t.Fatalf("%s: version %d after %d, %q", m.name, next.Version, i.Version, happened.Type)
			}
			if broken := whatIsBroken(i, next); broken != "" {
				t.Fatalf("%s made of %+v: %+v: %s", m.name, i, next, broken)
			}
			i = next
		}
	})
}

func whatIsBroken(before, i issue.Issue) string {
	leased := i.Status == issue.Running
	switch {
	case (i.Agent == "") != (i.AgentTeam == ""):
		return "a team of no agent"
	case i.Binding != issue.Loose && i.Agent == "":
		return "kept for nobody"
	case i.Agent == "" && (leased || i.Status == issue.Assigned):
		return "nobody has it"
	case i.Agent != "" && i.Status == issue.Queued && i.Binding == issue.Loose:
		return "an agent that it is not kept for"
	case i.Status.IsFinal() == i.FinishedAt.IsZero():
		return "the time of the end"
	case leased && i.StartedAt.IsZero():
		return "no time of the start"
	case i.Attempt < before.Attempt || i.Attempt > before.Attempt+1:
		return "the attempts"
	case i.FencingToken != before.FencingToken && (!leased || i.FencingToken != before.FencingToken+1):
		return "the fencing token"
	case before.Status.IsFinal():
		return "it changed after its end"
	}
	return ""
}

func TestWhatIsBelowACancelledIssueIsCancelledOrNothing(t *testing.T) {
	t.Parallel()
	above := []issue.Ancestor{{ID: "iss_parent", Status: issue.Running}, {ID: "iss_root", Status: issue.Cancelled}}
	for _, c := range []struct {
		of   issue.Ancestor
		want bool
	}{
		{issue.Ancestor{Status: issue.Running}, false}, {issue.Ancestor{Status: issue.Running, IsEnding: true}, true},
		{issue.Ancestor{Status: issue.Done, IsEnding: true}, false}, {issue.Ancestor{Status: issue.Cancelled}, true},
	} {
		if got := issue.IsBelowCancelled([]issue.Ancestor{c.of}); got != c.want {
			t.Errorf("below %+v: %t", c.of, got)
		}
	}
	open, final := issue.Issue{Status: issue.Review}, issue.Issue{Status: issue.Failed}
	err := open.AllowsBelow(above, issue.Accept)
	if refused := fault.Of(err); refused == nil || refused.Code != fault.InvalidTransition || refused.Details["from"] != "cancelled" ||
		refused.Details["action"] != "accept" {
		t.Errorf("accept: %v", err)
	}
	for name, err := range map[string]error{
		"cancel":            open.AllowsBelow(above, issue.Cancel),
		"a final issue":     final.AllowsBelow(above, issue.Retry),
		"nothing cancelled": open.AllowsBelow(above[:1], issue.Accept),
		"no parent":         open.AllowsBelow(nil, issue.Accept),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWorkIsNotRepeatedWithoutBound(t *testing.T) {
	t.Parallel()
	i := issue.Issue{ID: "iss_1", Status: issue.Running, Attempt: 1, MaxAttempts: 3}
	for n := range issue.MostRepeats {
		isLast := i.IsLastRepeat()
		next, _, err := i.ReleaseRepeated(issue.Failure{Error: `{"code":"adapter_failed"}`}, true, noon)
		if err != nil || next.Status != issue.Queued || isLast != (n == issue.MostRepeats-1) {
			t.Fatalf("%+v, %v", next, err)
		}
		i = next
		i.Status = issue.Running
	}
	if i.Attempt != 2 || i.Repeats != 0 {
		t.Errorf("attempt %d, %d repeats", i.Attempt, i.Repeats)
	}
}
