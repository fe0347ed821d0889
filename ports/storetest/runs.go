package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/store"
)

var runRules = anyRun.rules([]rule{
	{"a run is found by its lease, in any state", runByLease},
	{"a run is found by the hash of its token, in any state", runByHash},
	{"the open runs of a holder are its own", runsOfHolder},
	{"an open run is found by the key of its claim, of two the later", runByKey},
	{"the open run of an issue is found and locked", runOpen},
	{"the teams at work are those with open runs", teamsAtWork},
	{"an issue has one open run, whoever adds one at once", oneOpenRun},
	{"no two runs have one lease", leaseUnique},
	{"the runs of an issue are its own, newest first", runsOfIssue},
	{"the open runs of an agent are its own, oldest first", runsOfAgent},
	{"checkpoints are the newest of their run, and of all runs of their issue", checkpoints},
	{"checkpoints are kept to the last byte", checkpointTexts},
	{"charges are found by their keys", charges},
	{"no two charges of a run have one key, whoever adds one at once", chargeUnique},
	{"charges keep all that they have", chargesReadBack},
	{"charges of an issue add up by the sessions that they name", chargedSessions},
	{"open runs whose leases have run out are overdue, oldest first", overdueRuns},
	{"whatever was postponed, open runs whose leases have run out are overdue", postponed},
	{"open runs of an epoch that has ended are outdated", outdatedRuns},
	{"why an epoch ended is that of the next one with a reason", revocations},
	{"the open runs of all companies are counted", countOpen},
	{"the sweep is kept, with the start of the oldest open run", sweepState},
	{"leases that last longer than their time are shortened, and no others", shortened},
	{"old answers are forgotten in portions", forgottenAnswers},
})

var anyRun = aggregate[id.Run, run.Run]{
	of:  func(r store.Reader) store.Getter[id.Run, run.Run] { return r.Runs() },
	in:  func(tx store.Tx) store.Repository[id.Run, run.Run] { return tx.Runs() },
	new: func(f *fixture) run.Run { return f.newRun(f.employer(), id.New[id.Issue](f.ids.UUIDv7())) },
	full: func(f *fixture, r *run.Run) {
		at := f.clock.Now()
		r.Lease.EndedAt, r.Lease.Reason, r.Lease.Key = at.Add(time.Second), run.GaveUp, "key"
		r.Lease.Holder, r.Lease.Hash = "holder", f.newKey().Hash()
		r.Team, r.Goal, r.Project, r.Workflow, r.Held = "tm_some", "gl_some", "prj_some", "wf_some", 1<<53+1
		r.Spent, r.Charges, r.Checkpoints, r.Filed = cost.Most, 7, run.MostCheckpoints, run.MostFiled
		r.Tokens = cost.Tokens{Input: 1<<53 + 1, Output: 2, CacheRead: 3, CacheWrite: 4}
		r.Status, r.FinishedAt, r.Error = run.Failed, at.Add(time.Second), `{"n":1e400}`
		r.IsMetered, r.Unpriced = true, "claude"
		r.KeptAnswer = run.KeptAnswer{Fingerprint: "sha", Answer: `{"ä":"\u0000"}`}
	},
	edit: func(f *fixture, r *run.Run) {
		at := f.clock.Now()
		r.Company, r.Issue, r.Agent, r.Team, r.Attempt = "cmp_other", "iss_other", "agt_other", "tm_other", 9
		r.Goal, r.Project, r.Workflow, r.IsMetered = "gl_other", "prj_other", "wf_other", !r.IsMetered
		r.Unpriced = "other"
		r.StartedAt, r.Held = at.Add(time.Hour), 0
		r.Lease.Token, r.Lease.Epoch, r.Lease.Key, r.Lease.Holder = 99, 98, "other", "other"
		r.Lease.Hash = f.newKey().Hash()
		r.Status, r.Lease.Time, r.Lease.ExpiresAt = run.Expired, time.Hour, at.Add(time.Hour)
		r.Lease.EndedAt, r.Lease.Reason, r.FinishedAt = time.Time{}, "", time.Time{}
		r.Spent, r.Tokens, r.Charges, r.Checkpoints, r.Filed = 0, cost.Tokens{}, 1, 2, 3
		r.ContextAt, r.Error, r.KeptAnswer = at.Add(time.Minute), "", run.KeptAnswer{}
	},
	permanent: []string{
		"Company", "Issue", "Agent", "Team", "Goal", "Project", "Workflow", "IsMetered", "Attempt", "StartedAt", "Token", "Epoch",
		"Key", "Holder",
	},
	texts: func(r *run.Run, text string) {
		r.Error, r.Unpriced, r.KeptAnswer = text, text, run.KeptAnswer{Fingerprint: text, Answer: text}
	},
}

