package imports_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/replica"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

func TestImportingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	drafts := []lead.Draft{
		{ID: "cmp_1", Name: "Acme", Industry: "ind_1", Campaigns: []string{"cam_1", "cam_2"}},
		{Name: "Bolt", Website: "bolt.example", Contacts: []lead.ContactDraft{{Name: "Ben"}}},
		{ID: "cmp_1", Name: "Acme again", Campaigns: []string{"cam_1"}}, // the later line counts
	}
	first := f.leads(t, drafts, inbound.ImportOptions{})
	if want := merging(summary(3, 2, 0, 0, 0), 1); first != want {
		t.Errorf("%+v; want %+v", first, want)
	}
	before := f.state(t)
	f.clock.now = f.clock.now.Add(time.Hour)
	if got, want := f.leads(t, drafts, inbound.ImportOptions{}), merging(summary(3, 0, 0, 2, 0), 1); got != want {
		t.Errorf("again: %+v; want %+v", got, want)
	}
	if after := f.state(t); after != before {
		t.Errorf("the state was %+v and is %+v", before, after)
	}
	f.happened(t, "taxonomy.imported 3 0", "campaign.imported 2 0", "lead.imported 2 0")
	f.counts(t, 1, 0)
	if got := f.exported(t, "cmp_1"); got.Place.UpdatedAt != noon.Add(2*time.Millisecond) {
		t.Errorf("it was updated at %s", got.Place.UpdatedAt)
	}
}

func TestWhatDiffersIsReplacedAndMovesToTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, []lead.Draft{{ID: "cmp_1", Name: "Acme", Campaigns: []string{"cam_1"}}, {ID: "cmp_2", Name: "Bolt"}},
		inbound.ImportOptions{})
	f.clock.now = f.clock.now.Add(time.Hour)
	got := f.leads(t, []lead.Draft{{ID: "cmp_1", Name: "Ajax", Campaigns: []string{"cam_2"}}, {ID: "cmp_2", Name: "Bolt"}},
		inbound.ImportOptions{})
	if want := summary(2, 0, 1, 1, 0); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	if moved, stayed := f.exported(t, "cmp_1"), f.exported(t, "cmp_2"); !moved.Place.UpdatedAt.Equal(f.clock.now) ||
		stayed.Place.UpdatedAt.Equal(f.clock.now) {
		t.Errorf("updated at %s and %s", moved.Place.UpdatedAt, stayed.Place.UpdatedAt)
	}
	f.counts(t, 0, 1)
}

func TestALineAtFaultIsReportedAndTheRestIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var reported []lead.ReportedLine
	got := f.leads(t, []lead.Draft{
		{ID: "cmp_1", Name: "Acme"},
		{ID: "cmp_2", Campaigns: []string{"cam_9"}, Problems: fault.Problems{
			fault.Fieldf("title", fault.UnknownField, "title is not a field here"),
		}},
		{Problems: fault.Problems{fault.Fieldf("", fault.InvalidFormat, "the line is not JSON")}},
		{Name: "Bolt", Website: "bolt.example", Industry: "ind_9"},
		{ID: "cmp_3", Name: "Cog"},
	}, inbound.ImportOptions{Report: func(line lead.ReportedLine) error {
		reported = append(reported, line)
		return nil
	}})
	if want := summary(5, 2, 0, 0, 3); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	want := []lead.ReportedLine{
		{Number: 2, ID: "cmp_2", Outcome: lead.LineRejected, Problems: []fault.Field{
			fault.Fieldf("title", fault.UnknownField, "title is not a field here"),
			fault.Fieldf("name", fault.Required, "name must not be blank"),
			fault.Quotef("campaign_ids.0", fault.UnknownValue, "cam_9", "campaign_ids.0 names no campaign: cam_9"),
		}},
		{Number: 3, Outcome: lead.LineRejected, Problems: []fault.Field{fault.Fieldf("", fault.InvalidFormat, "the line is not JSON")}},
		{
			Number: 4, ID: string(id.Derive[id.Lead]("key", "website", "bolt.example", "name", "bolt")), Outcome: lead.LineRejected,
			Problems: []fault.Field{fault.Quotef("industry_id", fault.UnknownValue, "ind_9", "industry_id names no industry: ind_9")},
		},
	}
	if diff := cmp.Diff(want, reported); diff != "" {
		t.Error(diff)
	}
	if got := f.leads(t, []lead.Draft{{}}, inbound.ImportOptions{}); got != summary(1, 0, 0, 0, 1) {
		t.Errorf("without Report: %+v", got)
	}
}

func TestADryRunCountsAndKeepsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, []lead.Draft{{ID: "cmp_1", Name: "Acme"}, {ID: "cmp_2", Name: "Bolt"}}, inbound.ImportOptions{})
	before := f.state(t)
	drafts := []lead.Draft{{ID: "cmp_1", Name: "Ajax"}, {ID: "cmp_2", Name: "Bolt"}, {ID: "cmp_3", Name: "Cog"}, {}}
	dry := f.leads(t, drafts, inbound.ImportOptions{DryRun: true})
	if after := f.state(t); after != before {
		t.Errorf("the state was %+v and is %+v", before, after)
	}
	if wet := f.leads(t, drafts, inbound.ImportOptions{}); dry != wet || dry != summary(4, 1, 1, 1, 1) {
		t.Errorf("%+v, and then %+v", dry, wet)
	}
}

