package searchtest

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// fixture is what a rule works with: a subject, and what it should find.
type fixture struct {
	reporter
	t       *testing.T
	ctx     context.Context
	subject Subject
	seen    lead.Revision // no page may be older
	record  *record
}

// reporter is what testing.T and rapid.T have in common.
type reporter interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// record is all that the store ever contained: at each revision its leads, in the order of the export.
type record struct {
	mutex   sync.Mutex
	states  map[lead.Revision]lead.State
	leads   map[lead.Revision][]lead.Stored
	present lead.Revision

	industries map[id.Campaign]id.Industry // of campaigns, by now
}

// campaigns, industries and verticals are those that leads may have.
var (
	campaigns  = []id.Campaign{"cam_spring", "cam_spring2", "cam_autumn", "cam_none"}
	industries = []id.Industry{"ind_food", "ind_tools"}
	verticals  = map[id.Industry][]id.Vertical{"ind_food": {"vrt_bread", "vrt_wine"}, "ind_tools": {"vrt_saws"}}
)

func newFixture(t *testing.T, subject Subject) *fixture {
	f := &fixture{
		reporter: t, t: t, ctx: t.Context(), subject: subject,
		record: &record{
			states: map[lead.Revision]lead.State{}, leads: map[lead.Revision][]lead.Stored{}, industries: map[id.Campaign]id.Industry{},
		},
	}
	f.update(func(ctx context.Context, tx store.Tx, at time.Time) ([]lead.Stored, error) {
		taxonomy := lead.Taxonomy{}
		for _, industry := range industries {
			taxonomy.Industries = append(taxonomy.Industries, lead.Industry{ID: industry, Name: "Industry", Slug: "industry", Active: true})
			for _, vertical := range verticals[industry] {
				taxonomy.Verticals = append(taxonomy.Verticals,
					lead.Vertical{ID: vertical, Industry: industry, Name: "V", Slug: "v", Active: true})
			}
		}
		if err := tx.Taxonomy().Keep(ctx, taxonomy); err != nil {
			return nil, err
		}
		var all []lead.Campaign
		for _, campaign := range campaigns {
			all = append(all, lead.Campaign{ID: campaign, Name: "Campaign", Status: lead.StatusDraft, CreatedAt: at, UpdatedAt: at})
		}
		return nil, tx.Campaigns().Keep(ctx, all)
	})
	return f
}

// newLead makes a lead with an id of its own, altered by each of alter.
func newLead(name string, alter ...func(*lead.Lead)) lead.Lead {
	l := lead.Lead{ID: id.Lead("cmp_" + name), Name: name, Rating: lead.Unrated, Enrichment: lead.None}
	for _, change := range alter {
		change(&l)
	}
	return l
}

// numbered makes leads whose ids are in their order.
func numbered(n int, alter ...func(*lead.Lead)) []lead.Lead {
	all := make([]lead.Lead, n)
	for i := range all {
		all[i] = newLead(strconv.Itoa(100_000+i), alter...)
	}
	return all
}

// at gives a lead timestamps of its own.
func at(updated time.Time) func(*lead.Lead) {
	return func(l *lead.Lead) { l.CreatedAt, l.UpdatedAt = updated, updated }
}

// keep keeps leads, as an import does.
func (f *fixture) keep(leads ...lead.Lead) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx, at time.Time) ([]lead.Stored, error) {
		batch, ids := make([]lead.Incoming, len(leads)), make([]id.Lead, len(leads))
		for i, one := range leads {
			batch[i] = one.Incoming()
			ids[i] = one.ID
		}
		stored, err := tx.Leads().Summaries(ctx, ids)
		if err != nil {
			return nil, err
		}
		merged := lead.Merge(batch, stored, at)
		return merged.Changed, tx.Leads().Keep(ctx, merged.Changed)
	})
}

// remove removes leads.
func (f *fixture) remove(ids ...id.Lead) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx, at time.Time) ([]lead.Stored, error) {
		_, err := tx.Leads().Remove(ctx, ids, at)
		return nil, err
	}, ids...)
}

