package storetest

import (
	"context"
	"fmt"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/ports/store"
)

var importRules = anyImport.rules([]rule{
	{"imports are listed by kind and by status", importsFiltered},
	{"the running imports are those that have not ended", importsRunning},
	{"reported lines read back in their order, those of each import alone", reportsReadBack},
	{"purge removes ended imports but the newest, with their lines, so many rows at most", importsPurged},
})

var anyImport = aggregate[id.Import, lead.Import]{
	of:  func(r store.Reader) store.Getter[id.Import, lead.Import] { return r.Imports() },
	in:  func(tx store.Tx) store.Repository[id.Import, lead.Import] { return tx.Imports() },
	new: func(f *fixture) lead.Import { return f.newImport() },
	list: func(f *fixture, size int) pages[lead.Import] {
		return func(after page.Position) (page.Page[lead.Import], error) {
			return f.store.Imports().List(f.ctx, lead.ImportFilter{}, after, size)
		}
	},
	full: func(f *fixture, i *lead.Import) {
		at := f.clock.Now()
		i.Name, i.DryRun, i.Strict, i.KeepTimestamps = `Lists\ "'? $1 {}.csv`, true, true, true
		i.Replace, i.Lenient, i.Key, i.Region, i.Encoding = true, true, "website,name", "DE", lead.UTF16
		i.Progress = lead.ImportProgress{
			Checking: true, Lines: 1<<53 + 1, Bytes: 1<<53 + 2,
			ImportCount: lead.ImportCount{
				Change: lead.Change{Inserted: 1, Updated: 2, Unchanged: 3}, Read: 1<<53 + 3, Rejected: 1<<53 + 4,
				Merged: 1<<53 + 5, Suppressed: 1<<53 + 6, Dropped: 1<<53 + 7,
			},
		}
		i.Code, i.Problem, i.EndedAt, i.Version = fault.InvalidFile, "The file is cut off.", at.Add(time.Minute), 1<<53+1
	},
	edit: func(_ *fixture, i *lead.Import) {
		at := i.CreatedAt
		i.Status, i.Progress = lead.ImportInterrupted, lead.ImportProgress{}
		i.Code, i.Problem, i.EndedAt, i.LiveUntil = "", "Cut.", time.Time{}, at.Add(time.Hour)
	},
	permanent: []string{"Kind", "Name", "Format", "DryRun", "Strict", "KeepTimestamps", "Replace", "Lenient", "Key", "Region", "Encoding",
		"Size", "CreatedAt"},
	texts: func(i *lead.Import, text string) { i.Problem = text },
}

// newImport makes an import that is in no store yet.
func (f *fixture) newImport() lead.Import {
	draft := lead.ImportDraft{Kind: lead.ImportLeads, Format: lead.CSV}
	at := f.clock.Now()
	made, _, err := lead.NewImport(id.New[id.Import](f.ids.UUIDv7()), draft, 4711, nil, at, at)
	f.ok(err)
	return made
}

func keepingImport(i lead.Import) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Imports().Add(ctx, i)
	}
}

func reporting(to id.Import, before int, lines ...lead.ReportedLine) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Imports().Report(ctx, to, before, lines) }
}

func someImport(f *fixture) unit {
	made, line := f.newImport(), reportedLine(1)
	return func(ctx context.Context, tx store.Tx) error {
		if err := keepingImport(made)(ctx, tx); err != nil {
			return err
		}
		return reporting(made.ID, 0, line)(ctx, tx)
	}
}

func reportedLine(number int64) lead.ReportedLine {
	return lead.ReportedLine{
		Number: number, Item: number, ID: fmt.Sprintf("cmp_%d", number), Outcome: lead.LineMerged, Into: 1<<53 + number, IntoItem: 2,
		Problems: fault.Problems{
			{Path: "name", Code: fault.Required, Message: "name must not be blank"},
			{Path: `"\ 🦆`, Code: fault.UnknownField, Message: `"\ 🦆 is not a field here`},
		},
	}
}

func endedImport(i *lead.Import) { i.Status = lead.ImportDone }

