package leadindex_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/leads/leadindex"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/searchtest"
	"holdco/ports/store"
)

func TestAnIndexThatReadsFewLeadsAtOnceSearchesAsTheFilterSays(t *testing.T) {
	t.Parallel()
	searchtest.Run(t, func(t *testing.T) searchtest.Subject {
		s := onSQLite(t)
		index := leadindex.New(s).ReadBy(3)
		follow(t, index)
		return searchtest.Subject{LeadSearch: index, Store: s, CatchUp: func() error { return catchUp(t.Context(), index, s) }}
	})
}

func TestNoStatementReadsMoreLeadsThanTheStoreCanInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const leads, able = 30_000, 700
		p := newPlenty(leads)
		sizes := map[int]int{}
		w := &watched{plenty: p, before: func(size int) error {
			sizes[size]++
			if size > able {
				return errTooLong
			}
			return nil
		}}
		index := leadindex.New(w)
		for !index.Status().Ready {
			_, _ = index.Follow(t.Context())
			time.Sleep(leadindex.Pace)
		}
		same(t, index, p)
		if status := index.Status(); status.Leads != leads {
			t.Errorf("%+v", status)
		}
		if want := map[int]int{10_000: 1, 5000: 1, 2500: 1, 1250: 1, 625: leads/625 + 1}; !cmp.Equal(sizes, want) {
			t.Errorf("statements by how many leads they may read: %v; want %v", sizes, want)
		}
	})
}

func TestAFailingStoreIsTriedLessAndLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failing bool
		var tries []time.Time
		w := &watched{plenty: newPlenty(10), before: func(int) error {
			tries = append(tries, time.Now())
			if failing {
				return errTooLong
			}
			return nil
		}}
		index := leadindex.New(w)
		pauses := func() []time.Duration {
			tries = nil
			for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(leadindex.Pace) {
				_, _ = index.Follow(t.Context())
			}
			var found []time.Duration
			for i := range len(tries) - 1 {
				found = append(found, tries[i+1].Sub(tries[i]))
			}
			return found
		}
		want := []time.Duration{}
		for pause := leadindex.Pace; pause < 30*time.Second; pause *= 2 {
			want = append(want, pause)
		}
		want = append(want, 30*time.Second, 30*time.Second, 30*time.Second)
		failing = true
		if diff := cmp.Diff(want, pauses()[:len(want)]); diff != "" {
			t.Errorf("a first reading: %s", diff)
		}
		failing = false
		if pauses(); !index.Status().Ready {
			t.Fatal("it was not tried again")
		}
		failing = true
		w.add(1)
		if diff := cmp.Diff(want, pauses()[:len(want)]); diff != "" {
			t.Errorf("a change: %s", diff)
		}
	})
}

func TestAFirstReadingContinuesWhereItFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const leads, size = 5000, 100
		p := newPlenty(leads)
		calls := 0
		index := leadindex.New(&watched{plenty: p, before: func(int) error {
			if calls++; calls%10 == 0 {
				p.change(3)
				return errTooLong
			}
			return nil
		}}).ReadBy(size)
		for !index.Status().Ready {
			_, _ = index.Follow(t.Context())
			time.Sleep(time.Minute)
		}
		same(t, index, p)
		if calls > leads/size*5/4 {
			t.Errorf("%d leads were read in %d statements", leads, calls)
		}
	})
}

func TestWhatChangesDuringTheFirstReadingIsNotMissed(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	const leads, size = 200, 10
	keep(t, s, leads, lead.Deep)
	ranges := 0
	var index *leadindex.Index
	hooked := &hooked{Store: s, marks: func() {
		ranges++
		first := ranges * 7 % leads
		store := changing{t, s}
		store.keep(time.Time{}, first, first+1, leads+ranges)        // they move to the end; one is new
		store.keep(instantOf(ranges%2), (first+50)%leads)            // this one to the beginning
		store.keep(instantOf(1_000_000), (first+90)%leads, leads+50) // these to where nothing was read
		store.remove((first+100)%leads, leads+ranges-1)
	}}
	index = leadindex.New(hooked).ReadBy(size)
	mustFollow(t, index)
	hooked.marks = func() { t.Error("more is read than there was at the beginning") }
	mustFollow(t, index)
	query := lead.Query{Size: 1000}
	want, err := s.Leads().Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	got, err := index.Search(t.Context(), query)
	if err != nil || ranges < leads/size/2 {
		t.Fatal(ranges, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if hooked.searches != 0 {
		t.Error("the store answered")
	}
}

func TestSearchesOfAStoreThatWasReplacedHoldNoneUp(t *testing.T) {
	t.Parallel()
	for name, ready := range map[string]bool{"from the index": true, "from the store": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := onSQLite(t), onSQLite(t)
			for range 3 {
				keep(t, first, 5, lead.Deep)
			}
			keep(t, second, 2, lead.Deep)
			h := &hooked{Store: first}
			index := leadindex.New(h)
			mustFollow(t, index)
			mustFollow(t, index)
			replace := func() {
				h.keyed, h.searched, h.Store = nil, nil, second
				mustFollow(t, index)
			}
			if ready {
				h.keyed = replace
			} else {
				index = leadindex.New(h)
				h.searched = func() {
					h.searched = nil
					mustFollow(t, index) // it has read the first store
					replace()
				}
			}
			search(t, index) // meanwhile the store is replaced
			h.searches = 0
			if got := search(t, index); got.Total != 2 || h.searches != 0 {
				t.Errorf("%d leads; the store answered %d times", got.Total, h.searches)
			}
		})
	}
}