// newRun makes an open run that is in no store yet.
func (f *fixture) newRun(of id.Company, on id.Issue) run.Run {
	i := issue.Issue{ID: on, Company: of, Agent: "agt_some", Attempt: 1, FencingToken: 1}
	terms := run.Terms{Time: 5 * time.Minute}
	return run.Grant(id.New[id.Run](f.ids.UUIDv7()), id.New[id.Lease](f.ids.UUIDv7()), i, 1, terms, 0, f.clock.Now())
}

// ran ends a run.
func ran(r *run.Run) { *r = r.End(run.Completed, "", r.StartedAt.Add(time.Second)) }

func starting(runs ...run.Run) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		for _, r := range runs {
			if err := tx.Runs().Add(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}
}

// starts adds so many new runs, each on an issue of its own, altered in one unit.
func (f *fixture) starts(of id.Company, count int, alter func(n int, r *run.Run)) []run.Run {
	f.Helper()
	made := make([]run.Run, count)
	for n := range made {
		made[n] = f.newRun(of, id.New[id.Issue](f.ids.UUIDv7()))
		alter(n, &made[n])
	}
	f.update(starting(made...))
	return made
}

func (f *fixture) newCheckpoint(of run.Run, number int) run.Checkpoint {
	return run.Checkpoint{Company: of.Company, Run: of.ID, Number: number, Note: "Half", At: f.clock.Now()}
}

func checkpointing(made ...run.Checkpoint) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		for _, one := range made {
			if err := tx.Runs().AddCheckpoint(ctx, one); err != nil {
				return err
			}
		}
		return nil
	}
}

func (f *fixture) newCharge(of run.Run, key string) cost.Entry {
	return cost.Entry{
		ID: id.New[id.Cost](f.ids.UUIDv7()), Company: of.Company, Issue: of.Issue, Run: of.ID, Agent: of.Agent, Team: "tm_some",
		Project: "prj_some", Key: key, Kind: cost.Tools, USD: 5, Calls: 1, At: f.clock.Now(),
	}
}

func charging(made ...cost.Entry) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Runs().AddCharges(ctx, made)
	}
}

func revoking(of id.Company, epoch int64, why run.Reason) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Runs().Revoke(ctx, of, epoch, why)
	}
}

// someRun adds a run with a checkpoint and a charge, and the end of an epoch of which there is none yet.
func someRun(f *fixture, of id.Company) unit {
	made := f.newRun(of, id.New[id.Issue](f.ids.UUIDv7()))
	checkpoint, charge := f.newCheckpoint(made, 1), f.newCharge(made, "key")
	uuid := f.ids.UUIDv7()
	epoch := int64(uuid[15]) + int64(uuid[14])<<8
	return func(ctx context.Context, tx store.Tx) error {
		for _, step := range []unit{
			starting(made), checkpointing(checkpoint), charging(charge), revoking(of, epoch, run.CompanyArchived),
		} {
			if err := step(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
}

func someSweep(f *fixture) unit { return sweeping(run.Sweep{At: f.clock.Now()}) }

func sweeping(state run.Sweep) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Runs().SaveSweep(ctx, state) }
}

func (f *fixture) runWrites() map[string]writeCase {
	acme := f.found("with-runs")
	made := f.starts(acme.ID, 2, func(n int, r *run.Run) {
		if n == 1 {
			ran(r)
			r.KeptAnswer = run.KeptAnswer{Fingerprint: "d", Answer: "{}"}
		}
	})
	kept := made[0]
	newcomer := f.newRun(acme.ID, "iss_new")
	_, _, working := f.employs(acme.ID)
	renewed := anyRun.edited(f, working, func(r *run.Run) { *r = r.Renew(r.Lease.ExpiresAt, time.Time{}) })
	checkpoint, charge := f.newCheckpoint(kept, 1), f.newCharge(kept, "key")
	lock := func(ctx context.Context, tx store.Tx) (run.Run, error) { return tx.Runs().Lock(ctx, kept.ID) }
	return map[string]writeCase{
		"Runs.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Runs.LockLease": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Runs().LockLease(ctx, kept.Lease.ID)
			return err
		}},
		"Runs.LockForCall": {locks, locking(working.Lease.ID, "", new(store.LockedLease))},
		"Runs.LockForEnd": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Runs().LockForEnd(ctx, working.Lease.ID, "")
			return err
		}},
		"Runs.LockOpen": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Runs().LockOpen(ctx, kept.Issue)
			return err
		}},
		"Runs.Add": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Runs().Add(ctx, newcomer) }},
		"Runs.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			locked.Filed++
			return tx.Runs().Save(ctx, locked)
		}},
		"Runs.AddCheckpoint": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Runs().AddCheckpoint(ctx, checkpoint) }},
		"Runs.AddCharges": {changes, func(ctx context.Context, tx store.Tx) error {
			return tx.Runs().AddCharges(ctx, []cost.Entry{charge})
		}},
		"Runs.Revoke": {changes, func(ctx context.Context, tx store.Tx) error {
			return tx.Runs().Revoke(ctx, acme.ID, 2, run.CompanyArchived)
		}},
		"Runs.SaveSweep": {notes, sweeping(run.Sweep{At: f.clock.Now()})},
		"Runs.Shorten": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Runs().Shorten(ctx, kept.StartedAt.Add(-time.Hour))
		}},
		"Runs.Postpone": {notes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Runs().Postpone(ctx, renewed.Lease.ExpiresAt.Add(-time.Millisecond))
			return err
		}},
		"Runs.Forget": {notes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Runs().Forget(ctx, made[1].Lease.EndedAt.Add(time.Hour))
			return err
		}},
	}
}