func importsFiltered(f *fixture) {
	leads := anyImport.add(f)
	ended := anyImport.add(f, endedImport)
	campaigns := anyImport.add(f, func(i *lead.Import) { i.Kind = lead.ImportCampaigns })
	expect := func(filter lead.ImportFilter, want ...lead.Import) {
		f.Helper()
		for _, size := range []int{1, page.DefaultSize} {
			f.same(walk(f, size, func(after page.Position) (page.Page[lead.Import], error) {
				return f.store.Imports().List(f.ctx, filter, after, size)
			}), want)
		}
	}
	expect(lead.ImportFilter{Kind: lead.ImportLeads}, ended, leads)
	expect(lead.ImportFilter{Status: lead.ImportRunning}, campaigns, leads)
	expect(lead.ImportFilter{Kind: lead.ImportLeads, Status: lead.ImportDone}, ended)
	expect(lead.ImportFilter{Kind: lead.ImportTaxonomy})
}

func importsRunning(f *fixture) {
	running := func(want ...lead.Import) {
		f.Helper()
		got, err := f.store.Imports().Running(f.ctx)
		f.ok(err)
		f.same(got, want)
	}
	running()
	one := anyImport.add(f)
	anyImport.add(f, endedImport)
	running(one)
	anyImport.edited(f, one, endedImport)
	running()
}

func reportsReadBack(f *fixture) {
	of, other, none := anyImport.add(f), anyImport.add(f), anyImport.add(f)
	bare := lead.ReportedLine{
		Number: 1<<53 + 1, Outcome: lead.LineRejected, Problems: fault.Problems{{Code: fault.InvalidFormat, Message: "Not JSON"}},
	}
	want := []lead.ReportedLine{reportedLine(7), reportedLine(1), bare, reportedLine(1)}
	f.update(reporting(of.ID, 0))
	f.update(reporting(of.ID, 0, want[:3]...))
	f.update(reporting(other.ID, 0, reportedLine(2)))
	f.update(reporting(of.ID, 3, want[3]))
	f.update(reporting(of.ID, 3, want[3])) // after a commit whose outcome was unknown
	expect := func(of lead.Import, want []lead.ReportedLine) {
		f.Helper()
		for _, size := range []int{1, 2, 4, page.MaxSize} {
			f.same(walk(f, size, func(after page.Position) (page.Page[lead.ReportedLine], error) {
				return f.store.Imports().Reported(f.ctx, of.ID, after, size)
			}), want)
		}
	}
	expect(of, want)
	expect(other, []lead.ReportedLine{reportedLine(2)})
	expect(none, nil)
	_, err := f.store.Imports().Reported(f.ctx, of.ID, page.Position{ID: "x"}, 1)
	f.code(err, fault.InvalidCursor)
}

func importsPurged(f *fixture) {
	running := anyImport.add(f)
	var all []lead.Import
	for range 4 {
		f.clock.Advance(time.Millisecond)
		one := anyImport.add(f, endedImport)
		f.update(reporting(one.ID, 0, reportedLine(1), reportedLine(2), reportedLine(3)))
		all = append(all, one)
	}
	purge := func(most, want int) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) error {
			removed, err := tx.Imports().Purge(ctx, 2, most)
			f.same(removed, want)
			return err
		})
	}
	purge(2, 2)
	anyImport.is(f, all[0])
	anyImport.is(f, all[1])
	purge(100, 6)
	purge(100, 0)
	for i, one := range all {
		_, err := f.store.Imports().Get(f.ctx, one.ID)
		lines, errLines := f.store.Imports().Reported(f.ctx, one.ID, page.Position{}, 10)
		f.ok(errLines)
		if i < 2 {
			f.code(err, fault.NotFound)
			f.same(len(lines.Items), 0)
			continue
		}
		f.ok(err)
		f.same(len(lines.Items), 3)
	}
	anyImport.is(f, running)
}

func (f *fixture) importWrites() map[string]writeCase {
	kept, newcomer, old := anyImport.add(f), f.newImport(), anyImport.add(f, endedImport)
	f.update(reporting(old.ID, 0, reportedLine(1)))
	lock := func(ctx context.Context, tx store.Tx) (lead.Import, error) { return tx.Imports().Lock(ctx, kept.ID) }
	return map[string]writeCase{
		"Imports.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Imports.Add":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Imports().Add(ctx, newcomer) }},
		"Imports.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			locked.Progress.Lines, locked.Version = 1, locked.Version+1
			return tx.Imports().Save(ctx, locked)
		}},
		"Imports.Report": {notes, reporting(kept.ID, 0, reportedLine(1))},
		"Imports.Purge": {notes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Imports().Purge(ctx, 0, 1)
			return err
		}},
	}
}
