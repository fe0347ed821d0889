package export_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/export"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

func TestLeadsComeWithTheNamesOfTheirTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.name(t, "Health")
	f.keep(t, 1)
	for _, name := range []string{"Health", "Wellness"} {
		f.name(t, name)
		for what, shown := range f.shown(t) {
			if !strings.Contains(shown, `"name":"`+name+`"`) {
				t.Errorf("%s has not the name %s: %s", what, name, shown)
			}
		}
	}
}

// shown is the one lead, and the one campaign, as each use case shows it.
func (f *fixture) shown(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	page, err := f.service.Leads(t.Context(), lead.Query{Size: 10})
	must(t, err)
	all["the page"] = string(page.Names.Industry(page.Leads[0].Industry))
	one, err := f.service.Lead(t.Context(), lead.View{}, leadID(1))
	must(t, err)
	all["the lead"] = string(one.Names.Industry(one.Industry))
	must(t, f.service.Stream(t.Context(), lead.Filter{}, lead.Place{}, func(leads []lead.Exported, names lead.Names) error {
		all["the stream"] = string(names.Industry(leads[0].Industry))
		return nil
	}))
	campaigns, err := f.service.Campaigns(t.Context(), lead.CampaignQuery{Size: 10})
	must(t, err)
	text, err := campaigns.Campaigns[0].Fields(campaigns.Names).MarshalJSON()
	must(t, err)
	all["the campaign"] = string(text)
	active, err := f.service.Taxonomy(t.Context(), lead.View{})
	must(t, err)
	text, err = active.Fields().MarshalJSON()
	must(t, err)
	all["the taxonomy"] = string(text)
	return all
}

func TestTheTaxonomyIsReadOnceForEachOfItsRevisions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.name(t, "Health")
	for range 3 {
		f.keep(t, 1)
		f.shown(t)
	}
	f.name(t, "Wellness")
	f.shown(t)
	f.shown(t)
	if got := f.store.taxonomies.Load(); got != 2 {
		t.Errorf("it was read %d times", got)
	}
}

// counted counts searches, and the leads that they read.
type counted struct {
	store.LeadSearch

	searches, leads int
}

func (c *counted) Search(ctx context.Context, query lead.Query) (lead.Page, error) {
	page, err := c.LeadSearch.Search(ctx, query)
	c.searches, c.leads = c.searches+1, c.leads+len(page.Leads)
	return page, err
}

func TestCampaignsOfAPageAreCountedAndNoOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.name(t, "Health")
	const campaigns = 20
	f.change(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
		var all []lead.Campaign
		for n := range campaigns {
			all = append(all, lead.Campaign{
				ID: id.Campaign(fmt.Sprintf("cam_%02d", n)), Name: "C", Status: lead.StatusActive, Industry: "ind_1",
				CreatedAt: at, UpdatedAt: at,
			})
		}
		if err := tx.Campaigns().Keep(ctx, all); err != nil {
			return err
		}
		one := lead.Lead{
			ID: leadID(1), Name: "L", Rating: lead.Unrated, Enrichment: lead.None, Industry: "ind_1", Campaigns: []id.Campaign{all[4].ID},
		}
		merged := lead.Merge([]lead.Incoming{one.Incoming()}, nil, at)
		if err := tx.Campaigns().Count(ctx, merged.Members); err != nil {
			return err
		}
		return tx.Leads().Keep(ctx, merged.Changed)
	})
	search := &counted{LeadSearch: f.store.Leads()}
	service := export.New(f.store, search, f.clock)
	view := lead.View{Industries: []id.Industry{"ind_1"}}
	page, err := service.Campaigns(t.Context(), lead.CampaignQuery{Filter: lead.CampaignFilter{View: view}, Skip: 1, Size: 5})
	must(t, err)
	if page.Total != campaigns+1 || !page.More || search.searches != 5 || search.leads != 0 || page.Campaigns[4].LeadCount != 1 {
		t.Errorf("%d searches read %d leads for %+v", search.searches, search.leads, page.CampaignPage)
	}
	has := true
	asked := lead.CampaignQuery{Filter: lead.CampaignFilter{View: view, HasLeads: &has}, Size: 5}
	page, err = service.Campaigns(t.Context(), asked)
	must(t, err)
	if page.Total != 1 || len(page.Campaigns) != 1 || search.leads != 0 {
		t.Errorf("%d searches read %d leads for %+v", search.searches, search.leads, page.CampaignPage)
	}
}