// locked is what a method locks, which can then be saved.
func (f *fixture) locked(lock func(ctx context.Context, tx store.Tx) (run.Run, error)) (found run.Run, err error) {
	f.Helper()
	err = f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) (err error) {
		tx.Unrecorded()
		if found, err = lock(ctx, tx); err != nil {
			return err
		}
		return tx.Runs().Save(ctx, found)
	})
	return found, err
}

func runByLease(f *fixture) {
	open := anyRun.add(f)
	ended := anyRun.add(f, ran)
	byLease := func(which id.Lease) func(ctx context.Context, tx store.Tx) (run.Run, error) {
		return func(ctx context.Context, tx store.Tx) (run.Run, error) { return tx.Runs().LockLease(ctx, which) }
	}
	for _, want := range []run.Run{open, ended} {
		got, err := f.store.Runs().ByLease(f.ctx, want.Lease.ID)
		f.ok(err)
		f.same(got, want)
		got, err = f.locked(byLease(want.Lease.ID))
		f.ok(err)
		f.same(got, want)
	}
	for _, which := range []id.Lease{"", "lse_none", id.Lease(open.ID)} {
		_, err := f.store.Runs().ByLease(f.ctx, which)
		f.code(err, fault.NotFound)
		_, err = f.locked(byLease(which))
		f.code(err, fault.NotFound)
	}
}

func runByHash(f *fixture) {
	hash := func(r *run.Run) { r.Lease.Hash = f.newKey().Hash() }
	open, ended := anyRun.add(f, hash), anyRun.add(f, hash, ran)
	anyRun.add(f)
	replaced := open.Lease.Hash
	open = anyRun.edited(f, open, hash)
	for _, want := range []run.Run{open, ended} {
		got, err := f.store.Runs().ByHash(f.ctx, want.Lease.Hash)
		f.ok(err)
		f.same(got, want)
	}
	for _, missing := range []string{"", replaced} {
		_, err := f.store.Runs().ByHash(f.ctx, missing)
		f.code(err, fault.NotFound)
	}
	twin := anyRun.new(f)
	twin.Lease.Hash = open.Lease.Hash
	f.refused(fault.Internal, starting(twin))
}

func runsOfHolder(f *fixture) {
	made := f.starts(f.found("acme").ID, 5, func(n int, r *run.Run) {
		if r.Lease.Holder = []string{"a", "b", ""}[n%3]; n == 3 {
			ran(r)
		}
	})
	open := func(of string, want ...run.Run) {
		f.Helper()
		got, err := f.store.Runs().OpenOfHolder(f.ctx, of)
		f.ok(err)
		f.same(got, openRuns(want))
	}
	open("a", made[0])
	open("b", made[1], made[4])
	open("")
	open("c")
	anyRun.edited(f, made[1], ran)
	open("b", made[4])
}

func runByKey(f *fixture) {
	acme := f.found("acme").ID
	made := f.starts(acme, 6, func(n int, r *run.Run) {
		r.Lease.Key = []string{"a", "b", "a", "a", "", "b"}[n]
		r.Agent = []id.Agent{"agt_a", "agt_a", "agt_b", "agt_a", "agt_a", "agt_a"}[n]
		r.StartedAt = r.StartedAt.Add(time.Duration(n) * time.Millisecond)
		if n == 5 {
			ran(r)
		}
	})
	found := func(of id.Agent, key string, want run.Run) {
		f.Helper()
		got, err := f.store.Runs().ByKey(f.ctx, of, key)
		f.ok(err)
		f.same(got, want)
	}
	found("agt_a", "a", made[3])
	found("agt_a", "b", made[1])
	found("agt_b", "a", made[2])
	anyRun.edited(f, made[3], ran)
	found("agt_a", "a", made[0])
	for _, missing := range []struct {
		of  id.Agent
		key string
	}{{"agt_b", "b"}, {"agt_a", "A"}, {"agt_none", "a"}} {
		_, err := f.store.Runs().ByKey(f.ctx, missing.of, missing.key)
		f.code(err, fault.NotFound)
	}
}