func TestTimestampsAreThoseOfTheFileWhenTheyAreKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.clock.now = f.clock.now.Add(time.Hour)
	drafts := []lead.Draft{
		{ID: "cmp_1", Name: "Acme", CreatedAt: "2026-01-01T00:00:00Z", UpdatedAt: "2026-01-02T00:00:00Z"},
		{ID: "cmp_2", Name: "Bolt"},
	}
	keep := inbound.ImportOptions{KeepTimestamps: true}
	f.leads(t, drafts, keep)
	if got := f.exported(t, "cmp_1"); got.Place.UpdatedAt != time.Date(2026, time.January, 2, 0, 0, 0, 0, time.UTC) {
		t.Errorf("updated at %s", got.Place.UpdatedAt)
	}
	if got := f.exported(t, "cmp_2"); got.Place.UpdatedAt != f.clock.now {
		t.Errorf("without timestamps: updated at %s", got.Place.UpdatedAt)
	}
	f.clock.now = f.clock.now.Add(time.Hour)
	if got := f.leads(t, drafts, keep); got != summary(2, 0, 0, 2, 0) {
		t.Errorf("again: %+v", got)
	}
	var reported []lead.ReportedLine
	keep.Report = func(line lead.ReportedLine) error {
		reported = append(reported, line)
		return nil
	}
	broken := []lead.Draft{{ID: "cmp_3", UpdatedAt: "2999-01-01T00:00:00Z"}, {ID: "cmp_4", Name: "Dot", CreatedAt: "17"}}
	if got := f.leads(t, broken, keep); got != summary(2, 0, 0, 0, 2) {
		t.Errorf("%+v", got)
	}
	want := []lead.ReportedLine{
		{Number: 1, ID: "cmp_3", Outcome: lead.LineRejected, Problems: []fault.Field{
			fault.Fieldf("name", fault.Required, "name must not be blank"),
			fault.Fieldf("updated_at", fault.OutOfRange, "updated_at must not be before 1970, nor in the future"),
		}},
		{Number: 2, ID: "cmp_4", Outcome: lead.LineRejected, Problems: []fault.Field{
			fault.Fieldf("created_at", fault.InvalidFormat, "created_at must be an RFC 3339 timestamp such as 2026-04-11T10:42:17Z"),
		}},
	}
	if diff := cmp.Diff(want, reported); diff != "" {
		t.Error(diff)
	}
	broken[0].Name = "Cog"
	if got := f.leads(t, broken, inbound.ImportOptions{}); got != summary(2, 2, 0, 0, 0) {
		t.Errorf("timestamps that are not kept: %+v", got)
	}
}

func TestManyLeadsAreKeptInManyUnits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const many = 10_000
	var progress []lead.ImportProgress
	options := inbound.ImportOptions{Progress: func(now lead.ImportProgress) { progress = append(progress, now) }}
	if got := f.leads(t, manyDrafts(many), options); got != summary(many, many, 0, 0, 0) {
		t.Errorf("%+v", got)
	}
	units := f.state(t).Revision - 2 // of the taxonomy and the campaigns
	if units < many/store.MostKept || units > many/100 {
		t.Errorf("%d units", units)
	}
	if last := progress[len(progress)-1]; len(progress) < 100 || last.Bytes != 10*many || last.Lines > many {
		t.Errorf("progress was reported %d times, last %+v", len(progress), last)
	}
	f.counts(t, many/2, 0)
	revision := f.state(t).Revision
	if got := f.leads(t, manyDrafts(many+1), inbound.ImportOptions{}); got != summary(many+1, 1, 0, many, 0) {
		t.Errorf("and one more: %+v", got)
	}
	if got := f.state(t).Revision; got != revision+1 {
		t.Errorf("one more lead is %d revisions", got-revision)
	}
}

func TestUnitsAreLongOnlyWhileNoServerRuns(t *testing.T) {
	t.Parallel()
	for _, isRunning := range []bool{false, true} {
		f := newFixture(t)
		if isRunning {
			must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				return tx.Replicas().Beat(ctx, replica.Replica{ID: "rep_1", Version: "v1", Since: noon, SeenAt: noon})
			}))
		}
		f.store.committed = func() { f.clock.now = f.clock.now.Add(50 * time.Millisecond) } // is what a unit takes
		// Of the latter the first half is there already: nothing is written for it.
		for _, many := range []int{10_000, 20_000} {
			before := f.state(t).Revision
			f.leads(t, manyDrafts(many), inbound.ImportOptions{})
			if units := f.state(t).Revision - before; isRunning != (units > 20) {
				t.Errorf("%d leads: %d units; a server runs: %t", many, units, isRunning)
			}
		}
	}
}