var errTooLong = errors.New("canceling statement due to statement timeout")

// watched is a store whose statements for an index are watched, and may fail.
type watched struct {
	*plenty
	before func(size int) error
}

func (w *watched) Leads() store.LeadReader { return w }

func (w *watched) View(ctx context.Context, read func(context.Context, store.Reader) error) error {
	return read(ctx, w)
}

func (w *watched) Marks(ctx context.Context, after, upTo lead.Place, size int) ([]store.LeadMark, error) {
	if err := w.before(size); err != nil {
		return nil, err
	}
	return w.plenty.Marks(ctx, after, upTo, size)
}

func (w *watched) Changes(ctx context.Context, after store.ChangeCursor, size int) ([]store.LeadChange, error) {
	if err := w.before(size); err != nil {
		return nil, err
	}
	return w.plenty.Changes(ctx, after, size)
}

// hooked is a store in which something happens before a range of marks is read, or after leads were read by key or searched.
type hooked struct {
	store.Store
	marks, keyed, searched func()
	searches               int
}

func (h *hooked) Leads() store.LeadReader { return &hookedLeads{h.Store.Leads(), h} }

type hookedLeads struct {
	store.LeadReader
	of *hooked
}

func (l *hookedLeads) Marks(ctx context.Context, after, upTo lead.Place, size int) ([]store.LeadMark, error) {
	call(l.of.marks)
	return l.LeadReader.Marks(ctx, after, upTo, size)
}

func (l *hookedLeads) Keyed(ctx context.Context, keys []int64) ([]store.KeyedLead, error) {
	found, err := l.LeadReader.Keyed(ctx, keys)
	call(l.of.keyed)
	return found, err
}

func (l *hookedLeads) Search(ctx context.Context, query lead.Query) (lead.Page, error) {
	l.of.searches++
	page, err := l.LeadReader.Search(ctx, query)
	call(l.of.searched)
	return page, err
}

func call(hook func()) {
	if hook != nil {
		hook()
	}
}

// changing changes numbered leads.
type changing struct {
	*testing.T
	store store.Store
}

// keep keeps leads, at an instant unless that is zero.
func (c changing) keep(at time.Time, numbers ...int) {
	c.Helper()
	c.unit(func(ctx context.Context, tx store.Tx, now time.Time) error {
		kept := make([]lead.Stored, len(numbers))
		for i, number := range numbers {
			updated := at
			if at.IsZero() {
				updated = now
			}
			depth := lead.Enrichments()[number%4]
			kept[i].Lead = lead.Lead{ID: numberedLead(number), Enrichment: depth, CreatedAt: updated, UpdatedAt: updated}
		}
		slices.SortFunc(kept, func(a, b lead.Stored) int { return a.Place().Compare(b.Place()) })
		return tx.Leads().Keep(ctx, kept)
	})
}

func (c changing) remove(numbers ...int) {
	c.Helper()
	c.unit(func(ctx context.Context, tx store.Tx, now time.Time) error {
		ids := make([]id.Lead, len(numbers))
		for i, number := range numbers {
			ids[i] = numberedLead(number)
		}
		_, err := tx.Leads().Remove(ctx, ids, now)
		return err
	})
}

func (c changing) unit(change func(ctx context.Context, tx store.Tx, now time.Time) error) {
	c.Helper()
	err := c.store.Update(c.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		now, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		return change(ctx, tx, now)
	})
	if err != nil {
		c.Fatal(err)
	}
}

func numberedLead(number int) id.Lead { return id.Lead(fmt.Sprint("cmp_", strconv.Itoa(number))) }
