package leadindex_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/leads/leadindex"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

func TestTheStoreAnswersUntilAllIsRead(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	keep(t, s, 3, lead.Deep)
	index := leadindex.New(s)
	if got := search(t, index); got.Total != 3 || index.Status().Ready {
		t.Errorf("%d leads, %+v", got.Total, index.Status())
	}
	mustFollow(t, index)
	status := index.Status()
	if got := search(t, index); got.Total != 3 || !status.Ready || status.Leads != 3 || status.Revision != 1 || status.Bytes == 0 ||
		status.Built == 0 {
		t.Errorf("%d leads, %+v", got.Total, status)
	}
}

func TestWhatChangedMeanwhileIsAskedOfTheStore(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	keep(t, s, 3, lead.Deep)
	index := leadindex.New(s)
	mustFollow(t, index)
	keep(t, s, 1, lead.Basic)
	got := search(t, index)
	if got.State.Revision != 2 || got.Leads[2].Place.ID != "cmp_0" {
		t.Errorf("%+v", got)
	}
	select {
	case <-index.Wanted():
	default:
		t.Error("no update was asked for, though the index is stale")
	}
	page, err := index.Search(t.Context(), lead.Query{Filter: lead.Filter{Enrichments: []lead.Enrichment{lead.Basic}}, Size: 10})
	if err != nil || page.Total != 1 {
		t.Errorf("the index answered from a revision older than one that was seen: %+v, %v", page, err)
	}
	mustFollow(t, index)
	if status := index.Status(); status.Revision != 2 || search(t, index).State.Revision != 2 {
		t.Errorf("%+v", status)
	}
}

func TestASearchThatWaitsIsAnsweredByTheNextSnapshot(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	index := leadindex.New(s)
	follow(t, index)
	for i := range 20 {
		keep(t, s, 3, lead.Enrichments()[i%4])
		if got := search(t, index); len(got.Leads) > 0 && got.State.Revision < lead.Revision(i) {
			t.Errorf("%+v", got.State)
		}
	}
}

func TestAFailureWhileItReadsChangesNothing(t *testing.T) {
	t.Parallel()
	s := &fragile{Store: onSQLite(t)}
	index := leadindex.New(s)
	keep(t, s, 3, lead.Deep)
	for _, revision := range []lead.Revision{1, 2} {
		s.broken.Store(true)
		mustFail(t, index)
		mustFail(t, index)
		s.broken.Store(false)
		if got := search(t, index); got.State.Revision != revision || len(got.Leads) != 3 {
			t.Errorf("%+v", got)
		}
		if err := catchUp(t.Context(), index, s); err != nil {
			t.Fatal(err)
		}
		if got := search(t, index); got.State.Revision != revision || len(got.Leads) != 3 || index.Status().Revision != revision {
			t.Errorf("%+v", got)
		}
		keep(t, s, 2, lead.Basic)
	}
}

func TestAStoreThatDoesNotAnswerIsNoEmptyPage(t *testing.T) {
	t.Parallel()
	s := &fragile{Store: onSQLite(t)}
	keep(t, s, 3, lead.Deep)
	index := leadindex.New(s)
	mustFollow(t, index)
	s.lost.Store(true)
	if _, err := index.Search(t.Context(), lead.Query{Size: 2}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func TestAnotherStoreInPlaceOfTheFirstIsReadAnew(t *testing.T) {
	t.Parallel()
	for name, revisions := range map[string]lead.Revision{"at an earlier revision": 1, "at the same revision": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			later := storetest.NewClock()
			later.Advance(time.Hour)
			first, second := onSQLite(t), onSQLiteAt(t, later)
			for range 3 {
				keep(t, first, 5, lead.Deep)
			}
			for range revisions {
				keep(t, second, 2, lead.Deep)
			}
			s := &exchanged{first}
			index := leadindex.New(s)
			mustFollow(t, index)
			search(t, index)
			s.Store = second
			mustFollow(t, index)
			mustFollow(t, index)
			if got := search(t, index); got.Total != 2 || index.Status().Leads != 2 || got.State.Revision != revisions {
				t.Errorf("%+v, %+v", got, index.Status())
			}
		})
	}
}

func TestDeadPositionsArePurged(t *testing.T) {
	t.Parallel()
	const leads = 40_000
	p := newPlenty(leads)
	index := leadindex.New(p)
	mustFollow(t, index)
	fresh := index.Status().Bytes
	for round := range 80 {
		p.change(batch)
		mustFollow(t, index)
		if round%20 == 19 {
			same(t, index, p)
		}
	}
	if status := index.Status(); status.Leads != leads || status.Dead > leads || status.Bytes > 2*fresh {
		t.Errorf("%+v, at first %d bytes", status, fresh)
	}
	for p.changeAt(100, instantOf(3)); index.Status().Revision < lead.Revision(len(p.batches)-1); {
		mustFollow(t, index)
	}
	same(t, index, p)
	if status := index.Status(); status.Leads != leads || status.Dead != 0 {
		t.Errorf("%+v", status)
	}
}

