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

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/imports"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

var (
	caller   = access.System("test")
	noon     = time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)
	taxonomy = lead.TaxonomyDraft{
		Industries:  []lead.IndustryDraft{{ID: "ind_1", Name: "Food"}},
		Verticals:   []lead.VerticalDraft{{ID: "vrt_1", Industry: "ind_1", Name: "Bakeries"}},
		Geographies: []lead.GeographyDraft{{ID: "geo_1", Name: "Berlin", CountryCode: "DE"}},
	}
)

// fixture is a store with a small taxonomy and the campaigns cam_1 and cam_2.
type fixture struct {
	clock   *clock
	store   *failing
	imports *imports.Service
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	engine := sqlitetest.Open(t)
	f := fixture{clock: &clock{noon}}
	f.store = &failing{Store: sqlstore.New(engine, f.clock, system.IDs{}, engine.Migrator())}
	f.imports = imports.New(f.store, f.clock, system.IDs{}, system.Entropy{}, plainVault{})
	_, err := f.imports.Taxonomy(t.Context(), caller, taxonomy, false)
	must(t, err)
	campaigns := []lead.CampaignDraft{{ID: "cam_1", Name: "First"}, {ID: "cam_2", Name: "Second"}}
	_, err = f.imports.Campaigns(t.Context(), caller, campaignLines(campaigns), inbound.ImportOptions{})
	must(t, err)
	return f
}

func (f fixture) leads(t *testing.T, drafts []lead.Draft, options inbound.ImportOptions) lead.ImportCount {
	t.Helper()
	got, err := f.imports.Leads(t.Context(), caller, lines(drafts), options)
	must(t, err)
	return got
}

func (f fixture) state(t *testing.T) lead.State {
	t.Helper()
	state, err := f.store.Leads().State(t.Context())
	must(t, err)
	return state
}

func (f fixture) exported(t *testing.T, which id.Lead) lead.Exported {
	t.Helper()
	exported, err := f.store.Leads().Get(t.Context(), which)
	must(t, err)
	return exported
}

// counts looks at how many leads the two campaigns have.
func (f fixture) counts(t *testing.T, first, second int64) {
	t.Helper()
	for which, want := range map[id.Campaign]int64{"cam_1": first, "cam_2": second} {
		if got, err := f.store.Campaigns().Get(t.Context(), which); err != nil || got.LeadCount != want {
			t.Errorf("%s has %d leads, %v; want %d", which, got.LeadCount, err, want)
		}
	}
}

func (f fixture) total(t *testing.T, want int64) {
	t.Helper()
	if got, err := f.store.Leads().Search(t.Context(), lead.Query{Size: 1}); err != nil || got.Total != want {
		t.Errorf("there are %d leads, %v; want %d", got.Total, err, want)
	}
}

// happened looks at the activity log: types, with what was inserted and updated.
func (f fixture) happened(t *testing.T, want ...string) {
	t.Helper()
	found, err := f.store.Activity().List(t.Context(), store.ActivityFilter{}, page.Position{}, page.MaxSize)
	must(t, err)
	got := make([]string, len(found.Items))
	for i, e := range found.Items {
		values := map[string]any{}
		for _, field := range e.Data {
			values[field.Name] = field.Value
		}
		got[len(got)-1-i] = fmt.Sprint(e.Type, " ", values["inserted"], " ", values["updated"])
		if e.Company != "" || e.Actor != caller.Actor || e.Subject.Type != e.Type.Kind() {
			t.Errorf("%+v", e)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// manyDrafts are leads of which every other one is in the first campaign. Each line has 10 bytes.
func manyDrafts(count int) []lead.Draft {
	drafts := make([]lead.Draft, count)
	for i := range drafts {
		drafts[i] = lead.Draft{ID: fmt.Sprintf("cmp_%d", i), Name: "Acme"}
		if i%2 == 0 {
			drafts[i].Campaigns = []string{"cam_1"}
		}
	}
	return drafts
}

func lines(drafts []lead.Draft) iter.Seq2[inbound.LeadLine, error] {
	return func(yield func(inbound.LeadLine, error) bool) {
		for i, draft := range drafts {
			if !yield(inbound.LeadLine{Number: int64(i + 1), End: int64(10 * (i + 1)), Draft: draft}, nil) {
				return
			}
		}
	}
}

func campaignLines(drafts []lead.CampaignDraft) iter.Seq2[inbound.CampaignLine, error] {
	return func(yield func(inbound.CampaignLine, error) bool) {
		for i, draft := range drafts {
			if !yield(inbound.CampaignLine{Number: int64(i + 1), End: int64(10 * (i + 1)), Draft: draft}, nil) {
				return
			}
		}
	}
}

func summary(read int64, inserted, updated, unchanged int, rejected int64) lead.ImportCount {
	return lead.ImportCount{
		Change: lead.Change{Inserted: inserted, Updated: updated, Unchanged: unchanged}, Read: read, Rejected: rejected,
	}
}

// merging is a summary with merged lines.
func merging(of lead.ImportCount, lines int64) lead.ImportCount {
	of.Merged = lines
	return of
}

// plainVault seals nothing.
type plainVault struct{ outbound.Vault }

func (plainVault) Seal(_, owner, secret string) (string, error) { return owner + ":" + secret, nil }

func (plainVault) Open(owner, sealed string) (string, error) {
	secret, ok := strings.CutPrefix(sealed, owner+":")
	if !ok {
		return "", errors.New("it is sealed for somebody else")
	}
	return secret, nil
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// failing is a store whose next units fail.
type failing struct {
	store.Store
	fails     []error
	lost      error  // of the next unit, which does all its work and is not committed
	committed func() // is called after a unit; may be nil
}

func (f *failing) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	if len(f.fails) > 0 {
		err := f.fails[0]
		f.fails = f.fails[1:]
		return err
	}
	if err := f.lost; err != nil {
		f.lost = nil
		return f.Store.Update(ctx, func(ctx context.Context, tx store.Tx) error { return errors.Join(write(ctx, tx), err) })
	}
	err := f.Store.Update(ctx, write)
	if f.committed != nil {
		f.committed()
	}
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
