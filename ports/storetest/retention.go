package storetest

import (
	"context"
	"slices"
	"time"

	"holdco/domain/audit"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/domain/retention"
	"holdco/domain/run"
	"holdco/ports/store"
)

var retentionRules = []rule{
	{"the state of a kind is kept", retentionState},
	{"old entries come from the oldest on, with what decides whether they may go", entriesOld},
	{"what the outbox still needs is awaited", entriesAwaited},
	{"removed entries are gone, and of their links only one right before an entry that stays is left", entriesRemoved},
	{"the stub of a chain is kept, and goes with its company", stubKept},
	{"old checkpoints come with their runs, and are removed without these", checkpointsOld},
	{"removals of leads are pruned, but not their last key", leadsPruned},
}

func retentionState(f *fixture) {
	for _, want := range []retention.State{{}, {Removed: 7}, {Removed: 1, Done: f.clock.Now()}, {Done: f.clock.Now().Add(time.Hour)}} {
		f.update(func(ctx context.Context, tx store.Tx) error {
			if _, err := tx.Retention().Hold(ctx, retention.Runs); err != nil {
				return err
			}
			return tx.Retention().Save(ctx, retention.Runs, want)
		})
		got, err := f.store.Retention().State(f.ctx, retention.Runs)
		f.ok(err)
		f.same(got, want)
		f.update(func(ctx context.Context, tx store.Tx) error {
			held, err := tx.Retention().Hold(ctx, retention.Runs)
			f.same(held, want)
			return err
		})
		other, err := f.store.Retention().State(f.ctx, retention.Audit)
		f.ok(err)
		f.same(other, retention.State{})
	}
}

// chains chains all entries, by any hashes.
func (f *fixture) chains() map[id.Entry]audit.Link {
	f.Helper()
	all, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, page.MaxSize)
	f.ok(err)
	slices.Reverse(all.Items)
	from, err := f.store.Activity().Chained(f.ctx)
	f.ok(err)
	portion := store.ChainedPortion{From: from, To: store.Place{Transaction: from.Transaction, Sequence: from.Sequence + 1}}
	last, links := map[id.Company]audit.Link{}, map[id.Entry]audit.Link{}
	for _, one := range all.Items {
		last[one.Company] = last[one.Company].Next([]byte(one.ID))
		links[one.ID] = last[one.Company]
		portion.Links = append(portion.Links, store.ChainedLink{Company: one.Company, Entry: one.ID, Link: links[one.ID]})
	}
	f.update(func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Activity().Extend(ctx, portion)
		return err
	})
	return links
}

func (f *fixture) oldEntries() []store.OldEntry {
	f.Helper()
	found, err := f.store.Retention().Entries(f.ctx, f.clock.Now().Add(time.Hour), store.OldEntry{}, 100)
	f.ok(err)
	return found
}

func entriesOld(f *fixture) {
	company := f.found("old")
	f.clock.Advance(time.Hour)
	f.update(recording(event.Of(event.TokenCreated, "", "tok_a", nil).By("system:test")))
	before := f.oldEntries()
	f.same(len(before), 2)
	for _, one := range before {
		f.same(one.IsChained, false)
	}
	links := f.chains()
	f.clock.Advance(time.Hour)
	f.update(recording(event.Of(event.LeadRemoved, "", "", nil).By("system:test")))

	var walked []store.OldEntry
	for after := (store.OldEntry{}); ; {
		some, err := f.store.Retention().Entries(f.ctx, f.clock.Now(), after, 1)
		f.ok(err)
		if len(some) == 0 {
			break
		}
		walked, after = append(walked, some...), some[0]
	}
	f.same(len(walked), 2) // what was made at the instant itself is not before it
	for n, category := range []string{"company", "token"} {
		one := walked[n]
		f.same(one.Entry, retention.Entry{At: before[n].At, Category: category, IsChained: true})
		f.same(one.Link, links[one.ID])
		f.same(one.Bytes > 0, true)
	}
	f.same([]id.Company{walked[0].Company, walked[1].Company}, []id.Company{company.ID, ""})
}

func entriesAwaited(f *fixture) {
	endpoint := f.endpoint()
	f.update(recording(event.Of(event.TokenCreated, "", "tok_a", nil).By("system:test")))
	awaited := func(want bool) {
		f.Helper()
		all := f.oldEntries()
		f.same(all[len(all)-1].IsAwaited, want)
	}
	awaited(true) // it has no position yet
	f.enqueue(10, endpoint.ID)
	awaited(true)
	f.update(disconnecting(endpoint.ID))
	awaited(false)
}

