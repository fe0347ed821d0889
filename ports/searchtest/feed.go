package searchtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// feedReader keeps a copy of what a filter matches by the feed alone.
type feedReader struct {
	filter lead.Filter
	at     lead.FeedPosition
	leads  map[id.Lead]lead.Place
	names  map[string]string

	// sees is which campaigns of a lead the filter shows by now; nil: that is not compared. seen is what it was when the lead came.
	sees func(id.Lead) []id.Campaign
	seen map[id.Lead][]id.Campaign
}

func newFeedReader(filter lead.Filter) *feedReader {
	return &feedReader{filter: filter, leads: map[id.Lead]lead.Place{}, names: map[string]string{}, seen: map[id.Lead][]id.Campaign{}}
}

// read reads on to the end, in pages of a size.
func (r *feedReader) read(ctx context.Context, from store.LeadReader, size int) error {
	for {
		page, err := from.Feed(ctx, lead.FeedQuery{Filter: r.filter, After: r.at, Size: size})
		if err != nil {
			return err
		}
		if err := r.apply(page, size); err != nil || !page.More {
			return err
		}
	}
}

func (r *feedReader) apply(page lead.FeedPage, size int) error {
	last := r.at.Place
	if len(page.Changes) > size {
		return fmt.Errorf("%d changes, of at most %d", len(page.Changes), size)
	}
	for _, change := range page.Changes {
		if change.Place.Compare(last) <= 0 || change.Place.Revision > page.State.Revision {
			return fmt.Errorf("%+v comes after %+v, at revision %d", change, last, page.State.Revision)
		}
		last = change.Place
		switch change.Kind {
		case lead.Upserted:
			if change.Exported.Place.ID != change.Lead || change.Exported.Document.Tail == "" {
				return fmt.Errorf("%+v has another lead, or none", change)
			}
			r.leads[change.Lead] = change.Exported.Place
			if r.sees != nil {
				r.seen[change.Lead] = r.sees(change.Lead)
			}
		case lead.Gone, lead.Left:
			if change.Place.Revision <= r.at.Fresh || (change.Kind == lead.Gone) == change.At.IsZero() {
				return fmt.Errorf("who began with nothing at %d is told of %+v", r.at.Fresh, change)
			}
			delete(r.leads, change.Lead)
		case lead.TaxonomyChanged:
			if change.Industry != nil {
				r.names[string(change.Industry.ID)] = change.Industry.Name
			} else {
				r.names[string(change.Vertical.ID)] = change.Vertical.Name + " of " + string(change.Vertical.Industry)
			}
		}
	}
	if page.Next.Place.Compare(last) < 0 || page.More && page.Next == r.at {
		return fmt.Errorf("the next page begins after %+v, and the last change is at %+v", page.Next, last)
	}
	if len(page.Changes) == 0 && !page.More && r.at != (lead.FeedPosition{}) && page.Next.Place.Revision > page.State.Revision {
		return errors.New("an empty page is ahead of its state")
	}
	r.at = page.Next
	return nil
}

// checkCopy fails unless the copy of a reader is what its filter matches by now.
func (f *fixture) checkCopy(r *feedReader, size int) {
	f.Helper()
	if err := r.read(f.ctx, f.subject.Store.Leads(), size); err != nil {
		f.Fatal(err)
	}
	want := map[id.Lead]lead.Place{}
	for _, one := range f.now() {
		if r.filter.Match(one.Lead) {
			want[one.ID] = one.Place()
		}
	}
	taxonomy, err := f.subject.Store.Taxonomy().Get(f.ctx)
	if err != nil {
		f.Fatal(err)
	}
	taxonomy = r.filter.View.Of(taxonomy)
	names := map[string]string{}
	for _, one := range taxonomy.Industries {
		names[string(one.ID)] = one.Name
	}
	for _, one := range taxonomy.Verticals {
		names[string(one.ID)] = one.Name + " of " + string(one.Industry)
	}
	if diff := cmp.Diff(want, r.leads) + cmp.Diff(names, r.names); diff != "" {
		f.Fatalf("%+v at %+v: -want +got:\n%s", r.filter, r.at, diff)
	}
	for which := range r.leads {
		if r.sees != nil && !slices.Equal(r.seen[which], r.sees(which)) {
			f.Fatalf("%+v at %+v: %s came with the campaigns %v, and has %v", r.filter, r.at, which, r.seen[which], r.sees(which))
		}
	}
}

// reader is a new reader of a copy that has the campaigns of leads that its filter shows.
func (f *fixture) reader(filter lead.Filter) *feedReader {
	r := newFeedReader(filter)
	r.sees = func(which id.Lead) (seen []id.Campaign) {
		for _, one := range f.now() {
			if one.ID != which {
				continue
			}
			for _, campaign := range one.Campaigns {
				if shown := filter.View.Industries; len(shown) == 0 || slices.Contains(shown, f.record.industries[campaign]) {
					seen = append(seen, campaign)
				}
			}
		}
		return seen
	}
	return r
}

// move gives a campaign another industry, or the same.
func (f *fixture) move(which id.Campaign, to id.Industry) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx, at time.Time) ([]lead.Stored, error) {
		moved := lead.Campaign{ID: which, Name: "Campaign", Status: lead.StatusDraft, Industry: to, CreatedAt: at, UpdatedAt: at}
		return nil, tx.Campaigns().Keep(ctx, []lead.Campaign{moved})
	})
	f.record.industries[which] = to
}