func runOpen(f *fixture) {
	first := anyRun.add(f, ran)
	open := func(ctx context.Context, tx store.Tx) (run.Run, error) { return tx.Runs().LockOpen(ctx, first.Issue) }
	none := func() {
		f.Helper()
		_, err := f.locked(open)
		f.code(err, fault.NotFound)
		_, err = f.store.Runs().OpenOf(f.ctx, first.Issue)
		f.code(err, fault.NotFound)
	}
	none()
	again := anyRun.add(f, func(r *run.Run) { r.Issue, r.Lease.Token = first.Issue, 2 })
	anyRun.add(f)
	got, err := f.locked(open)
	f.ok(err)
	f.same(got, again)
	got, err = f.store.Runs().OpenOf(f.ctx, first.Issue)
	f.ok(err)
	f.same(got, again)
	anyRun.edited(f, again, ran)
	none()
}

func teamsAtWork(f *fixture) {
	acme := f.found("acme").ID
	f.starts(acme, 6, func(n int, r *run.Run) {
		r.Team = []id.Team{"tm_a", "tm_b", "tm_c", ""}[n%4]
		if n == 2 {
			ran(r)
		}
	})
	for of, want := range map[id.Company][]id.Team{acme: {"tm_a", "tm_b"}, "cmp_none": nil} {
		got, err := f.store.Runs().TeamsAtWork(f.ctx, of)
		f.ok(err)
		slices.Sort(got)
		f.same(got, want)
	}
}

func oneOpenRun(f *fixture) {
	acme := f.found("acme").ID
	for round := range 4 {
		made := make([]run.Run, crowd)
		for n := range made {
			made[n] = f.newRun(acme, "iss_wanted")
		}
		f.exactly(together(crowd, func(n int) error { return f.store.Update(f.ctx, starting(made[n])) }),
			map[fault.Code]int{"": 1, fault.Internal: crowd - 1})
		runs := walk(f, page.MaxSize, f.runPages("iss_wanted", page.MaxSize))
		f.same(len(runs), round+1)
		for _, one := range runs {
			if one.IsOpen() {
				anyRun.edited(f, one, ran)
			}
		}
	}
	ended := anyRun.add(f, ran)
	anyRun.add(f, func(r *run.Run) { r.Issue = ended.Issue })
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error { // it would be open again, beside another
		tx.Unrecorded()
		locked, err := tx.Runs().Lock(ctx, ended.ID)
		if err != nil {
			return err
		}
		locked.Lease.EndedAt = time.Time{}
		return tx.Runs().Save(ctx, locked)
	})
}

func leaseUnique(f *fixture) {
	kept, twin := anyRun.add(f, ran), anyRun.new(f)
	twin.Lease.ID = kept.Lease.ID
	f.refused(fault.Internal, starting(twin))
	anyRun.is(f, kept)
}

func (f *fixture) runPages(of id.Issue, size int) pages[run.Run] {
	return func(after page.Position) (page.Page[run.Run], error) {
		return f.store.Runs().List(f.ctx, of, after, size)
	}
}

func runsOfIssue(f *fixture) {
	acme := f.found("acme").ID
	want := map[id.Issue][]run.Run{}
	add := func(n int) {
		r := f.newRun(acme, []id.Issue{"iss_a", "iss_b"}[n%2])
		ran(&r)
		f.update(starting(r))
		want[r.Issue] = append(want[r.Issue], r)
	}
	f.severally(add)
	for range page.DefaultSize {
		add(0)
	}
	for _, of := range []id.Issue{"iss_a", "iss_b", "iss_none"} {
		list := want[of]
		slices.SortFunc(list, func(a, b run.Run) int { return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.ID, a.ID)) })
		for _, size := range []int{1, 3, page.DefaultSize} {
			f.same(walk(f, size, f.runPages(of, size)), list)
		}
	}
	steady(f, 2, f.runPages("iss_a", 2), func(r run.Run) string { return string(r.ID) }, func() {
		f.clock.Advance(time.Millisecond)
		add(0)
	})
}

