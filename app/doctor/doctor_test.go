package doctor_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/archive"
	"holdco/adapters/system"
	"holdco/app/backups"
	"holdco/app/doctor"
	"holdco/domain/access"
	"holdco/domain/backup"
	found "holdco/domain/doctor"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/workflow"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// long are the checks of the whole database.
var long = []string{"store.schema", "store.integrity", "growth"}

// examine runs all checks, but those that read all that there is unless the world wants these: they take long.
func (w *world) examine(t *testing.T, fix bool) found.Report {
	t.Helper()
	wanted := inbound.Examination{Fix: fix, Full: true, Timeout: time.Hour}
	for _, one := range doctor.Checks() {
		isLong := slices.Contains(long, one.Name)
		if (!isLong || slices.Contains(w.also, one.Name)) && (one.Name != "activity" || !w.isBusy) {
			wanted.Only = append(wanted.Only, one.Name)
		}
	}
	return must[found.Report](t)(w.doctor.Examine(w.ctx, caller, wanted))
}

// isWell fails unless nothing is found.
func (w *world) isWell(t *testing.T) {
	t.Helper()
	for _, one := range w.examine(t, false).Checks {
		if severity := one.Severity(); severity != found.OK && severity != found.Note {
			t.Fatalf("%s: %s\n%v", one.Name, one.Message(), one.Examples)
		}
	}
}

// result is that of one of the checks.
func result(t *testing.T, of found.Report, name string) found.Result {
	t.Helper()
	n := slices.IndexFunc(of.Checks, func(one found.Result) bool { return one.Name == name })
	if n < 0 {
		t.Fatalf("%s was not checked", name)
	}
	return of.Checks[n]
}