func TestNamesAreThoseOfTheStoreThatReplacedAnother(t *testing.T) {
	t.Parallel()
	f, restored := newFixture(t), newFixture(t)
	restored.clock.now = f.clock.now.Add(time.Hour)
	f.name(t, "Health")
	restored.name(t, "Wellness")
	f.keep(t, 1)
	restored.keep(t, 1)
	f.shown(t)
	f.store.Store = restored.store.Store
	one, err := f.service.Lead(t.Context(), lead.View{}, leadID(1))
	must(t, err)
	if got := string(one.Names.Industry(one.Industry)); !strings.Contains(got, "Wellness") {
		t.Errorf("the lead has the names of the former store: %s", got)
	}
}

func TestEverythingIsAsOfOneState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.name(t, "Health")
	f.keep(t, 1)
	state, err := f.service.State(t.Context())
	must(t, err)
	leads, err := f.service.Leads(t.Context(), lead.Query{Size: 1})
	must(t, err)
	campaigns, err := f.service.Campaigns(t.Context(), lead.CampaignQuery{Size: 1})
	must(t, err)
	removed, err := f.service.Removed(t.Context(), lead.RemovedQuery{Size: 1})
	must(t, err)
	if leads.State != state || campaigns.State != state || removed.State != state || state.Revision != 2 {
		t.Errorf("%+v %+v %+v %+v", state, leads.State, campaigns.State, removed.State)
	}
}

func TestAStreamHandsOverEveryLeadInItsOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.name(t, "Health")
	numbers := make([]int, 2500)
	for i := range numbers {
		numbers[i] = i + 1
	}
	f.keep(t, numbers[:2000]...)
	f.keep(t, numbers[2000:]...)
	for _, c := range []struct {
		after lead.Place
		want  int
	}{{lead.Place{}, 2500}, {f.placeOf(t, 1000), 1500}, {f.placeOf(t, 2500), 0}} {
		last, count := c.after, 0
		must(t, f.service.Stream(t.Context(), lead.Filter{}, c.after, func(leads []lead.Exported, _ lead.Names) error {
			for _, one := range leads {
				if one.Place.Compare(last) <= 0 {
					t.Errorf("%v comes after %v", one.Place, last)
				}
				last = one.Place
			}
			count += len(leads)
			return nil
		}))
		if count != c.want {
			t.Errorf("%d leads, want %d", count, c.want)
		}
	}
	none := func([]lead.Exported, lead.Names) error { return errors.New("there should be none") }
	must(t, f.service.Stream(t.Context(), lead.Filter{Enrichments: []lead.Enrichment{lead.Deep}}, lead.Place{}, none))
}

func TestAStreamReadsOnePortionAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		search := &endless{}
		service := export.New(f.store, search, f.clock)
		taken := 0
		enough := errors.New("enough")
		err := service.Stream(t.Context(), lead.Filter{}, lead.Place{}, func([]lead.Exported, lead.Names) error {
			taken++
			synctest.Wait() // until the reader has read what it may
			if ahead := search.read.Load() - int64(taken); ahead != 1 {
				t.Errorf("%d portions were read ahead", ahead)
			}
			if taken == 5 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Error(err)
		}
		if got := search.read.Load(); got != 6 {
			t.Errorf("%d portions were read for 5", got)
		}
	})
}