func runsOfAgent(f *fixture) {
	acme := f.found("acme").ID
	at := f.clock.Now()
	made := f.starts(acme, run.MostOpen+20, func(n int, r *run.Run) {
		r.StartedAt = at.Add(-time.Duration(n/2) * time.Millisecond)
		if r.Agent = "agt_many"; n < 9 {
			r.Agent = []id.Agent{"agt_a", "agt_b"}[n%2]
		}
		if n%3 == 2 && n < 9 {
			ran(r)
		}
	})
	open := func(of id.Agent) {
		f.Helper()
		var want []run.Run
		for _, r := range made {
			if r.Agent == of && r.IsOpen() {
				want = append(want, r)
			}
		}
		slices.SortFunc(want, func(a, b run.Run) int { return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID)) })
		got, err := f.store.Runs().OpenOfAgent(f.ctx, of)
		f.ok(err)
		f.same(got, want[:min(len(want), run.MostOpen)])
	}
	for _, of := range []id.Agent{"agt_a", "agt_b", "agt_many", "agt_none"} {
		open(of)
	}
}

func checkpoints(f *fixture) {
	made := f.starts(f.found("acme").ID, 3, func(n int, r *run.Run) {
		if n < 2 {
			r.Issue = "iss_a"
		}
		if n == 0 {
			ran(r)
		}
	})
	of, on := map[id.Run][]run.Checkpoint{}, map[id.Issue][]run.Checkpoint{}
	f.severally(func(n int) {
		r := made[n%3]
		one := f.newCheckpoint(r, n/3+1)
		if n%2 == 0 {
			one.Data = `{"n":1}`
		}
		f.update(checkpointing(one))
		of[r.ID], on[r.Issue] = append(of[r.ID], one), append(on[r.Issue], one)
	})
	newestFirst := func(list []run.Checkpoint) []run.Checkpoint {
		slices.SortFunc(list, func(a, b run.Checkpoint) int {
			return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Run, a.Run), cmp.Compare(b.Number, a.Number))
		})
		return list
	}
	for _, most := range []int{1, 3, 1000} {
		for _, r := range made {
			got, err := f.store.Runs().Checkpoints(f.ctx, r.ID, most)
			f.ok(err)
			f.same(got, newestFirst(of[r.ID])[:min(most, len(of[r.ID]))])
			got, err = f.store.Runs().CheckpointsOn(f.ctx, r.Issue, most)
			f.ok(err)
			f.same(got, newestFirst(on[r.Issue])[:min(most, len(on[r.Issue]))])
		}
	}
	f.refused(fault.Internal, checkpointing(of[made[0].ID][0])) // its number is taken
	none, err := f.store.Runs().Checkpoints(f.ctx, "run_none", 10)
	f.ok(err)
	f.same(len(none), 0)
}

func checkpointTexts(f *fixture) {
	r := anyRun.add(f)
	for n, text := range slices.Concat(texts, longTexts) {
		made := f.newCheckpoint(r, n+1)
		made.Note, made.Data = text, text
		f.update(checkpointing(made))
		got, err := f.store.Runs().Checkpoints(f.ctx, r.ID, 1)
		f.ok(err)
		f.same(got, []run.Checkpoint{made})
	}
}

func (f *fixture) chargesAre(of id.Run, keys []string, want ...cost.Entry) {
	f.Helper()
	got, err := f.store.Runs().Charges(f.ctx, of, keys)
	f.ok(err)
	byID := func(a, b cost.Entry) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	f.same(got, want)
}

func charges(f *fixture) {
	made := f.starts(f.found("acme").ID, 2, func(int, *run.Run) {})
	one, two := made[0], made[1]
	a, b, theirs := f.newCharge(one, "a"), f.newCharge(one, "b"), f.newCharge(two, "a")
	f.update(charging(a, b))
	f.update(charging(theirs))
	f.update(charging())
	f.chargesAre(one.ID, []string{"a"}, a)
	f.chargesAre(one.ID, []string{"b", "c", "a", "a"}, a, b)
	f.chargesAre(two.ID, []string{"a", "b"}, theirs)
	f.chargesAre(one.ID, []string{"A", ""})
	f.chargesAre(one.ID, nil)
	f.chargesAre("run_none", []string{"a"})
	var many []cost.Entry
	var keys []string
	for n := range cost.MostInCall {
		keys = append(keys, fmt.Sprint("key-", n))
		many = append(many, f.newCharge(two, keys[n]))
	}
	f.update(charging(many...))
	f.chargesAre(two.ID, keys, many...)
}

func chargeUnique(f *fixture) {
	r := anyRun.add(f)
	made := make([][]cost.Entry, crowd)
	for n := range made {
		made[n] = []cost.Entry{f.newCharge(r, fmt.Sprint("own-", n)), f.newCharge(r, "wanted")}
	}
	f.exactly(together(crowd, func(n int) error { return f.store.Update(f.ctx, charging(made[n]...)) }),
		map[fault.Code]int{"": 1, fault.Internal: crowd - 1})
	keys := []string{"wanted"}
	for n := range made {
		keys = append(keys, fmt.Sprint("own-", n))
	}
	got, err := f.store.Runs().Charges(f.ctx, r.ID, keys)
	f.ok(err)
	f.same(len(got), 2) // both of one unit
}