func (w *world) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := w.sql.ExecContext(w.ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (w *world) scalar(t *testing.T, query string) (value string) {
	t.Helper()
	if err := w.sql.QueryRowContext(w.ctx, query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func TestAStoreAtWorkOnPostgresAndSQLiteGivesNoFinding(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		const workers = 4
		rounds, steps := 4, 60
		w.isBusy = true
		if testing.Short() {
			rounds = 1
		}
		for round := range rounds {
			var group sync.WaitGroup
			errs := make(chan error, workers)
			for worker := range workers {
				group.Go(func() { errs <- busy{w, rand.New(rand.NewPCG(uint64(round), uint64(worker)))}.works(steps) })
			}
			atWork := make(chan struct{})
			go func() {
				group.Wait()
				close(atWork)
			}()
			for isOver := false; !isOver; {
				select {
				case <-atWork:
					isOver = true
				default:
				}
				w.isWell(t)
			}
			for range workers {
				check(t, <-errs)
			}
			w.upheaval(t, round)
			if n := w.scalar(t, "SELECT count(*) FROM settlements"); n == "0" {
				t.Error("nothing was left to do")
			}
			w.isWell(t)
			for more := true; more; {
				more = must[bool](t)(w.work.Settle(w.ctx))
			}
			w.isWell(t)
			w.clock.Advance(17 * 24 * time.Hour)
			w.isWell(t)
		}
		if n := w.scalar(t, "SELECT count(*) FROM cost_entries WHERE adjusts <> ''"); n == "0" {
			t.Error("nothing was corrected")
		}
		w.isBusy, w.also = false, long
		w.isWell(t)
		if *release != "" {
			w.keep(t, *release)
		}
	})
}

// release is set when a release is made: later programs are tested with its stores.
var release = flag.String("release", "", "the folder of testdata/released in which stores are kept")

// keep writes a backup of the store, and the key that it needs.
func (w *world) keep(t *testing.T, folder string) {
	t.Helper()
	kept := backups.New(backups.Parts{Source: w.source, Archives: archive.Archives{}, Clock: system.Clock{}})
	file := filepath.Join(folder, filepath.Base(t.Name()))
	must[backup.Written](t)(kept.Write(w.ctx, caller, inbound.BackupWanted{File: file + ".tar.zst", Version: filepath.Base(folder)}))
	check(t, os.WriteFile(file+".key", must[[]byte](t)(os.ReadFile(filepath.Join(w.data, "key"))), 0o600))
}

// upheaval retires an agent who works, archives a project with open issues, cancels a tree that is too large for one unit, and files
// what waits for an issue that is done then.
func (w *world) upheaval(t *testing.T, round int) {
	t.Helper()
	newest := w.staff[len(w.staff)-1-round]
	must[issue.Issue](t)(w.file(func(d *issue.Draft) { d.Agent, d.Priority = new(string(newest.ID)), new("urgent") }))
	_, err := w.claim(newest)
	check(t, err)
	_, err = w.agents.Retire(w.ctx, caller, w.of, newest.ID, precondition.Any(), once)
	check(t, err)
	must[issue.Issue](t)(w.file(func(d *issue.Draft) { d.Project = new(new(string(w.project))) }))
	_, err = w.projects.Archive(w.ctx, caller, w.of, w.project, goal.Archiving{CancelOpenIssues: new(true)}, precondition.Any(), once)
	check(t, err)
	w.newProject(t)
	whole := must[issue.Issue](t)(w.file(nil))
	blocker := must[issue.Issue](t)(w.file(func(d *issue.Draft) { d.Priority = new("urgent") }))
	for range 220 {
		must[issue.Issue](t)(w.file(func(d *issue.Draft) {
			d.Parent, d.BlockedBy = new(new(string(whole.ID))), &[]string{string(blocker.ID)}
		}))
	}
	lease := must[*inbound.Lease](t)(w.claim(w.staff[0]))
	if lease != nil {
		_ = w.end(w.staff[0], *lease, issue.Complete)
	}
	_, err = w.issues.Move(w.ctx, caller, w.of, whole.ID, inbound.IssueMove{Action: issue.Cancel}, precondition.Any(), once)
	check(t, err)
}

// settled makes a company in which each rule has something to be about, and that nobody works in.
func (w *world) settled(t *testing.T) (done, running, waiting issue.Issue) {
	t.Helper()
	forAll := func(d *issue.Draft) {
		d.Goal, d.Project, d.Labels = new(new(string(w.goal))), new(new(string(w.project))), &[]string{"a", "b"}
	}
	done = must[issue.Issue](t)(w.file(forAll))
	lease := must[*inbound.Lease](t)(w.claim(w.staff[0]))
	paid, err := w.pay(w.staff[0], *lease, "k", "1.25")
	check(t, err)
	check(t, w.adjust(paid, "-0.000001"))
	check(t, w.end(w.staff[0], *lease, issue.Complete))
	running = must[issue.Issue](t)(w.file(forAll))
	lease = must[*inbound.Lease](t)(w.claim(w.staff[1]))
	_, err = w.pay(w.staff[1], *lease, "k", "0.01")
	check(t, err)
	waiting = must[issue.Issue](t)(w.file(func(d *issue.Draft) {
		forAll(d)
		d.BlockedBy = &[]string{string(running.ID), string(done.ID)}
	}))
	w.isWell(t)
	return done, running, waiting
}

// breaking is a change beside the program, and what it breaks: the rules, and the ids that they are about.
type breaking struct {
	name      string
	statement string
	rules     string // of the examples, sorted by where they come
	about     string // the id of the first; empty: any
	lasts     bool   // it cannot be repaired
}

func TestWhatIsBrokenOnPostgresAndSQLiteIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		done, running, waiting := w.settled(t)
		ada, bea := w.staff[0], w.staff[1]
		for _, c := range []breaking{
			{"an hour", "UPDATE cost_hours SET llm_usd = llm_usd + 1 WHERE scope = 'agent' AND scope_id = '" + string(ada.ID) + "'",
				"cost_hours", string(ada.ID), false},
			{"a day is gone", "DELETE FROM cost_days WHERE scope = 'team' AND scope_id = '" + string(bea.Team) + "'", "cost_days",
				string(bea.Team), false},
			{"a month", "UPDATE cost_months SET input_tokens = input_tokens - 1 WHERE scope = 'company'",
				"cost_months", string(w.of), false},
			{"a month that never was", `INSERT INTO cost_months SELECT company_id, scope, 0, scope_id, model, llm_usd, tools_usd,
				runtime_usd, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, calls
				FROM cost_months WHERE scope = 'company'`,
				"cost_months", string(w.of), false},
			{"another model", "UPDATE cost_months SET model = 'gpt' WHERE scope = 'company' AND start > 0", "cost_months cost_months",
				string(w.of), false},
			{"a total", "UPDATE cost_totals SET calls = calls + 7 WHERE scope_id = '" + string(done.ID) + "'", "cost_totals",
				string(done.ID), false},
			{"spent by a company", "UPDATE envelopes SET spent_usd = spent_usd - 1 WHERE id = '" + string(w.of) + "'", "account.spent",
				string(w.of), false},
			{"spent by an agent", "UPDATE envelopes SET spent_usd = 0 WHERE id = '" + string(bea.ID) + "'", "account.spent",
				string(bea.ID), false},
			{"spent for a goal", "UPDATE envelopes SET spent_usd = spent_usd + 1 WHERE id = '" + string(w.goal) + "'", "account.spent",
				string(w.goal), false},
			{"spent for a project", "UPDATE envelopes SET spent_usd = spent_usd + 1 WHERE id = '" + string(w.project) + "'",
				"account.spent", string(w.project), false},
			{"held by a team", "UPDATE envelopes SET held_usd = held_usd + 5 WHERE id = '" + string(bea.Team) + "'", "account.held",
				string(bea.Team), false},
			{"held by nobody", "UPDATE envelopes SET held_usd = 3 WHERE id = '" + string(ada.ID) + "'",
				"account.held", string(ada.ID), false},
			{"an account is gone", "DELETE FROM envelopes WHERE id = '" + string(bea.ID) + "'",
				"account.held", string(bea.ID), false},
			{"a limit", "UPDATE envelopes SET limit_usd = NULL WHERE id = '" + string(w.goal) + "'",
				"account.limit", string(w.goal), false},
			{"a limit that never was", "UPDATE envelopes SET limit_usd = 7 WHERE id = '" + string(ada.Team) + "'", "account.limit",
				string(ada.Team), false},
			{"spent on an issue", "UPDATE issues SET kept_usd = 1 WHERE id = '" + string(done.ID) + "'",
				"issue.spent", string(done.ID), false},
			{"spent by an agent in all", "UPDATE cost_totals SET tools_usd = tools_usd + 1 WHERE scope_id = '" + string(ada.ID) + "'",
				"cost_totals", string(ada.ID), false},
			{"claimable", "UPDATE issues SET claimable = 1 WHERE id = '" + string(waiting.ID) + "'",
				"issue.derived", string(waiting.ID), false},
			{"who may claim", "UPDATE issues SET claim_key = 't:x' WHERE id = '" + string(waiting.ID) + "'", "issue.derived",
				string(waiting.ID), false},
			{"rank", "UPDATE issues SET rank = 3 WHERE id = '" + string(waiting.ID) + "'",
				"issue.derived", string(waiting.ID), false},
			{"budget group", "UPDATE issues SET budget_group = '' WHERE id = '" + string(waiting.ID) + "'", "issue.derived",
				string(waiting.ID), false},
			{"open blockers", "UPDATE issues SET open_blockers = 2 WHERE id = '" + string(waiting.ID) + "'", "issue.open_blockers",
				string(waiting.ID), false},
			{"no open blockers", "UPDATE issues SET open_blockers = 0, claimable = 1 WHERE id = '" + string(waiting.ID) + "'",
				"issue.open_blockers", string(waiting.ID), false},
			{"a failed blocker", "UPDATE issues SET failed_blockers = 1 WHERE id = '" + string(running.ID) + "'",
				"issue.failed_blockers", string(running.ID), false},
			{"what an issue needs", "UPDATE issues SET need = 'review' WHERE id = '" + string(waiting.ID) + "'", "issue.derived",
				string(waiting.ID), false},
			{"a blocker that is done", "UPDATE issue_blockers SET is_open = 1 WHERE blocker_id = '" + string(done.ID) + "'",
				"issue.blockers issue.open_blockers", string(waiting.ID), false},
			{"a blocker is gone", "DELETE FROM issue_blockers WHERE blocker_id = '" + string(done.ID) + "'", "issue.blockers",
				string(waiting.ID), false},
			{"a label is gone", "DELETE FROM issue_labels WHERE label = 'a' AND issue_id = '" + string(done.ID) + "'", "issue.labels",
				string(done.ID), false},
			{"a tally", "UPDATE tallies SET n = n + 1 WHERE scope = 'company' AND status = 'done'", "tally", string(w.of), false},
			{"a tally of a team", "UPDATE tallies SET n = 0 WHERE scope = 'team' AND status = 'running'",
				"tally", string(bea.Team), false},
			{"a tally of an agent", "DELETE FROM tallies WHERE scope = 'agent' AND status = 'running' AND n > 0",
				"tally", string(bea.ID), false},
			{"a tally of a goal", "UPDATE tallies SET n = -1 WHERE scope = 'goal' AND status = 'queued'", "tally",
				string(w.goal) + "/" + string(w.project), false},
			{"a tally of a project", "UPDATE tallies SET n = n + 1 WHERE scope = 'project' AND status = 'queued'", "tally",
				string(w.project), false},
			{"a day's tally", "UPDATE day_tallies SET n = n + 1", "day_tally", string(w.of), false},
			{"teams", "UPDATE companies SET team_count = 9", "company.teams", string(w.of), false},
			{"agents", "UPDATE companies SET agent_count = 0", "company.agents", string(w.of), false},
			{"agents of a team", "UPDATE teams SET agent_count = 1 WHERE id = '" + string(ada.Team) + "'", "team.agents", string(ada.Team),
				false},
			{"slots of a team", "UPDATE teams SET headcount = 9 WHERE id = '" + string(ada.Team) + "'",
				"team.slots", string(ada.Team), false},
			{"a run with costs is found without", "UPDATE runs SET uncosted_at = 7 WHERE issue_id = '" + string(done.ID) + "'",
				"run.derived", "", false},
			{"several", "UPDATE tallies SET n = n + 1 WHERE scope = 'company'", "tally tally tally", string(w.of), false},

			{"spent by a run", "UPDATE runs SET spent_usd = spent_usd + 1 WHERE issue_id = '" + string(done.ID) + "'",
				"run.spent_usd", "", true},
			{"tokens of a run", "UPDATE runs SET output_tokens = 1 WHERE issue_id = '" + string(done.ID) + "'",
				"run.output_tokens", "", true},
			{"charges of a run", "UPDATE runs SET charges = 2 WHERE issue_id = '" + string(done.ID) + "'", "run.charges", "", true},
			{"a fencing token", "UPDATE issues SET fencing_token = 0 WHERE id = '" + string(running.ID) + "'", "issue.token",
				string(running.ID), true},
			{"a fencing token of a lease", "UPDATE runs SET fencing_token = 0 WHERE issue_id = '" + string(running.ID) + "'", "run.token",
				"", true},
			{"fencing tokens of a lease and its issue", "UPDATE runs SET fencing_token = 0; UPDATE issues SET fencing_token = 0",
				"issue.token run.token issue.token run.token", "", true},
			{"running without a run", `UPDATE runs SET ended_at = 1, held_usd = 0 WHERE ended_at IS NULL`, "account.held account.held " +
				"account.held account.held account.held issue.runs", "", true},
			{"a run without running", "UPDATE runs SET ended_at = NULL WHERE issue_id = '" + string(done.ID) + "'", "issue.runs",
				string(done.ID), true},
			{"the run of another", "UPDATE runs SET agent_id = '" + string(w.staff[3].ID) + "', held_usd = 0 WHERE ended_at IS NULL",
				"account.held account.held account.held account.held account.held run.agent", "", true},
			{"the run of nobody", "UPDATE runs SET agent_id = 'agt_none' WHERE ended_at IS NULL", "account.held account.held run.agent",
				"", true},
			{"its own parent", "UPDATE issues SET parent_id = id WHERE id = '" + string(done.ID) + "'",
				"issue.parents", string(done.ID), true},
			{"a cycle", fmt.Sprintf(`UPDATE issues SET blocked_by = '%s', open_blockers = 1 WHERE id = '%s';
				INSERT INTO issue_blockers (issue_id, blocker_id, company_id, is_open) VALUES ('%[2]s', '%[1]s', '%[3]s', 1)`,
				waiting.ID, running.ID, w.of), "issue.cycle issue.cycle", string(running.ID), true},
			{"a slot", "UPDATE slots SET agent_id = 'agt_none' WHERE agent_id = '" + string(ada.ID) + "'",
				"slot.agent slot.agent", "", true},
		} {
			if c.lasts {
				w.putAside(t)
			}
			w.exec(t, c.statement)
			w.isFound(t, c)
			if c.lasts {
				w.putBack(t)
			} else {
				w.isRepaired(t, c)
			}
			w.isWell(t)
		}
	})
}

