package leadindex_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// plenty is a store of very many leads that costs next to nothing: they are made up when somebody asks. They were kept in
// batches, and so they change.
type plenty struct {
	store.Store
	store.LeadReader

	keyStep   int64       // how far keys are apart
	revisions []int32     // by lead: when it was kept last
	batches   [][]int     // by revision: what was kept then; the first is never
	instants  []time.Time // by revision: the UpdatedAt of these
}

const batch = 2000 // leads that are kept at once

// newPlenty makes a store of n leads.
func newPlenty(n int) *plenty {
	p := &plenty{keyStep: 1, revisions: make([]int32, 0, n), batches: [][]int{nil}, instants: []time.Time{{}}}
	for len(p.revisions) < n {
		p.add(min(batch, n-len(p.revisions)))
	}
	return p
}

// add keeps n new leads.
func (p *plenty) add(n int) {
	all := make([]int, n)
	for i := range all {
		all[i] = len(p.revisions)
		p.revisions = append(p.revisions, 0)
	}
	p.keep(all, instantOf(len(p.batches)))
}

// change keeps n leads anew that were there.
func (p *plenty) change(n int) { p.changeAt(n, instantOf(len(p.batches))) }

// changeAt changes n leads, which bring their own timestamp.
func (p *plenty) changeAt(n int, at time.Time) {
	drawn := map[int]bool{}
	for len(drawn) < n {
		drawn[rand.IntN(len(p.revisions))] = true
	}
	all := make([]int, 0, n)
	for one := range drawn {
		all = append(all, one)
	}
	slices.Sort(all)
	p.keep(all, at)
}

func (p *plenty) keep(leads []int, at time.Time) {
	for _, one := range leads {
		p.revisions[one] = int32(len(p.batches))
	}
	p.batches, p.instants = append(p.batches, leads), append(p.instants, at)
}

func (p *plenty) Leads() store.LeadReader { return p }

func (p *plenty) View(ctx context.Context, read func(context.Context, store.Reader) error) error {
	return read(ctx, p)
}

func (p *plenty) State(context.Context) (lead.State, error) {
	revision := len(p.batches) - 1
	return lead.State{Revision: lead.Revision(revision), ChangedAt: instantOf(revision)}, nil
}

func (p *plenty) Last(context.Context) (lead.Place, error) {
	if len(p.revisions) == 0 {
		return lead.Place{}, nil
	}
	last := p.batches[len(p.batches)-1]
	return p.placeOf(last[len(last)-1]), nil
}

// Marks is for leads that bring no timestamps of their own.
func (p *plenty) Marks(_ context.Context, after, upTo lead.Place, size int) (marks []store.LeadMark, _ error) {
	for one := range p.last(max(1, int(after.UpdatedAt.Sub(instantOf(0))/time.Second))) {
		if place := p.placeOf(one); place.Compare(after) > 0 && place.Compare(upTo) <= 0 {
			if marks = append(marks, p.mark(one)); len(marks) == size {
				break
			}
		}
	}
	return marks, nil
}

func (p *plenty) Changes(_ context.Context, after store.ChangeCursor, size int) (changes []store.LeadChange, _ error) {
	for one := range p.last(int(after.Revision)) {
		revision, key := lead.Revision(p.revisions[one]), p.key(one)
		if revision > after.Revision || key > after.Key {
			if changes = append(changes, store.LeadChange{Revision: revision, LeadMark: p.mark(one)}); len(changes) == size {
				break
			}
		}
	}
	return changes, nil
}

// last are the leads that changed last at a revision or later, in this order.
func (p *plenty) last(from int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for revision := from; revision < len(p.batches); revision++ {
			for _, one := range p.batches[revision] {
				if int(p.revisions[one]) == revision && !yield(one) {
					return
				}
			}
		}
	}
}

func (p *plenty) key(number int) int64 { return int64(number+1) * p.keyStep }

func (p *plenty) Keyed(_ context.Context, keys []int64) ([]store.KeyedLead, error) {
	found := make([]store.KeyedLead, len(keys))
	for i, key := range keys {
		one := int(key/p.keyStep) - 1
		found[i] = store.KeyedLead{Key: key, Revision: lead.Revision(p.revisions[one]), Exported: lead.Exported{Place: p.placeOf(one)}}
	}
	return found, nil
}

func (p *plenty) placeOf(number int) lead.Place {
	return lead.Place{UpdatedAt: p.instants[p.revisions[number]], ID: id.Lead("cmp_018f0000000000000" + strconv.Itoa(100_000_000+number))}
}

func instantOf(revision int) time.Time { return time.Unix(1_700_000_000+int64(revision), 0).UTC() }

// ids returns those of the leads that a filter by industry and rating wants, in the order of the export.
func (p *plenty) ids(industry id.Industry, rating lead.Rating) []id.Lead {
	var places []lead.Place
	for number := range p.revisions {
		if made := p.mark(number); made.Industry == industry && made.Rating >= rating {
			places = append(places, made.Place)
		}
	}
	slices.SortFunc(places, lead.Place.Compare)
	ids := make([]id.Lead, len(places))
	for i, one := range places {
		ids[i] = one.ID
	}
	return ids
}

// mark makes up a lead.
func (p *plenty) mark(number int) store.LeadMark {
	chance := rand.New(rand.NewPCG(uint64(number), uint64(p.revisions[number])))
	vertical := chance.IntN(len(names.verticals))
	return store.LeadMark{
		Key:        p.key(number),
		Place:      p.placeOf(number),
		Campaigns:  []id.Campaign{names.campaigns[chance.IntN(500)], names.campaigns[500+chance.IntN(500)]},
		Industry:   names.industries[vertical%len(names.industries)],
		Vertical:   names.verticals[vertical],
		HasWebsite: chance.IntN(5) > 0,
		Rating:     lead.Rating(chance.IntN(int(lead.MostRating)+2) - 1),
		Enrichment: lead.Enrichments()[chance.IntN(4)],
		CreatedAt:  p.placeOf(number).UpdatedAt.Add(-time.Duration(chance.IntN(1000)) * time.Second),
		Domain:     lead.HashOf(strconv.Itoa(number) + ".example"),
		Email:      lead.HashOf("info@" + strconv.Itoa(number) + ".example"),
	}
}

var names = struct {
	campaigns  []id.Campaign
	industries []id.Industry
	verticals  []id.Vertical
}{numbered[id.Campaign](1000), numbered[id.Industry](20), numbered[id.Vertical](200)}

func numbered[I id.ID](n int) []I {
	all := make([]I, n)
	for i := range all {
		all[i] = I(id.Prefix[I]() + strconv.Itoa(i))
	}
	return all
}