func chargesReadBack(f *fixture) {
	r := anyRun.add(f)
	bare, full := f.newCharge(r, "bare"), f.newCharge(r, "full")
	full.Kind, full.USD, full.Model, full.Billing = cost.LLM, cost.Most, "claude", "subscription"
	full.Tokens = cost.Tokens{Input: cost.MostTokens, Output: 2, CacheRead: 3, CacheWrite: 4}
	full.Calls, full.Unpriced, full.Late, full.At = cost.MostTokens, true, true, full.At.Add(time.Millisecond)
	full.Revision, full.Session, full.IsReported, full.ReportedUSD = 1<<53+1, "th_1", true, cost.Most
	f.update(charging(bare, full))
	f.chargesAre(r.ID, []string{"bare", "full"}, bare, full)
	for n, text := range texts {
		one := f.newCharge(r, fmt.Sprint(n))
		one.Model, one.Billing, one.Session = text, text, text
		f.update(charging(one))
		f.chargesAre(r.ID, []string{one.Key}, one)
	}
}

func chargedSessions(f *fixture) {
	first, second, other := anyRun.add(f), anyRun.add(f), anyRun.add(f)
	session := func(r run.Run, key, session string, input int64) cost.Entry {
		charge := f.newCharge(r, key)
		charge.Issue = first.Issue
		charge.Session, charge.Tokens = session, cost.Tokens{Input: input, Output: 1, CacheRead: 2, CacheWrite: 3}
		return charge
	}
	elsewhere := session(other, "a", "th_1", 100)
	elsewhere.Issue = other.Issue
	f.update(charging(
		session(first, "a", "th_1", 1<<53), session(first, "b", "", 7), session(first, "c", "th_2", 8), session(second, "a", "th_1", 1),
		elsewhere,
	))
	got, err := f.store.Runs().Sessions(f.ctx, first.Issue, "run_none")
	f.ok(err)
	f.same(got, map[string]cost.Tokens{
		"th_1": {Input: 1<<53 + 1, Output: 2, CacheRead: 4, CacheWrite: 6}, "th_2": {Input: 8, Output: 1, CacheRead: 2, CacheWrite: 3},
	})
	got, err = f.store.Runs().Sessions(f.ctx, first.Issue, first.ID)
	f.ok(err)
	f.same(got, map[string]cost.Tokens{"th_1": {Input: 1, Output: 1, CacheRead: 2, CacheWrite: 3}})
	got, err = f.store.Runs().Sessions(f.ctx, "iss_none", first.ID)
	f.ok(err)
	f.same(got, map[string]cost.Tokens{})
}

func openRuns(of []run.Run) (list []store.OpenRun) {
	for _, r := range of {
		list = append(list, store.OpenRun{ID: r.ID, Company: r.Company, Issue: r.Issue})
	}
	return list
}

func overdueRuns(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	at := f.clock.Now()
	overdue := func(want ...run.Run) {
		f.Helper()
		got, err := f.store.Runs().Overdue(f.ctx, at)
		f.ok(err)
		f.same(got, openRuns(want))
	}
	overdue()
	made := f.starts(acme, 5, func(n int, r *run.Run) { r.Lease.ExpiresAt = at.Add(time.Duration(1-n) * time.Millisecond) })
	theirs := f.starts(other, 1, func(_ int, r *run.Run) { r.Lease.ExpiresAt = at.Add(-time.Hour) })
	gone := f.found("gone", func(c *company.Company) { c.Status = company.Deleting }).ID
	ended := f.found("archived", func(c *company.Company) { c.LeaseEpoch++ }).ID
	for _, of := range []id.Company{gone, ended} { // they end in other ways
		f.starts(of, 1, func(_ int, r *run.Run) { r.Lease.ExpiresAt = at.Add(-2 * time.Hour) })
	}
	overdue(theirs[0], made[4], made[3], made[2], made[1])
	anyRun.edited(f, made[3], ran)
	renewed := anyRun.edited(f, made[4], func(r *run.Run) { *r = r.Renew(at, time.Time{}) })
	overdue(theirs[0], made[2], made[1])
	anyRun.edited(f, renewed, func(r *run.Run) { r.Lease.ExpiresAt = at.Add(-time.Minute) })
	overdue(theirs[0], made[4], made[2], made[1])
	f.starts(acme, store.Portion, func(_ int, r *run.Run) { r.Lease.ExpiresAt = at })
	got, err := f.store.Runs().Overdue(f.ctx, at)
	f.ok(err)
	f.same(len(got), store.Portion)
	f.same(got[:3], openRuns([]run.Run{theirs[0], made[4], made[2]}))
}