func entriesRemoved(f *fixture) {
	company := f.found("old")
	for range 5 {
		f.clock.Advance(time.Second)
		f.update(recording(event.Of(event.CompanyUpdated, company.ID, string(company.ID), nil).By("system:test")))
	}
	links := f.chains()
	all := f.oldEntries()
	remove := func(which ...int) {
		f.Helper()
		var some []store.OldEntry
		for _, n := range which {
			some = append(some, all[n])
		}
		f.update(func(ctx context.Context, tx store.Tx) error { return tx.Retention().RemoveEntries(ctx, some) })
	}
	are := func(entries, left []int) {
		f.Helper()
		found, err := f.store.Activity().Chain(f.ctx, company.ID, store.ChainPosition{}, 100)
		f.ok(err)
		var gotEntries, gotLinks []int
		for _, one := range found {
			n := int(one.Link.Number) - 1
			f.same(one.Link, links[all[n].ID])
			gotLinks = append(gotLinks, n)
			if one.Event != nil {
				gotEntries = append(gotEntries, n)
			}
		}
		f.same(gotEntries, entries)
		f.same(gotLinks, left)
	}
	remove(0, 1)
	are([]int{2, 3, 4, 5}, []int{1, 2, 3, 4, 5})
	remove(3)
	are([]int{2, 4, 5}, []int{1, 2, 3, 4, 5})
	remove(2)
	are([]int{4, 5}, []int{3, 4, 5})
	remove(5)
	are([]int{4}, []int{3, 4})
	_, err := f.store.Activity().Get(f.ctx, all[5].ID)
	f.code(err, fault.NotFound)
	heads, err := f.store.Activity().Heads(f.ctx, []id.Company{company.ID})
	f.ok(err)
	f.same(heads[company.ID].Link, links[all[5].ID])
	remove(4)
	are(nil, nil)
}

func (f *fixture) newStub(of id.Company) audit.SignedStub {
	key := make([]byte, 32)
	key[7] = 9
	return audit.SignedStub{
		Stub: audit.Stub{
			Company: of, First: 2, Last: audit.Link{Number: 7}.Next([]byte("a")), Count: 3, At: f.clock.Now(),
		},
		Signature: audit.Signature{Text: []byte("signed"), Key: key},
	}
}

func stubbing(stub audit.SignedStub) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Retention().SaveStub(ctx, stub) }
}

func stubKept(f *fixture) {
	leaving := f.found("leaving")
	first, ofNone := f.newStub(leaving.ID), f.newStub("")
	f.update(stubbing(first))
	f.update(stubbing(ofNone))
	next := f.newStub(leaving.ID)
	next.Count, next.First = 9, 1
	f.update(stubbing(next))
	is := func(of id.Company, want *audit.SignedStub) {
		f.Helper()
		got, err := f.store.Retention().Stub(f.ctx, of)
		f.ok(err)
		f.same(got, want)
	}
	is(leaving.ID, &next)
	is("", &ofNone)
	all, err := f.store.Retention().Stubs(f.ctx)
	f.ok(err)
	f.same(all, []audit.SignedStub{ofNone, next})
	f.remove(leaving.ID)
	is(leaving.ID, nil)
	is("", &ofNone)
	if err := f.store.Update(f.ctx, stubbing(next)); err == nil {
		f.Error("a company that is gone has a stub")
	}
}