// copies lets readers keep copies through random histories: of nothing, or of what a reader before them had.
func copies(f *fixture) {
	rapid.Check(f.t, func(t *rapid.T) {
		own := *f
		own.reporter = t
		own.removeAll()
		var readers []*feedReader
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			if len(readers) < 4 && rapid.Bool().Draw(t, "begins") {
				filter := drawFilter(t, own.now())
				filter.Since = time.Time{} // the feed has instants of its own
				if rapid.Bool().Draw(t, "shows much") {
					filter = lead.Filter{View: lead.View{Industries: drawSome(t, "shown industries", industries)}}
				}
				readers = append(readers, own.reader(filter))
			}
			own.drawChange(t)
			for _, one := range readers {
				size := rapid.SampledFrom([]int{1, 2, 7, 1000}).Draw(t, "size")
				switch rapid.IntRange(0, 3).Draw(t, "reads") {
				case 0: // later
				case 1: // a page
					page, err := own.subject.Store.Leads().Feed(own.ctx, lead.FeedQuery{Filter: one.filter, After: one.at, Size: size})
					if err == nil {
						err = one.apply(page, size)
					}
					if err != nil {
						own.Fatal(err)
					}
				default:
					own.checkCopy(one, size)
				}
			}
		}
		for _, one := range readers {
			own.checkCopy(one, 3)
			before := one.at
			own.checkCopy(one, 3)
			if one.at != before {
				own.Fatalf("nothing came, and the position moved from %+v to %+v", before, one.at)
			}
			late := own.reader(one.filter)
			own.checkCopy(late, 5)
		}
		f.seen = own.seen
	})
}

// feedSince lets readers go on with a copy since an instant.
func feedSince(f *fixture) {
	first := newFeedReader(lead.Filter{Enrichments: []lead.Enrichment{lead.Deep}})
	f.keep(numbered(9, func(l *lead.Lead) { l.Enrichment = lead.Deep })...)
	f.checkCopy(first, 4)
	f.keep(newLead("100003"))
	f.remove("cmp_100004")
	f.rename("ind_food", "Since")
	for _, since := range []time.Time{{}, f.now()[0].UpdatedAt.Add(time.Nanosecond), f.now()[0].UpdatedAt} {
		next := newFeedReader(first.filter)
		next.leads, next.names = maps.Clone(first.leads), maps.Clone(first.names)
		var err error
		if next.at, err = f.subject.Store.Leads().FeedSince(f.ctx, since); err != nil {
			f.Fatal(err)
		}
		f.checkCopy(next, 2)
	}
}

// feedBeside lets readers follow the feed while several units change leads at once. None may be passed over.
func feedBeside(f *fixture) {
	const most, writers, units = 120, 3, 15
	f.keep(numbered(most)...)
	var writing, reading sync.WaitGroup
	done, failed := make(chan struct{}), make(chan error, 2*writers)
	for writer := range writers {
		writing.Go(func() {
			for unit := range units {
				batch := numbered(most)[unit%7:]
				var some []lead.Lead
				for i := writer; i < len(batch); i += 2 + (writer+unit)%5 {
					batch[i].Enrichment = lead.Enrichments()[(writer+unit)%4]
					some = append(some, batch[i])
				}
				if err := f.write(some, unit%4 == 3); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	readers := []*feedReader{newFeedReader(lead.Filter{}), newFeedReader(lead.Filter{Enrichments: []lead.Enrichment{lead.Deep}})}
	for _, reader := range readers {
		reading.Go(func() {
			for {
				if err := reader.read(f.ctx, f.subject.Store.Leads(), 9); err != nil {
					failed <- err
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	select {
	case err := <-failed:
		f.Fatal(err)
	default:
	}
	for _, reader := range readers {
		if err := reader.read(f.ctx, f.subject.Store.Leads(), 9); err != nil {
			f.Fatal(err)
		}
		page, err := f.subject.Store.Leads().Search(f.ctx, lead.Query{Filter: reader.filter, Size: 2 * most})
		if err != nil {
			f.Fatal(err)
		}
		want := map[id.Lead]lead.Place{}
		for _, one := range page.Leads {
			want[one.Place.ID] = one.Place
		}
		if diff := cmp.Diff(want, reader.leads); diff != "" {
			f.Fatalf("-want +got:\n%s", diff)
		}
	}
}

// write keeps leads, or removes them, beside other units: what the store contains then is not recorded.
func (f *fixture) write(leads []lead.Lead, removes bool) error {
	batch, ids := make([]lead.Incoming, len(leads)), make([]id.Lead, len(leads))
	for i, one := range leads {
		batch[i], ids[i] = one.Incoming(), one.ID
	}
	return f.subject.Store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		if removes {
			_, err := tx.Leads().Remove(ctx, ids[:len(ids)/2], at)
			return err
		}
		stored, err := tx.Leads().Summaries(ctx, ids)
		if err != nil {
			return err
		}
		return tx.Leads().Keep(ctx, lead.Merge(batch, stored, at).Changed)
	})
}

// rename gives an industry a name, and takes it out of use.
func (f *fixture) rename(which id.Industry, name string) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx, _ time.Time) ([]lead.Stored, error) {
		taxonomy, err := tx.Taxonomy().Get(ctx)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(taxonomy.Industries, func(one lead.Industry) bool { return one.ID == which })
		taxonomy.Industries[at].Name, taxonomy.Industries[at].Active = name, false
		taxonomy.Verticals[0].Slug = name
		return nil, tx.Taxonomy().Keep(ctx, taxonomy)
	})
}