// postponed renews leases again and again: however often Postpone was called, what is overdue is the same.
func postponed(f *fixture) {
	r := random()
	acme := f.found("acme").ID
	at := f.clock.Now()
	const count = store.Portion + 20
	made := f.starts(acme, count, func(_ int, r *run.Run) { r.Lease.ExpiresAt = at.Add(time.Millisecond) })
	postpone := func() (left bool) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) (err error) {
			left, err = tx.Runs().Postpone(ctx, at)
			return err
		})
		return left
	}
	for step := range 20 {
		for range 5 {
			n := r.IntN(count)
			made[n] = anyRun.edited(f, made[n], func(one *run.Run) {
				if one.IsOpen() {
					*one = one.Renew(at, time.Time{})
					one.Lease.ExpiresAt = at.Add(time.Duration(r.IntN(5)) * time.Minute)
				}
				if r.IntN(30) == 0 {
					ran(one)
				}
			})
		}
		at = at.Add(time.Duration(r.IntN(60)) * time.Second)
		if step%3 == 0 {
			for postpone() {
			}
		}
		var want []run.Run
		for _, one := range made {
			if one.IsOpen() && !one.Lease.ExpiresAt.After(at) {
				want = append(want, one)
			}
		}
		got, err := f.store.Runs().Overdue(f.ctx, at)
		f.ok(err)
		if len(want) > store.Portion {
			f.same(len(got), store.Portion)
			continue
		}
		byID := func(a, b store.OpenRun) int { return cmp.Compare(a.ID, b.ID) }
		f.same(slices.SortedFunc(slices.Values(got), byID), slices.SortedFunc(slices.Values(openRuns(want)), byID))
	}
	later := at.Add(time.Hour)
	for _, one := range made { // all are renewed at once
		if one.IsOpen() {
			anyRun.edited(f, one, func(one *run.Run) { one.Lease.ExpiresAt = later })
		}
	}
	at = later.Add(-time.Minute)
	f.same([]bool{postpone(), postpone(), postpone()}, []bool{true, false, false})
}

func outdatedRuns(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	made := f.starts(acme, 6, func(n int, r *run.Run) {
		if r.Lease.Epoch = int64(n/2 + 1); n == 1 {
			ran(r)
		}
	})
	f.starts(other, 1, func(int, *run.Run) {})
	outdated := func(epoch int64, want []run.Run) {
		f.Helper()
		got, err := f.store.Runs().Outdated(f.ctx, acme, epoch)
		f.ok(err)
		slices.SortFunc(got, func(a, b store.OpenRun) int { return cmp.Compare(a.ID, b.ID) }) // those of one epoch come in any order
		f.same(got, openRuns(want))
	}
	outdated(1, nil)
	outdated(2, made[:1])
	outdated(3, []run.Run{made[0], made[2], made[3]})
	outdated(9, []run.Run{made[0], made[2], made[3], made[4], made[5]})
	many := f.starts(acme, store.Portion-1, func(int, *run.Run) {})
	first := slices.Concat(made[:1], many) // of the first epoch, and as many as there are in a portion
	outdated(2, first)
	outdated(9, first)
	anyRun.edited(f, made[0], ran)
	outdated(2, many)
}

func revocations(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	for epoch, why := range map[int64]run.Reason{2: run.CompanyArchived, 3: run.AgentRetired, 5: run.CompanyDeleted} {
		f.update(revoking(acme, epoch, why))
	}
	f.update(revoking(other, 4, run.RanOut))
	for epoch, want := range map[int64]run.Reason{
		0: run.CompanyArchived, 1: run.CompanyArchived, 2: run.AgentRetired, 3: run.CompanyDeleted, 4: run.CompanyDeleted,
	} {
		got, err := f.store.Runs().Revocation(f.ctx, acme, epoch)
		f.ok(err)
		f.same(got, want)
	}
	for of, epoch := range map[id.Company]int64{acme: 5, other: 4, "cmp_none": 0} {
		_, err := f.store.Runs().Revocation(f.ctx, of, epoch)
		f.code(err, fault.NotFound)
	}
	f.refused(fault.Internal, revoking(acme, 3, run.RanOut))
}