func TestRepairsBesideALoadOnPostgresAndSQLiteAreExact(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		const workers = 3
		check(t, busy{w, rand.New(rand.NewPCG(1, 1))}.works(60))
		for _, statement := range []string{
			"UPDATE cost_hours SET llm_usd = llm_usd + 1", "DELETE FROM cost_days", "UPDATE cost_months SET calls = 0",
			"UPDATE cost_totals SET input_tokens = -1", "UPDATE tallies SET n = n + 3", "DELETE FROM day_tallies",
			"UPDATE envelopes SET spent_usd = spent_usd + 9, held_usd = held_usd + 9 WHERE id NOT LIKE 'iss%'",
			"UPDATE issues SET kept_usd = kept_usd + 1, rank = 7, claim_key = 'c'",
			"DELETE FROM issue_labels", "UPDATE companies SET team_count = 0, agent_count = 99",
		} {
			w.exec(t, statement)
		}
		errs := make(chan error, workers+2)
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() { errs <- busy{w, rand.New(rand.NewPCG(2, uint64(worker)))}.works(40) })
		}
		for range 2 { // doctors, who may find the same
			group.Go(func() {
				_, err := w.doctor.Examine(w.ctx, caller, inbound.Examination{Fix: true, Timeout: time.Hour})
				errs <- err
			})
		}
		group.Wait()
		for range workers + 2 {
			check(t, <-errs)
		}
		w.examine(t, true) // what a doctor may have given up on, because the company changed again and again
		w.isWell(t)
	})
}