func TestAnInterruptedImportStopsBetweenUnitsAndContinuesLater(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const many = 10_000
	ctx, cancel := context.WithCancel(t.Context())
	got, err := f.imports.Leads(ctx, caller, lines(manyDrafts(many)), inbound.ImportOptions{Progress: func(now lead.ImportProgress) {
		if now.Lines > 0 && !now.Checking {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || got.Inserted == 0 || got.Inserted == many || int64(got.Inserted) != got.Read {
		t.Errorf("%+v, %v", got, err)
	}
	f.total(t, int64(got.Inserted))
	ctx, cancel = context.WithCancel(t.Context())
	early, err := f.imports.Leads(ctx, caller, lines(manyDrafts(many)), inbound.ImportOptions{Progress: func(now lead.ImportProgress) {
		if now.Checking {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || early != (lead.ImportCount{}) {
		t.Errorf("in the first pass: %+v, %v", early, err)
	}
	f.total(t, int64(got.Inserted))
	if again := f.leads(t, manyDrafts(many), inbound.ImportOptions{}); again != summary(many, many-got.Inserted, 0, got.Inserted, 0) {
		t.Errorf("again: %+v", again)
	}
	f.counts(t, many/2, 0)
}

func TestLinesBeforeAnErrorAreKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	broken := errors.New("the disk is broken")
	reading := func(yield func(inbound.LeadLine, error) bool) {
		for line, err := range lines(manyDrafts(700)) {
			yield(line, err)
		}
		yield(inbound.LeadLine{}, broken)
	}
	got, err := f.imports.Leads(t.Context(), caller, reading, inbound.ImportOptions{})
	if !errors.Is(err, broken) || got != summary(700, 700, 0, 0, 0) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = f.imports.Leads(t.Context(), caller, func(yield func(inbound.LeadLine, error) bool) {
		lines(manyDrafts(10))(yield)
		panic("the reader is broken")
	}, inbound.ImportOptions{})
	if err == nil || !strings.HasPrefix(err.Error(), "panic: the reader is broken\n") || got != summary(10, 0, 0, 10, 0) {
		t.Errorf("%+v, %v", got, err)
	}
	full := errors.New("the disk is full")
	got, err = f.imports.Leads(t.Context(), caller, lines([]lead.Draft{{Name: "Acme"}, {}}), inbound.ImportOptions{
		Report: func(lead.ReportedLine) error { return full },
	})
	if !errors.Is(err, full) || got.Inserted != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAUnitIsTriedAgainWhenTheStoreIsNotAvailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	lost := fault.New(fault.Unavailable, "The store is busy.")
	f.store.fails = []error{lost, lost}
	if got := f.leads(t, []lead.Draft{{Name: "Acme"}}, inbound.ImportOptions{}); got != summary(1, 1, 0, 0, 0) {
		t.Errorf("%+v", got)
	}
	broken := errors.New("broken")
	f.store.fails = []error{broken}
	got, err := f.imports.Leads(t.Context(), caller, lines([]lead.Draft{{Name: "Bolt"}}), inbound.ImportOptions{})
	if !errors.Is(err, broken) || got.Read != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	f.store.fails = []error{lost, lost, lost, lost, lost, lost, lost}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = f.imports.Leads(ctx, caller, lines([]lead.Draft{{Name: "Bolt"}}), inbound.ImportOptions{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestCampaignsAreImportedAsLeadsAre(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, []lead.Draft{{Name: "Acme", Campaigns: []string{"cam_1"}}}, inbound.ImportOptions{})
	f.clock.now = f.clock.now.Add(time.Hour)
	var reported []lead.ReportedLine
	options := inbound.ImportOptions{DryRun: true, Report: func(line lead.ReportedLine) error {
		reported = append(reported, line)
		return nil
	}}
	drafts := []lead.CampaignDraft{
		{ID: "cam_1", Name: "Renamed", Vertical: "vrt_1"},
		{ID: "cam_2", Name: "Second", CreatedAt: "2026-01-01T00:00:00Z"},
		{ID: "cam_3", Name: "Third", Status: "paused", Geography: "geo_1"},
		{ID: "cam_4", Status: "gone"},
	}
	before := f.state(t)
	dry, err := f.imports.Campaigns(t.Context(), caller, campaignLines(drafts), options)
	if err != nil || dry != summary(4, 1, 1, 1, 1) || f.state(t) != before {
		t.Errorf("%+v, %v", dry, err)
	}
	options.DryRun = false
	if wet, err := f.imports.Campaigns(t.Context(), caller, campaignLines(drafts), options); err != nil || wet != dry {
		t.Errorf("%+v, %v", wet, err)
	}
	if len(reported) != 2 || reported[1].ID != "cam_4" || reported[1].Number != 4 || len(reported[1].Problems) != 2 {
		t.Errorf("%+v", reported)
	}
	got, err := f.store.Campaigns().Get(t.Context(), "cam_1")
	want := lead.Campaign{
		ID: "cam_1", Name: "Renamed", Status: lead.StatusDraft, Industry: "ind_1", Vertical: "vrt_1", LeadCount: 1,
		CreatedAt: noon.Add(time.Millisecond), UpdatedAt: f.clock.now,
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	options = inbound.ImportOptions{KeepTimestamps: true}
	if got, err := f.imports.Campaigns(t.Context(), caller, campaignLines(drafts[:3]), options); err != nil ||
		got != summary(3, 0, 1, 2, 0) {
		t.Errorf("with timestamps: %+v, %v", got, err)
	}
	f.happened(t, "taxonomy.imported 3 0", "campaign.imported 2 0", "lead.imported 1 0", "campaign.imported 1 1", "campaign.imported 0 1")
}

func TestATaxonomyIsImportedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before := f.state(t)
	for _, c := range []struct {
		name   string
		draft  lead.TaxonomyDraft
		dryRun bool
		want   lead.Change
		code   fault.Code
	}{
		{"the same again", taxonomy, false, lead.Change{Unchanged: 3}, ""},
		{
			"half of it at fault", lead.TaxonomyDraft{Industries: []lead.IndustryDraft{{ID: "ind_2", Name: "Health"}, {Name: "Lost"}}},
			false, lead.Change{}, fault.ValidationFailed,
		},
		{
			"a dry run", lead.TaxonomyDraft{Industries: []lead.IndustryDraft{{ID: "ind_2", Name: "Health"}}}, true,
			lead.Change{Inserted: 1}, "",
		},
	} {
		got, err := f.imports.Taxonomy(t.Context(), caller, c.draft, c.dryRun)
		if got != c.want || fault.CodeOf(err) != c.code || f.state(t) != before {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	draft := lead.TaxonomyDraft{Industries: []lead.IndustryDraft{{ID: "ind_1", Name: "Food", Active: new(false)},
		{ID: "ind_2", Name: "Health"}}}
	if got, err := f.imports.Taxonomy(t.Context(), caller, draft, false); err != nil || got != (lead.Change{Inserted: 1, Updated: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if after := f.state(t); after.Revision != before.Revision+1 || after.Taxonomy != after.Revision {
		t.Errorf("the state was %+v and is %+v", before, after)
	}
}

func TestRemovedLeadsAreGoneAndTheirCampaignsShrink(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, manyDrafts(3000), inbound.ImportOptions{})
	ids := func(yield func(id.Lead, error) bool) {
		for n := range 2999 {
			if !yield(id.Lead(fmt.Sprintf("cmp_%d", n+1)), nil) {
				return
			}
		}
		yield("cmp_x", nil)
	}
	if removed, err := f.imports.RemoveLeads(t.Context(), caller, ids, false); err != nil || removed != 2999 {
		t.Errorf("%d, %v", removed, err)
	}
	f.total(t, 1)
	f.counts(t, 1, 0)
	before := f.state(t)
	if removed, err := f.imports.RemoveLeads(t.Context(), caller, ids, false); err != nil || removed != 0 || f.state(t) != before {
		t.Errorf("again: %d, %v", removed, err)
	}
	if got := f.leads(t, manyDrafts(3), inbound.ImportOptions{}); got != summary(3, 2, 0, 1, 0) {
		t.Errorf("they come back: %+v", got)
	}
	broken := errors.New("broken")
	failing := func(yield func(id.Lead, error) bool) { yield("", broken) }
	if _, err := f.imports.RemoveLeads(t.Context(), caller, failing, false); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if removed, err := f.imports.RemoveLeads(ctx, caller, ids, false); !errors.Is(err, context.Canceled) || removed != 0 {
		t.Errorf("%d, %v", removed, err)
	}
}

func TestEverythingNeedsAdmin(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nobody := access.Caller{Actor: "token:x", Scopes: access.Scopes{{Permission: access.Read}, {Permission: access.Write}}}
	_, leads := f.imports.Leads(t.Context(), nobody, lines(manyDrafts(1)), inbound.ImportOptions{})
	_, campaigns := f.imports.Campaigns(t.Context(), nobody, campaignLines(nil), inbound.ImportOptions{})
	_, taxonomy := f.imports.Taxonomy(t.Context(), nobody, lead.TaxonomyDraft{}, true)
	_, removed := f.imports.RemoveLeads(t.Context(), nobody, func(func(id.Lead, error) bool) {}, false)
	for _, err := range []error{leads, campaigns, taxonomy, removed} {
		if fault.CodeOf(err) != fault.InsufficientScope {
			t.Error(err)
		}
	}
}

func TestOfLinesWithOneIDTheLastCountsHoweverFarApartTheyAre(t *testing.T) {
	t.Parallel()
	const count, again = 3000, 50
	drafts := manyDrafts(count)
	for i := range again {
		drafts = append(drafts, lead.Draft{ID: fmt.Sprintf("cmp_%d", 7*i), Name: "Bolt"})
	}
	drafts = append(drafts, lead.Draft{ID: "cmp_1", Name: ""}, lead.Draft{ID: "cmp_2", Name: "Last"})
	for _, options := range []inbound.ImportOptions{{}, {KeepTimestamps: true}} {
		f := newFixture(t)
		if got, want := f.leads(t, drafts, options), merging(summary(count+again+2, count, 0, 0, 1), again+1); got != want {
			t.Errorf("%+v; want %+v", got, want)
		}
		before := f.state(t)
		f.clock.now = f.clock.now.Add(time.Hour)
		if got, want := f.leads(t, drafts, options), merging(summary(count+again+2, 0, 0, count, 1), again+1); got != want ||
			f.state(t) != before {
			t.Errorf("again: %+v; want %+v", got, want)
		}
		for which, name := range map[id.Lead]string{"cmp_7": "Bolt", "cmp_8": "Acme", "cmp_1": "Acme", "cmp_2": "Last"} {
			if got := f.exported(t, which); !strings.Contains(got.Document.Head, `"name":"`+name+`"`) {
				t.Errorf("%s is %s", which, got.Document.Head)
			}
		}
	}
}

func TestAStrictImportKeepsNothingUnlessEveryLineIsFine(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	drafts := append(manyDrafts(700), lead.Draft{ID: "cmp_bad"}, lead.Draft{ID: "cmp_worse"})
	var reported []string
	options := inbound.ImportOptions{Strict: true, Report: func(line lead.ReportedLine) error {
		reported = append(reported, line.ID)
		return nil
	}}
	if got, want := f.leads(t, drafts, options), summary(702, 0, 0, 0, 2); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	if diff := cmp.Diff([]string{"cmp_bad", "cmp_worse"}, reported); diff != "" {
		t.Error(diff)
	}
	f.total(t, 0)
	broken := errors.New("unexpected EOF")
	if _, err := f.imports.Leads(t.Context(), caller, endingWith(lines(manyDrafts(700)), broken), options); !errors.Is(err, broken) {
		t.Error(err)
	}
	f.total(t, 0)
	full := errors.New("the disk is full")
	options.Report = func(lead.ReportedLine) error { return full }
	if _, err := f.imports.Leads(t.Context(), caller, lines(drafts), options); !errors.Is(err, full) {
		t.Error(err)
	}
	f.total(t, 0)
	if got, want := f.leads(t, manyDrafts(700), options), summary(700, 700, 0, 0, 0); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
}

func endingWith(lines iter.Seq2[inbound.LeadLine, error], end error) iter.Seq2[inbound.LeadLine, error] {
	return func(yield func(inbound.LeadLine, error) bool) {
		for line, err := range lines {
			if !yield(line, err) {
				return
			}
		}
		yield(inbound.LeadLine{}, end)
	}
}

func TestLinesThatAreMergedAreReportedWithTheLinesThatCount(t *testing.T) {
	t.Parallel()
	drafts := []lead.Draft{
		{Name: "Pizza Nord", Website: "https://www.facebook.com"},
		{Name: "Pizza Süd", Website: "https://www.facebook.com"}, // another company
		{Name: "Starbucks", Website: "starbucks.example", Rating: "4"},
		{Name: "Café A"},
		{Name: "starbucks", Website: "http://www.starbucks.example/"},
		{Name: "Café A"}, // says the same
		{ID: "cmp_1", Name: "Acme"},
		{ID: "cmp_1", Name: "Acme", Campaigns: []string{"cam_1"}},
		{ID: "cmp_1", Name: ""}, // is invalid, and counts for nothing
	}
	of := func(number, into int64, which string) lead.ReportedLine {
		return lead.ReportedLine{Number: number, ID: which}.Merge(into, 0)
	}
	merged := []lead.ReportedLine{
		of(3, 5, string(id.Derive[id.Lead]("key", "website", "starbucks.example", "name", "starbucks"))), of(7, 8, "cmp_1"),
	}
	for _, c := range []struct {
		name    string
		drafts  []lead.Draft
		options inbound.ImportOptions
		want    lead.ImportCount
		total   int64
	}{
		{"all that is valid", drafts, inbound.ImportOptions{}, merging(summary(9, 5, 0, 1, 1), 2), 5},
		{"a dry run", drafts, inbound.ImportOptions{DryRun: true}, merging(summary(9, 5, 0, 1, 1), 2), 0},
		{"strictly", drafts[:8], inbound.ImportOptions{Strict: true}, merging(summary(8, 0, 0, 0, 0), 2), 0},
	} {
		f := newFixture(t)
		var reported []lead.ReportedLine
		c.options.Report = func(line lead.ReportedLine) error {
			if line.Outcome == lead.LineMerged {
				reported = append(reported, line)
			}
			return nil
		}
		if got := f.leads(t, c.drafts, c.options); got != c.want {
			t.Errorf("%s: %+v; want %+v", c.name, got, c.want)
		}
		if diff := cmp.Diff(merged, reported); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		f.total(t, c.total)
	}
}

func TestAnItemOfAListIsMergedIntoAnItem(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	items := func(yield func(inbound.LeadLine, error) bool) {
		for i, name := range []string{"Acme", "Bolt", "Cog"} {
			if !yield(inbound.LeadLine{Number: 1, Item: int64(i + 1), Draft: lead.Draft{ID: "cmp_1", Name: name}}, nil) {
				return
			}
		}
	}
	var reported []string
	_, err := f.imports.Leads(t.Context(), caller, items, inbound.ImportOptions{Report: func(line lead.ReportedLine) error {
		reported = append(reported, fmt.Sprint(line.Place(), " into ", line.IntoItem))
		return nil
	}})
	if diff := cmp.Diff([]string{"item 1 (line 1) into 3", "item 2 (line 1) into 3"}, reported); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestALineThatLeavesOutCampaignsKeepsThem(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, []lead.Draft{{ID: "cmp_1", Name: "Acme", Email: "a@acme.example", Campaigns: []string{"cam_1"}}}, inbound.ImportOptions{})
	before := f.state(t)
	f.clock.now = f.clock.now.Add(time.Hour)
	partial := []lead.Draft{{ID: "cmp_1", Name: "Acme", Absent: lead.EveryField}}
	for _, options := range []inbound.ImportOptions{{DryRun: true}, {}} {
		if got := f.leads(t, partial, options); got != summary(1, 0, 0, 1, 0) || f.state(t) != before {
			t.Errorf("nothing new: %+v", got)
		}
	}
	partial[0].Rating, partial[0].Absent = "4", lead.EveryField&^lead.RatingField
	if got := f.leads(t, partial, inbound.ImportOptions{}); got != summary(1, 0, 1, 0, 0) {
		t.Errorf("a rating: %+v", got)
	}
	f.counts(t, 1, 0)
	if got := f.exported(t, "cmp_1").Document.Head; !strings.Contains(got, `"email":"a@acme.example"`) ||
		!strings.Contains(got, `"google_rating":4,`) {
		t.Error(got)
	}
	partial[0].Absent = 0
	f.leads(t, partial, inbound.ImportOptions{})
	f.counts(t, 0, 0)
}

func TestALeadThatIsForgottenDoesNotComeBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	anna := lead.Draft{
		ID: "cmp_1", Name: "Anna & Co", Website: "https://anna.example/shop", Email: "anna@anna.example", Phone: "+49 30 123456",
	}
	bolt := lead.Draft{Name: "Bolt", Website: "bolt.example"}
	f.leads(t, []lead.Draft{anna, bolt}, inbound.ImportOptions{})
	only := func(ids ...id.Lead) iter.Seq2[id.Lead, error] {
		return func(yield func(id.Lead, error) bool) {
			for _, which := range ids {
				yield(which, nil)
			}
		}
	}
	removed, err := f.imports.RemoveLeads(t.Context(), caller, only("cmp_1", "cmp_never"), true)
	if removed != 1 || err != nil {
		t.Fatal(removed, err)
	}
	suppressing := func(of lead.ImportCount, lines int64) lead.ImportCount {
		of.Suppressed = lines
		return of
	}
	again := []lead.Draft{
		anna, bolt,
		{ID: "cmp_2", Name: "ANNA & CO", Website: "www.anna.example"},
		{ID: "cmp_3", Name: "Anna & Co", Email: "Anna@Anna.example"},
		{Name: "Anna & Co", Phone: "+49-30-123456"},
		{ID: "cmp_never", Name: "Cog"},
		{ID: "cmp_4", Name: "Another", Website: "anna.example", Email: "anna@anna.example"}, // another company
		{ID: "cmp_5", Name: "Anna & Co"},
	}
	for _, options := range []inbound.ImportOptions{{DryRun: true}, {Strict: true}} {
		if got, want := f.leads(t, again, options), suppressing(summary(8, 2, 0, 1, 0), 5); got != want {
			t.Errorf("%+v; want %+v", got, want)
		}
	}
	all, err := f.imports.Suppressed(t.Context(), caller)
	if err != nil || len(all) != 2 || len(all[0].Digests) != 4 || len(all[1].Digests) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	released, err := f.imports.Release(t.Context(), caller, []id.Suppression{all[1].ID}, []id.Lead{"cmp_1"})
	if released != 2 || err != nil {
		t.Errorf("%d, %v", released, err)
	}
	if got, want := f.leads(t, again, inbound.ImportOptions{}), summary(8, 5, 0, 3, 0); got != want {
		t.Errorf("released: %+v; want %+v", got, want)
	}
	f.happened(t, "taxonomy.imported 3 0", "campaign.imported 2 0", "lead.imported 2 0", "lead.suppressed <nil> <nil>",
		"lead.removed <nil> <nil>", "lead.imported 2 0", "lead.released <nil> <nil>", "lead.imported 5 0")
}

func TestWhatWasForgottenDoesNotComeBackInParts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, []lead.Draft{{ID: "cmp_1", Name: "Anna & Co", Website: "anna.example", Phone: "+49 30 123456"}}, inbound.ImportOptions{})
	_, err := f.imports.RemoveLeads(t.Context(), caller, func(yield func(id.Lead, error) bool) { yield("cmp_1", nil) }, true)
	must(t, err)
	first := []lead.Draft{{ID: "cmp_2", Name: "Bolt", Website: "anna.example"}, {ID: "cmp_3", Name: "Cog"}}
	f.leads(t, first, inbound.ImportOptions{})
	second := []lead.Draft{
		{ID: "cmp_2", Name: "Anna  &\u200b Co", Absent: lead.EveryField},
		{ID: "cmp_3", Name: "Cog", Phone: "+49 30 654321", Absent: lead.EmailField},
	}
	for _, options := range []inbound.ImportOptions{{DryRun: true}, {}} {
		got := f.leads(t, second, options)
		if got.Suppressed != 1 || got.Updated != 1 || got.Unchanged != 0 || got.Read != 2 {
			t.Errorf("dry run %v: %+v", options.DryRun, got)
		}
	}
	if got := f.leads(t, second[:1], inbound.ImportOptions{}); got.Suppressed != 1 || got.Unchanged != 0 {
		t.Errorf("that alone: %+v", got)
	}
	f.total(t, 2)
	if found, err := f.imports.Suppressed(t.Context(), caller); len(found) != 1 || err != nil {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestAFileSuppressesWhatItDescribesOrNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var reported []lead.ReportedLine
	options := inbound.ImportOptions{Report: func(line lead.ReportedLine) error {
		reported = append(reported, line)
		return nil
	}}
	drafts := []lead.Draft{{Email: "ANNA@anna.example"}, {ID: "cmp_1"}, {Name: "Bolt", Website: "bolt.example"}, {}, {Phone: "call me"}}
	if got, err := f.imports.Suppress(t.Context(), caller, lines(drafts), options); err != nil || got.Rejected != 2 || len(reported) != 2 {
		t.Errorf("%+v, %v, %+v", got, err, reported)
	}
	if all, err := f.imports.Suppressed(t.Context(), caller); len(all) != 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if got, err := f.imports.Suppress(t.Context(), caller, lines(drafts[:3]), options); err != nil || got.Suppressed != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	got := f.leads(t, []lead.Draft{
		{Name: "Anna", Email: "anna@anna.example"}, {ID: "cmp_1", Name: "Acme"}, {Name: "Bolt", Website: "www.bolt.example/x"},
		{Name: "Cog", Website: "bolt.example"},
	}, inbound.ImportOptions{})
	if got.Suppressed != 3 || got.Inserted != 1 {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsForgottenWhileAnImportRunsStaysForgotten(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, []lead.Draft{{ID: "cmp_1", Name: "Acme"}}, inbound.ImportOptions{})
	forgotten := false
	got := f.leads(t, []lead.Draft{{ID: "cmp_1", Name: "Ajax"}, {ID: "cmp_2", Name: "Bolt"}}, inbound.ImportOptions{
		Progress: func(now lead.ImportProgress) {
			if !now.Checking || forgotten {
				return
			}
			forgotten = true
			_, err := f.imports.RemoveLeads(t.Context(), caller, func(yield func(id.Lead, error) bool) { yield("cmp_1", nil) }, true)
			must(t, err)
		},
	})
	if got.Suppressed != 1 || got.Inserted != 1 || got.Read != 2 {
		t.Errorf("%+v", got)
	}
	f.total(t, 1)
}

func TestWhatAUnitThatFailsWouldHaveDoneIsNotCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, manyDrafts(1), inbound.ImportOptions{})
	lost := errors.New("the commit fails")
	one := func(yield func(id.Lead, error) bool) { yield("cmp_0", nil) }
	f.store.lost = lost
	if removed, err := f.imports.RemoveLeads(t.Context(), caller, one, true); removed != 0 || !errors.Is(err, lost) {
		t.Errorf("%d, %v", removed, err)
	}
	f.total(t, 1)
	if removed, err := f.imports.RemoveLeads(t.Context(), caller, one, true); removed != 1 || err != nil {
		t.Errorf("%d, %v", removed, err)
	}
	f.store.lost = lost
	if released, err := f.imports.Release(t.Context(), caller, nil, []id.Lead{"cmp_0"}); released != 0 || !errors.Is(err, lost) {
		t.Errorf("%d, %v", released, err)
	}
	f.store.lost = lost
	draft := taxonomy
	draft.Industries = []lead.IndustryDraft{{ID: "ind_2", Name: "Trade"}}
	if change, err := f.imports.Taxonomy(t.Context(), caller, draft, false); change.Any() || !errors.Is(err, lost) {
		t.Errorf("%+v, %v", change, err)
	}
}

func TestToSuppressTheSameTwiceAddsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	drafts := []lead.Draft{{ID: "cmp_1"}, {ID: "cmp_1"}, {Email: "anna@anna.example"}}
	got, err := f.imports.Suppress(t.Context(), caller, lines(drafts), inbound.ImportOptions{})
	if err != nil || got.Suppressed != 2 || got.Unchanged != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	before := f.state(t)
	got, err = f.imports.Suppress(t.Context(), caller, lines(drafts), inbound.ImportOptions{})
	if err != nil || got.Suppressed != 0 || got.Unchanged != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	one := func(yield func(id.Lead, error) bool) { yield("cmp_1", nil) }
	if removed, err := f.imports.RemoveLeads(t.Context(), caller, one, true); removed != 0 || err != nil {
		t.Errorf("%d, %v", removed, err)
	}
	if after := f.state(t); after != before {
		t.Errorf("%+v; it was %+v", after, before)
	}
	f.happened(t, "taxonomy.imported 3 0", "campaign.imported 2 0", "lead.suppressed <nil> <nil>")
}

// What is on the list is not added again in parts: of a lead that is gone its id alone is known.
func TestToForgetTheSameTwiceAddsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.leads(t, []lead.Draft{{ID: "cmp_1", Name: "Anna & Co", Website: "anna.example", Phone: "+49 30 123456"}}, inbound.ImportOptions{})
	one := func(yield func(id.Lead, error) bool) { yield("cmp_1", nil) }
	var before lead.State
	for n := range 3 {
		if removed, err := f.imports.RemoveLeads(t.Context(), caller, one, true); (removed == 1) != (n == 0) || err != nil {
			t.Errorf("time %d: %d, %v", n, removed, err)
		}
		if n == 0 {
			before = f.state(t)
		}
	}
	drafts := []lead.Draft{{Name: "Anna & Co", Website: "anna.example"}, {ID: "cmp_1", Name: "Anna & Co", Email: "a@anna.example"}}
	got, err := f.imports.Suppress(t.Context(), caller, lines(drafts[:1]), inbound.ImportOptions{})
	if after := f.state(t); err != nil || got.Suppressed != 0 || got.Unchanged != 1 || after != before {
		t.Errorf("%+v, %v; %+v, it was %+v", got, err, after, before)
	}
	got, err = f.imports.Suppress(t.Context(), caller, lines(drafts), inbound.ImportOptions{}) // of one the e-mail is new
	if all, listErr := f.imports.Suppressed(t.Context(), caller); errors.Join(err, listErr) != nil || got.Suppressed != 1 || len(all) != 2 {
		t.Errorf("%+v, %v; %+v, %v", got, err, all, listErr)
	}
	f.happened(t, "taxonomy.imported 3 0", "campaign.imported 2 0", "lead.imported 1 0", "lead.suppressed <nil> <nil>",
		"lead.removed <nil> <nil>", "lead.suppressed <nil> <nil>")
}

// A list that is read once is not taken for what it is when others change it.
func TestWhatIsReleasedMeanwhileIsSuppressedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	many := manyDrafts(1200)
	for i := range many {
		many[i] = lead.Draft{ID: fmt.Sprintf("cmp_%d", i%500)} // in each unit the same, but for the last
	}
	units := 0
	f.store.committed = func() {
		if units++; units > 1 {
			return
		}
		all, err := f.imports.Suppressed(t.Context(), caller)
		must(t, err)
		released, err := f.imports.Release(t.Context(), caller, []id.Suppression{all[7].ID}, nil)
		if released != 1 || err != nil {
			t.Errorf("%d, %v", released, err)
		}
	}
	got, err := f.imports.Suppress(t.Context(), caller, lines(many), inbound.ImportOptions{})
	if err != nil || got.Suppressed != 501 || got.Unchanged != 699 {
		t.Errorf("%+v, %v", got, err)
	}
	if all, err := f.imports.Suppressed(t.Context(), caller); err != nil || len(all) != 500 {
		t.Errorf("%d, %v", len(all), err)
	}
}

func TestASuppressionIsInterruptedBetweenItsUnits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.store.committed = cancel
	got, err := f.imports.Suppress(ctx, caller, lines(manyDrafts(1200)), inbound.ImportOptions{})
	if !errors.Is(err, context.Canceled) || got.Suppressed != 500 {
		t.Errorf("%+v, %v", got, err)
	}
	f.store.committed = nil
	got, err = f.imports.Suppress(t.Context(), caller, lines(manyDrafts(1200)), inbound.ImportOptions{})
	if err != nil || got.Suppressed != 700 || got.Unchanged != 500 {
		t.Errorf("%+v, %v", got, err)
	}
	f.store.lost = errors.New("the commit fails")
	got, err = f.imports.Suppress(t.Context(), caller, lines([]lead.Draft{{ID: "cmp_new"}}), inbound.ImportOptions{})
	if err == nil || got.Suppressed != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := f.imports.Suppress(ctx, caller, lines(nil), inbound.ImportOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Who wants no reports gets none.
	got, err = f.imports.Suppress(t.Context(), caller, lines(make([]lead.Draft, 1)), inbound.ImportOptions{})
	if err != nil || got.Rejected != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