func countOpen(f *fixture) {
	at := f.clock.Now()
	is := func(count int, first time.Time) {
		f.Helper()
		got, runsOut, err := f.store.Runs().CountOpen(f.ctx)
		f.ok(err)
		f.same(got, count)
		f.same(runsOut, first)
	}
	is(0, time.Time{})
	made := f.starts(f.found("acme").ID, 3, func(n int, r *run.Run) { r.Lease.ExpiresAt = at.Add(time.Duration(n) * time.Hour) })
	is(3, at)
	theirs := f.starts(f.found("other").ID, 1, func(_ int, r *run.Run) { r.Lease.ExpiresAt = at.Add(-time.Hour) })[0]
	is(4, at.Add(-time.Hour))
	anyRun.edited(f, theirs, ran)
	is(3, at)
	anyRun.edited(f, made[0], func(r *run.Run) { *r = r.Renew(at.Add(2*time.Hour), time.Time{}) })
	is(3, at.Add(time.Hour))
	anyRun.edited(f, made[1], ran)
	f.update(func(ctx context.Context, tx store.Tx) error { // as a unit sees it
		tx.Unrecorded()
		if err := tx.Runs().Add(ctx, f.newRun(made[0].Company, "iss_another")); err != nil {
			return err
		}
		got, _, err := tx.Runs().CountOpen(ctx)
		f.same(got, 3)
		return err
	})
}

func sweepState(f *fixture) {
	at := f.clock.Now()
	is := func(want run.Sweep, wantOldest time.Time) {
		f.Helper()
		got, hasOpen, err := f.store.Runs().Sweep(f.ctx)
		f.ok(err)
		f.same(got, want)
		f.same(hasOpen, !wantOldest.IsZero())
		oldest, err := f.store.Runs().OldestOpen(f.ctx)
		f.ok(err)
		f.same(oldest, wantOldest)
	}
	is(run.Sweep{}, time.Time{})
	made := f.starts(f.found("acme").ID, 3, func(n int, r *run.Run) { r.StartedAt = at.Add(time.Duration(n) * time.Millisecond) })
	for _, state := range []run.Sweep{{At: at, GraceUntil: at.Add(time.Minute)}, {At: at.Add(time.Millisecond)}, {}} {
		f.update(sweeping(state))
		is(state, at)
	}
	anyRun.edited(f, made[0], ran)
	is(run.Sweep{}, at.Add(time.Millisecond))
	for _, one := range made[1:] {
		anyRun.edited(f, one, ran)
	}
	is(run.Sweep{}, time.Time{})
	f.update(func(ctx context.Context, tx store.Tx) error { // as a unit sees it
		if err := tx.Runs().SaveSweep(ctx, run.Sweep{At: at}); err != nil {
			return err
		}
		got, _, err := tx.Runs().Sweep(ctx)
		f.same(got, run.Sweep{At: at})
		return err
	})
}

func shortened(f *fixture) {
	acme := f.found("acme").ID
	at := f.clock.Now()
	made := f.starts(acme, 5, func(n int, r *run.Run) {
		r.Lease.Time = time.Duration(n%2+1) * time.Minute
		r.Lease.ExpiresAt = at.Add([]time.Duration{
			time.Minute, 2 * time.Minute, time.Minute + time.Millisecond, time.Hour, time.Hour,
		}[n])
		if n == 4 {
			ran(r)
		}
	})
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Runs().Shorten(ctx, at) })
	made[2].Lease.ExpiresAt, made[3].Lease.ExpiresAt = at.Add(time.Minute), at.Add(2*time.Minute)
	for _, want := range made {
		anyRun.is(f, want)
	}
}

func forgottenAnswers(f *fixture) {
	at := f.clock.Now()
	const old = store.Portion + 3
	made := f.starts(f.found("acme").ID, old+3, func(n int, r *run.Run) {
		r.StartedAt = at.Add(-time.Hour - time.Duration(n)*time.Millisecond)
		ran(r)
		switch n {
		case old: // it ended at that instant
			r.Lease.EndedAt = at
		case old + 1: // it was not ended by a call
			return
		case old + 2:
			r.Lease.EndedAt = time.Time{}
		}
		r.KeptAnswer = run.KeptAnswer{Fingerprint: "d", Answer: "{}"}
	})
	for _, want := range []bool{true, false, false} {
		f.update(func(ctx context.Context, tx store.Tx) error {
			cleared, err := tx.Runs().Forget(ctx, at)
			f.same(cleared == store.Portion, want)
			return err
		})
		kept := 0
		for n, r := range made {
			got, err := f.store.Runs().Get(f.ctx, r.ID)
			f.ok(err)
			if n < old && got.KeptAnswer == (run.KeptAnswer{}) {
				r.KeptAnswer = run.KeptAnswer{}
			} else if n < old {
				kept++
			}
			f.same(got, r)
		}
		if want {
			f.same(kept, old-store.Portion)
		} else {
			f.same(kept, 0)
		}
	}
}