// lasting are the tables of what cannot be repaired.
var lasting = []string{"runs", "issues", "issue_blockers", "slots"}

// putAside keeps what a change may break that cannot be repaired, and putBack restores it.
func (w *world) putAside(t *testing.T) {
	t.Helper()
	for _, table := range lasting {
		w.exec(t, "CREATE TABLE aside_"+table+" AS SELECT * FROM "+table)
	}
}

func (w *world) putBack(t *testing.T) {
	t.Helper()
	for _, table := range lasting {
		w.exec(t, "DELETE FROM "+table)
		w.exec(t, "INSERT INTO "+table+" SELECT * FROM aside_"+table)
		w.exec(t, "DROP TABLE aside_"+table)
	}
}

// isFound fails unless the rules that are broken are found.
func (w *world) isFound(t *testing.T, c breaking) {
	t.Helper()
	var rules []string
	var first *found.Finding
	for _, one := range w.examine(t, false).Checks {
		if one.Severity() == found.Note {
			continue
		}
		if (one.Severity() == found.Error) != (one.Count > 0) || one.Count != len(one.Examples) || one.Fixed > 0 {
			t.Errorf("%s: %+v", c.name, one)
		}
		for _, example := range one.Examples {
			if rules = append(rules, example.Rule); first == nil {
				first = &example
			}
		}
	}
	if got := strings.Join(rules, " "); got != c.rules || first == nil || c.about != "" && first.About != c.about {
		t.Errorf("%s: %s, %v; want %s of %s", c.name, got, first, c.rules, c.about)
	}
}