func TestManyDeadPositionsArePurgedInPortions(t *testing.T) {
	t.Parallel()
	const leads = 150_000 // more chunks than one portion has
	p := newPlenty(leads)
	index := leadindex.New(p)
	mustFollow(t, index)
	fresh := index.Status().Bytes
	for range leads / 3 / batch {
		p.change(batch)
	}
	mustFollow(t, index)
	began := index.Status()
	same(t, index, p)
	for range 10 { // without any change
		mustFollow(t, index)
	}
	ended := index.Status()
	if began.Dead == 0 || ended.Dead >= began.Dead/2 || ended.Leads != leads || ended.Bytes > fresh*5/4 {
		t.Errorf("%+v, then %+v, at first %d bytes", began, ended, fresh)
	}
	same(t, index, p)
}

// same fails unless an index finds what there is, on pages far apart too.
func same(t *testing.T, index *leadindex.Index, p *plenty) {
	t.Helper()
	rating := lead.Rating(250)
	want := p.ids(names.industries[5], rating)
	query := lead.Query{Filter: lead.Filter{Industries: []id.Industry{names.industries[5]}, MinRating: &rating}, Size: 10}
	for query.Skip < int64(len(want)) {
		page, err := index.Search(t.Context(), query)
		if err != nil || page.Total != int64(len(want)) || page.More != (query.Skip+10 < page.Total) {
			t.Fatalf("%d, %t, %v; want %d", page.Total, page.More, err, len(want))
		}
		for i, one := range page.Leads {
			if one.Place.ID != want[int(query.Skip)+i] {
				t.Fatalf("%v at %d", one.Place, int(query.Skip)+i)
			}
		}
		query.Skip += 97
	}
}

func TestKeysMayBeFarApart(t *testing.T) {
	t.Parallel()
	const leads = 500
	p := newPlenty(leads)
	p.keyStep = 1 << 40
	index := leadindex.New(p)
	mustFollow(t, index)
	for range 20 {
		p.change(30)
		p.add(1)
		mustFollow(t, index)
	}
	if status := index.Status(); status.Leads != leads+20 || status.Bytes > 1<<20 {
		t.Errorf("%+v", status)
	}
}

// search asks for all leads.
func search(t *testing.T, of store.LeadSearch) lead.Page {
	t.Helper()
	page, err := of.Search(t.Context(), lead.Query{Size: 10})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func mustFollow(t *testing.T, index *leadindex.Index) {
	t.Helper()
	if _, err := index.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// mustFail follows until that fails: after a failure nothing is done for a while.
func mustFail(t *testing.T, index *leadindex.Index) {
	t.Helper()
	var err error
	for err == nil {
		_, err = index.Follow(t.Context())
	}
	if !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
}

// keep keeps the first n leads, all of one depth.
func keep(t *testing.T, s store.Store, n int, depth lead.Enrichment) {
	t.Helper()
	err := s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		kept := make([]lead.Stored, n)
		for i := range kept {
			kept[i].Lead = lead.Lead{ID: id.Lead("cmp_" + strconv.Itoa(i)), Enrichment: depth, CreatedAt: at, UpdatedAt: at}
		}
		return tx.Leads().Keep(ctx, kept)
	})
	if err != nil {
		t.Fatal(err)
	}
}

var errBroken = errors.New("the disk is on fire")

// fragile is a store whose leads cannot be read at times: when it is broken not to the end, when it is lost not at all.
type fragile struct {
	store.Store
	broken, lost atomic.Bool
}

func (f *fragile) Leads() store.LeadReader { return fragileLeads{f.Store.Leads(), f} }

func (f *fragile) View(ctx context.Context, read func(context.Context, store.Reader) error) error {
	return f.Store.View(ctx, func(ctx context.Context, r store.Reader) error { return read(ctx, fragileReader{r, f}) })
}

type fragileReader struct {
	store.Reader
	of *fragile
}

func (r fragileReader) Leads() store.LeadReader { return fragileLeads{r.Reader.Leads(), r.of} }

type fragileLeads struct {
	store.LeadReader
	of *fragile
}

func (l fragileLeads) Marks(ctx context.Context, after, upTo lead.Place, size int) ([]store.LeadMark, error) {
	if l.of.broken.Load() {
		return nil, errBroken
	}
	return l.LeadReader.Marks(ctx, after, upTo, size)
}

func (l fragileLeads) Changes(ctx context.Context, after store.ChangeCursor, size int) ([]store.LeadChange, error) {
	if l.of.broken.Load() {
		return nil, errBroken
	}
	return l.LeadReader.Changes(ctx, after, size)
}

func (l fragileLeads) Keyed(ctx context.Context, keys []int64) ([]store.KeyedLead, error) {
	if l.of.lost.Load() {
		return nil, errBroken
	}
	return l.LeadReader.Keyed(ctx, keys)
}

// exchanged is a store in whose place another may be put.
type exchanged struct{ store.Store }