func checkpointsOld(f *fixture) {
	acme := f.found("acme")
	issues := f.files(acme.ID, 2, func(n int, i *issue.Issue) { i.Status = []issue.Status{issue.Queued, issue.Failed}[n] })
	made := f.starts(acme.ID, 3, func(n int, r *run.Run) {
		if n < 2 {
			r.Issue = issues[n].ID
			ran(r)
		}
	})
	var all []run.Checkpoint
	for n := range 6 {
		f.clock.Advance(time.Second)
		one := f.newCheckpoint(made[n%3], n/3+1)
		f.update(checkpointing(one))
		all = append(all, one)
	}
	f.clock.Advance(time.Second)
	read := func() (walked []store.OldCheckpoint) {
		f.Helper()
		for after := (store.OldCheckpoint{}); ; {
			some, err := f.store.Retention().Checkpoints(f.ctx, f.clock.Now(), after, 2)
			f.ok(err)
			if len(some) == 0 {
				return walked
			}
			walked, after = append(walked, some...), some[len(some)-1]
		}
	}
	found := read()
	f.same(len(found), len(all))
	for n, one := range found {
		of := retention.Run{EndedAt: made[n%3].Lease.EndedAt, IssueIsOpen: n%3 == 0} // that of the third is not there, as if it were done
		f.same(one, store.OldCheckpoint{At: all[n].At, Run: made[n%3].ID, Number: n/3 + 1, Of: of, Bytes: one.Bytes})
		f.same(one.Bytes >= 4, true)
		got, err := f.store.Retention().Run(f.ctx, one.Run)
		f.ok(err)
		f.same(got, of)
	}
	some, err := f.store.Retention().Checkpoints(f.ctx, all[0].At, store.OldCheckpoint{}, 9)
	f.ok(err)
	f.same(len(some), 0)
	_, err = f.store.Retention().Run(f.ctx, "run_none")
	f.code(err, fault.NotFound)
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Retention().RemoveCheckpoints(ctx, found[:2]) })
	f.same(read(), found[2:])
	for _, r := range made {
		got, err := f.store.Runs().Get(f.ctx, r.ID)
		f.ok(err)
		f.same(got, r)
	}
}

func leadsPruned(f *fixture) {
	f.imports(leadCalled("a"), leadCalled("b"), leadCalled("c"), leadCalled("d"))
	f.clock.Advance(time.Minute)
	f.removes("cmp_b", "cmp_a", "cmp_d")
	f.clock.Advance(time.Minute)
	found, err := f.store.Retention().RemovedLeads(f.ctx, f.clock.Now(), store.OldLead{}, 1)
	f.ok(err)
	more, err := f.store.Retention().RemovedLeads(f.ctx, f.clock.Now(), found[0], 9)
	f.ok(err)
	found = append(found, more...)
	var ids []id.Lead
	for _, one := range found {
		ids = append(ids, one.ID)
	}
	f.same(ids, []id.Lead{"cmp_a", "cmp_b"}) // the key of d is the last
	some, err := f.store.Retention().RemovedLeads(f.ctx, found[0].RemovedAt, store.OldLead{}, 9)
	f.ok(err)
	f.same(len(some), 0)
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Retention().RemoveLeads(ctx, found) })
	left, err := f.store.Leads().Removed(f.ctx, lead.RemovedQuery{Size: 10})
	f.ok(err)
	f.same(len(left.Leads), 1)
	f.same(left.Leads[0].ID, id.Lead("cmp_d"))
	key := f.marks(f.store.Leads())["cmp_c"].Key
	f.imports(leadCalled("b"))
	f.same(f.marks(f.store.Leads())["cmp_b"].Key > key+1, true)
}

func (f *fixture) retentionWrites() map[string]writeCase {
	acme := f.found("with-retention")
	made := f.starts(acme.ID, 1, func(_ int, r *run.Run) { ran(r) })[0]
	f.update(checkpointing(f.newCheckpoint(made, 1)))
	f.update(func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Retention().Hold(ctx, retention.Removed)
		return err
	})
	f.imports(leadCalled("gone"), leadCalled("last"))
	f.removes("cmp_gone")
	gone, err := f.store.Retention().RemovedLeads(f.ctx, f.clock.Now().Add(time.Hour), store.OldLead{}, 1)
	f.ok(err)
	entry := f.oldEntries()[0]
	return map[string]writeCase{
		"Retention.Hold": {notes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Retention().Hold(ctx, retention.Audit)
			return err
		}},
		"Retention.Save": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Retention().Save(ctx, retention.Removed, retention.State{Removed: 3})
		}},
		"Retention.RemoveEntries": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Retention().RemoveEntries(ctx, []store.OldEntry{entry})
		}},
		"Retention.RemoveCheckpoints": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Retention().RemoveCheckpoints(ctx, []store.OldCheckpoint{{Run: made.ID, Number: 1}})
		}},
		"Retention.RemoveLeads": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Retention().RemoveLeads(ctx, gone)
		}},
		"Retention.SaveStub": {notes, stubbing(f.newStub(acme.ID))},
	}
}