// isRepaired repairs what is broken, with an entry in the activity log, and then finds nothing to repair any more.
func (w *world) isRepaired(t *testing.T, c breaking) {
	t.Helper()
	before := w.repairs(t)
	for _, one := range w.examine(t, true).Checks {
		if want := found.OK; one.Fixed > 0 {
			want = found.Note
			if one.Severity() != want || one.Count != one.Fixed || one.Fixable > 0 || !strings.HasPrefix(one.Message(), "repaired: ") {
				t.Errorf("%s: %+v", c.name, one)
			}
		} else if one.Severity() != want {
			t.Errorf("%s: %s", c.name, one.Message())
		}
	}
	after, kept := w.repairs(t), w.dump()
	if len(after) != len(before)+1 {
		t.Errorf("%s: %d repairs are recorded", c.name, len(after)-len(before))
	}
	for _, one := range w.examine(t, true).Checks {
		if one.Severity() != found.OK {
			t.Errorf("%s, again: %s", c.name, one.Message())
		}
	}
	if diff := cmp.Diff(kept, w.dump()); diff != "" {
		t.Errorf("%s: the second time changes %s", c.name, diff)
	}
}

func (w *world) repairs(t *testing.T) []event.Event {
	t.Helper()
	var repairs []event.Event
	only := store.ActivityFilter{Type: event.StoreRepaired}
	for after := (page.Position{}); ; {
		entries := must[page.Page[event.Event]](t)(w.store.Activity().List(w.ctx, only, after, page.MaxSize))
		repairs = append(repairs, entries.Items...)
		if after = entries.Next; after.IsStart() {
			return repairs
		}
	}
}