func TestAStreamEndsWithWhatWentWrong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	broken := errors.New("disk I/O error")
	for what, search := range map[string]*endless{
		"at once": {fails: 1, err: broken}, "later": {fails: 3, err: broken}, "a panic": {fails: 2},
	} {
		err := export.New(f.store, search, f.clock).Stream(t.Context(), lead.Filter{}, lead.Place{}, take)
		if search.err != nil && !errors.Is(err, broken) || search.err == nil && (err == nil || !strings.HasPrefix(err.Error(), "panic: ")) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	err := export.New(f.store, &endless{}, f.clock).Stream(ctx, lead.Filter{}, lead.Place{}, func([]lead.Exported, lead.Names) error {
		stop()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestAStreamIsTakenUpWhereItsLastLeadWas(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.name(t, "Health")
	f.keep(t, 1)
	f.keep(t, 2)
	before := f.placeOf(t, 1)
	resume := func() lead.Place {
		t.Helper()
		place, err := f.service.ResumeFrom(t.Context(), lead.View{}, leadID(1))
		must(t, err)
		return place
	}
	if got := resume(); got != before {
		t.Errorf("unchanged: %v", got)
	}
	f.rename(t, 1, "Changed")
	if now := f.placeOf(t, 1); resume() != before || now.Compare(before) <= 0 {
		t.Errorf("it moved to %v; the stream continues at %v", now, resume())
	}
	f.clock.now = f.clock.now.Add(lead.ResumeWindow + time.Second)
	if got := resume(); got != f.placeOf(t, 1) {
		t.Errorf("long after the change: %v", got)
	}
	f.remove(t, 1)
	if got := resume(); got.ID != leadID(1) || got.UpdatedAt.IsZero() {
		t.Errorf("removed: %v", got)
	}
	if _, err := f.service.ResumeFrom(t.Context(), lead.View{}, "cmp_never"); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
	if _, err := f.service.Lead(t.Context(), lead.View{}, leadID(1)); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
	gone, err := f.service.Removed(t.Context(), lead.RemovedQuery{Size: 10})
	if err != nil || len(gone.Leads) != 1 || gone.Leads[0].ID != leadID(1) {
		t.Errorf("%+v, %v", gone, err)
	}
}

func take([]lead.Exported, lead.Names) error { return nil }

// endless is a search that finds a lead more each time, until it fails.
type endless struct {
	read  atomic.Int64
	fails int64 // at which time; 0: never
	err   error // nil: it panics
}

func (e *endless) Search(context.Context, lead.Query) (lead.Page, error) {
	if n := e.read.Add(1); n == e.fails {
		if e.err == nil {
			panic("the search is broken")
		}
		return lead.Page{}, e.err
	}
	return lead.Page{Leads: []lead.Exported{{Place: lead.Place{ID: "cmp_x"}}}, More: true}, nil
}

// fixture is the service on a store of its own.
type fixture struct {
	store   *watched
	clock   *clock
	service *export.Service
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	engine := sqlitetest.Open(t)
	f := &fixture{clock: &clock{time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)}}
	f.store = &watched{Store: sqlstore.New(engine, f.clock, system.IDs{}, engine.Migrator())}
	f.service = export.New(f.store, f.store.Leads(), f.clock)
	return f
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// watched counts how often the taxonomy is read.
type watched struct {
	store.Store
	taxonomies atomic.Int64
}

func (w *watched) View(ctx context.Context, read func(ctx context.Context, r store.Reader) error) error {
	return w.Store.View(ctx, func(ctx context.Context, r store.Reader) error { return read(ctx, watchedReader{r, &w.taxonomies}) })
}

type watchedReader struct {
	store.Reader
	count *atomic.Int64
}

func (r watchedReader) Taxonomy() store.TaxonomyReader {
	r.count.Add(1)
	return r.Reader.Taxonomy()
}

// change makes a change as imports do.
func (f *fixture) change(t *testing.T, write func(ctx context.Context, tx store.Tx, at time.Time) error) {
	t.Helper()
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		return write(ctx, tx, at)
	}))
}

// name gives the one industry a name, and keeps a campaign of it.
func (f *fixture) name(t *testing.T, name string) {
	t.Helper()
	f.change(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
		taxonomy, _, err := lead.TaxonomyDraft{Industries: []lead.IndustryDraft{{ID: "ind_1", Name: name}}}.Over(lead.Taxonomy{}, at)
		if err != nil {
			return err
		}
		if err := tx.Taxonomy().Keep(ctx, taxonomy); err != nil {
			return err
		}
		return tx.Campaigns().Keep(ctx, []lead.Campaign{{
			ID: "cam_1", Name: "Spring", Status: lead.StatusActive, Industry: "ind_1", CreatedAt: at, UpdatedAt: at,
		}})
	})
}

// keep keeps leads with these numbers, in this order.
func (f *fixture) keep(t *testing.T, numbers ...int) {
	t.Helper()
	f.keepNamed(t, "Lead", numbers...)
}

func (f *fixture) rename(t *testing.T, number int, name string) {
	t.Helper()
	f.keepNamed(t, name, number)
}

func (f *fixture) keepNamed(t *testing.T, name string, numbers ...int) {
	t.Helper()
	catalog := lead.Taxonomy{Industries: []lead.Industry{{ID: "ind_1"}}}.Catalog(nil)
	var batch []lead.Incoming
	var ids []id.Lead
	for _, n := range numbers {
		made, err := lead.Draft{ID: string(leadID(n)), Name: name, Industry: "ind_1"}.Lead(catalog)
		must(t, err)
		incoming := made.Incoming()
		batch, ids = append(batch, incoming), append(ids, made.ID)
	}
	f.change(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
		stored, err := tx.Leads().Summaries(ctx, ids)
		if err != nil {
			return err
		}
		return tx.Leads().Keep(ctx, lead.Merge(batch, stored, at).Changed)
	})
}

func (f *fixture) remove(t *testing.T, number int) {
	t.Helper()
	f.change(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
		_, err := tx.Leads().Remove(ctx, []id.Lead{leadID(number)}, at)
		return err
	})
}

func (f *fixture) placeOf(t *testing.T, number int) lead.Place {
	t.Helper()
	found, err := f.service.Lead(t.Context(), lead.View{}, leadID(number))
	must(t, err)
	return found.Place
}

func leadID(n int) id.Lead { return id.Lead(fmt.Sprintf("cmp_%06d", n)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