// update runs a unit that changes leads, and records what the store contains then: with the leads that it kept, and
// without those that it removed.
func (f *fixture) update(change func(ctx context.Context, tx store.Tx, at time.Time) ([]lead.Stored, error), removed ...id.Lead) {
	f.Helper()
	var kept []lead.Stored
	var state lead.State
	err := f.subject.Store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		if kept, err = change(ctx, tx, at); err != nil {
			return err
		}
		state, err = tx.Leads().State(ctx)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.record.write(state, kept, removed)
}

func (r *record) write(state lead.State, kept []lead.Stored, removed []id.Lead) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	leads := map[id.Lead]lead.Stored{}
	for _, one := range r.leads[r.present] {
		leads[one.ID] = one
	}
	for _, one := range kept {
		leads[one.ID] = one
	}
	for _, which := range removed {
		delete(leads, which)
	}
	r.present, r.states[state.Revision] = state.Revision, state
	r.leads[state.Revision] = slices.SortedFunc(maps.Values(leads), func(a, b lead.Stored) int { return a.Place().Compare(b.Place()) })
}

// now returns the leads that the store contains.
func (f *fixture) now() []lead.Stored {
	_, leads := f.record.at(f.record.present)
	return leads
}

// at returns what the store contained at a revision.
func (r *record) at(revision lead.Revision) (lead.State, []lead.Stored) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.states[revision], r.leads[revision]
}

// catchUp lets the search know all that was kept and removed.
func (f *fixture) catchUp() {
	f.Helper()
	if f.subject.CatchUp != nil {
		if err := f.subject.CatchUp(); err != nil {
			f.Fatal(err)
		}
	}
	f.seen = f.record.present
}

// check asks, and fails unless the page is what it should be. It returns the page.
func (f *fixture) check(query lead.Query) lead.Page {
	f.Helper()
	page, err := f.subject.Search(f.ctx, query)
	if err != nil {
		f.Fatal(err)
	}
	f.same(query, page)
	return page
}

// same fails unless a page is what it should be at its revision, which must not be older than what was seen before.
func (f *fixture) same(query lead.Query, page lead.Page) {
	f.Helper()
	if page.State.Revision < f.seen {
		f.Fatalf("revision %d after %d", page.State.Revision, f.seen)
	}
	f.seen = page.State.Revision
	state, leads := f.record.at(page.State.Revision)
	want := expected(query, state, leads)
	if want.State == page.State && want.Total == page.Total && want.More == page.More &&
		slices.EqualFunc(want.Leads, page.Leads, sameEntry) {
		return
	}
	diff := cmp.Diff(want, page, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(lead.Exported{}, "Document"))
	f.Fatalf("%+v at revision %d: -want +got:\n%s\ndocuments: %+v", query, state.Revision, diff, page.Leads)
}

// expected is the page by definition.
func expected(query lead.Query, state lead.State, leads []lead.Stored) lead.Page {
	page := lead.Page{State: state}
	skip := query.Skip
	for _, one := range leads {
		if !query.Filter.Match(one.Lead) {
			continue
		}
		if !query.Uncounted {
			page.Total++
		}
		switch {
		case one.Place().Compare(query.After) <= 0:
		case skip > 0:
			skip--
		case len(page.Leads) == query.Size:
			page.More = query.Size > 0
		default:
			page.Leads = append(page.Leads, exported(one))
		}
	}
	return page
}

// sameEntry compares what was expected with what was found. A document is the one of its lead, at the revision of the page, with its
// campaigns.
func sameEntry(want, got lead.Exported) bool {
	document := got.Document
	campaigns := want.Document.Tail
	got.Document, want.Document = lead.Document{}, lead.Document{}
	return got == want && strings.HasPrefix(document.Tail, campaigns) && strings.Contains(document.Head, `"`+string(want.Place.ID)+`"`) &&
		strings.Contains(document.Tail, want.Place.UpdatedAt.Format(`"2006-01-02T15:04:05.000Z"`))
}

// exported is a lead as it is expected; of its document there are the campaigns.
func exported(kept lead.Stored) lead.Exported {
	var campaigns []string
	for _, campaign := range kept.Campaigns {
		campaigns = append(campaigns, `"`+string(campaign)+`"`)
	}
	return lead.Exported{
		Document: lead.Document{Tail: `"campaign_ids":[` + strings.Join(campaigns, ",") + `],`},
		Place:    kept.Place(), MovedFrom: kept.MovedFrom, Industry: kept.Industry, Vertical: kept.Vertical,
	}
}