// inSteps files an issue with two steps, of which agents complete some, and may start the next.
func (w *world) inSteps(t *testing.T, reviews bool, completed int, starts bool) (container issue.Issue) {
	t.Helper()
	container = must[issue.Issue](t)(w.file(func(d *issue.Draft) {
		d.Workflow, d.RequiresReview, d.Priority = new("flow"), new(reviews), new("urgent")
	}))
	for n := 0; n < completed || starts && n == completed; n++ {
		by := w.staff[n]
		lease := must[*inbound.Lease](t)(w.claim(by))
		if lease == nil || lease.Issue.Container != container.ID {
			t.Fatalf("%+v was claimed", lease)
		}
		if n < completed {
			check(t, w.end(by, *lease, issue.Complete))
		}
	}
	return container
}

func (w *world) cancels(t *testing.T, which id.Issue) {
	t.Helper()
	_, err := w.issues.Move(w.ctx, caller, w.of, which, inbound.IssueMove{Action: issue.Cancel}, precondition.Any(), once)
	check(t, err)
}

func TestContainersOnPostgresAndSQLiteAreAsTheirSteps(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		steps := []workflow.StepDraft{{Key: new("a"), Title: new("A")}, {Key: new("b"), Title: new("B")}}
		_, err := w.workflows.Create(w.ctx, caller, w.of, workflow.Draft{Name: new("Flow"), Slug: new("flow"), Steps: &steps}, once)
		check(t, err)
		of := map[issue.Status]id.Issue{
			issue.Done: w.inSteps(t, false, 2, false).ID, issue.Review: w.inSteps(t, true, 2, false).ID,
			issue.Running: w.inSteps(t, true, 1, true).ID,
		}
		between := w.inSteps(t, true, 1, false).ID // its steps
		for _, status := range []issue.Status{issue.Handoff, issue.Cancelled, issue.Queued} {
			of[status] = w.inSteps(t, false, 0, false).ID
		}
		step := func(container id.Issue, key string) id.Issue {
			return id.Issue(w.scalar(t, "SELECT id FROM issues WHERE container_id = '"+string(container)+"' AND step LIKE '% "+key+" %'"))
		}
		w.cancels(t, step(of[issue.Handoff], "b"))
		w.cancels(t, of[issue.Cancelled])
		for status, which := range of {
			if got := w.scalar(t, "SELECT status FROM issues WHERE id = '"+string(which)+"'"); got != string(status) {
				t.Fatalf("%s is %s", status, got)
			}
		}
		w.isWell(t)

		open := step(of[issue.Cancelled], "a")
		for _, c := range []struct {
			which          id.Issue
			kept, is, want string   // its state; what the finding says
			about          id.Issue // empty: which
		}{
			{of[issue.Done], "running", "running", "done", ""},
			{of[issue.Review], "queued", "queued", "review", ""},
			{of[issue.Running], "done", "done", "running", ""},
			{of[issue.Running], "review", "review", "running", ""},
			{between, "done", "done", "running", ""},
			{of[issue.Running], "queued", "queued", "running", ""},
			{of[issue.Handoff], "running", "running", "handoff", ""},
			{of[issue.Queued], "handoff", "handoff", "queued", ""},
			{of[issue.Queued], "failed", "failed", "running", ""},
			{open, "queued", "cancelled with the open step " + string(open), "no open step", of[issue.Cancelled]},
		} {
			row := " WHERE id = '" + string(c.which) + "'"
			was := w.scalar(t, "SELECT status FROM issues"+row)
			w.exec(t, "UPDATE issues SET status = '"+c.kept+"'"+row)
			w.examine(t, true) // what is counted of it
			issues := result(t, w.examine(t, false), "issues")
			if issues.Count != 1 || issues.Fixable != 0 {
				t.Fatalf("%+v: %s: %v", c, issues.Message(), issues.Examples)
			}
			want := found.Finding{Company: w.of, Rule: "issue.steps", About: string(c.which), Kept: c.is, Should: c.want}
			if c.about != "" {
				want.About = string(c.about)
			}
			if issues.Examples[0] != want {
				t.Errorf("%+v: %s", c, issues.Examples[0])
			}
			w.exec(t, "UPDATE issues SET status = '"+was+"'"+row)
			w.examine(t, true)
			w.isWell(t)
		}

		w.exec(t, "UPDATE issues SET status = 'queued' WHERE id = '"+string(open)+"'")
		w.exec(t, fmt.Sprintf(`INSERT INTO settlements (id, company_id, kind, subject, other, epoch, after, actor)
			VALUES ('stl_1', '%s', 'cancel_below', '%s', '', 0, '', 'system:test')`, w.of, of[issue.Cancelled]))
		w.examine(t, true)
		w.isWell(t)
	})
}

func TestACheckThatFailsOnPostgresOrSQLiteIsAnErrorAndTheOthersRun(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		_, running, _ := w.settled(t)
		w.exec(t, "ALTER TABLE cost_months RENAME TO cost_months_gone")
		w.exec(t, "UPDATE companies SET team_count = 9")
		report := w.examine(t, true)
		if names := report.Failed(false); !slices.Equal(names, []string{"budgets"}) {
			t.Fatalf("%v: %+v", names, report)
		}
		if broken, next := result(t, report, "budgets"), result(t, report, "companies"); broken.Severity() != found.Error ||
			!strings.Contains(broken.Message(), "the check failed: ") || !strings.Contains(broken.Message(), "cost_months") ||
			next.Severity() != found.Note || next.Fixed != 1 {
			t.Errorf("%s; %s", broken.Message(), next.Message())
		}
		w.exec(t, "ALTER TABLE cost_months_gone RENAME TO cost_months")
		w.exec(t, "UPDATE issues SET labels = '{' WHERE id = '"+string(running.ID)+"'")
		report = w.examine(t, false)
		if names := report.Failed(false); !slices.Equal(names, []string{"issues"}) {
			t.Errorf("%v: %+v", names, report)
		}
	})
}

func TestOnlyWhoMayDoAllExamines(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, w *world) {
		reader := access.Caller{Actor: "token:tok_1", Scopes: access.Scopes{{Permission: access.Write}}}
		_, err := w.doctor.Examine(w.ctx, reader, inbound.Examination{Timeout: time.Hour})
		if fault.CodeOf(err) != fault.InsufficientScope {
			t.Error(err)
		}
		wanted := inbound.Examination{Only: []string{"issues", "tea"}, Timeout: time.Hour}
		if _, err := w.doctor.Examine(w.ctx, caller, wanted); fault.CodeOf(err) != fault.ValidationFailed {
			t.Error(err)
		}
		wanted.Only = []string{"issues"}
		report := must[found.Report](t)(w.doctor.Examine(w.ctx, caller, wanted))
		if len(report.Checks) != 1 || report.Checks[0].Name != "issues" || report.Checks[0].Seen != "companies: 1" {
			t.Errorf("%+v", report)
		}
		wanted.Timeout = 1
		report = must[found.Report](t)(w.doctor.Examine(w.ctx, caller, wanted))
		if one := report.Checks[0]; one.Severity() != found.Skipped || report.Failed(true) == nil || report.Failed(false) != nil {
			t.Errorf("%+v", one)
		}
	})
}
