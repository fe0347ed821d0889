package lead

import (
	"cmp"
	"slices"
	"time"

	"holdco/domain/id"
)

// Sample is a small set of leads that never changes, with all that surrounds them. It answers as a store does, one lead after the other.
type Sample struct {
	Taxonomy Taxonomy

	campaigns []Campaign // in the order of their places, with their lead counts
	leads     []Sampled  // in the order of their places
	removed   []Sampled  // in the order of their removals
	state     State
}

// Sampled is a lead of a sample.
type Sampled struct {
	Lead      Lead
	Document  Document
	RemovedAt time.Time // zero: it is there
}

// The revisions of a sample: first there was the taxonomy, then its leads came, then some of these were removed.
const (
	sampleNamed Revision = iota + 1
	sampleFilled
	sampleRemoved
)

// NewSample makes a sample. Leads that were removed are so after the last change of the others.
func NewSample(t Taxonomy, campaigns []Campaign, all []Sampled) *Sample {
	s := &Sample{Taxonomy: t, campaigns: slices.Clone(campaigns), state: State{Revision: sampleRemoved, Taxonomy: sampleNamed}}
	counts := map[id.Campaign]int64{}
	for _, one := range all {
		if !one.RemovedAt.IsZero() {
			s.removed = append(s.removed, one)
			continue
		}
		s.leads = append(s.leads, one)
		for _, campaign := range one.Lead.Campaigns {
			counts[campaign]++
		}
	}
	for i := range s.campaigns {
		s.campaigns[i].LeadCount = counts[s.campaigns[i].ID]
		s.changed(s.campaigns[i].UpdatedAt)
	}
	for _, one := range all {
		s.changed(one.instant())
	}
	slices.SortFunc(s.campaigns, func(a, b Campaign) int { return a.Place().Compare(b.Place()) })
	slices.SortFunc(s.leads, func(a, b Sampled) int { return a.Lead.Place().Compare(b.Lead.Place()) })
	slices.SortFunc(s.removed, func(a, b Sampled) int { return a.removal().Compare(b.removal()) })
	return s
}

func (s *Sample) changed(at time.Time) {
	if at.After(s.state.ChangedAt) {
		s.state.ChangedAt = at
	}
}

// instant is that of the last change of the lead.
func (l Sampled) instant() time.Time {
	if l.RemovedAt.IsZero() {
		return l.Lead.UpdatedAt
	}
	return l.RemovedAt
}

// removal is where the lead stands among those that were removed.
func (l Sampled) removal() Place { return Place{l.RemovedAt, l.Lead.ID} }

func (l Sampled) exported() Exported {
	return Exported{Place: l.Lead.Place(), Industry: l.Lead.Industry, Vertical: l.Lead.Vertical, Document: l.Document}
}

// State is the only one that there is.
func (s *Sample) State() State { return s.state }

// Get returns a lead, if it is there.
func (s *Sample) Get(which id.Lead) (one Exported, found bool) {
	at := slices.IndexFunc(s.leads, func(l Sampled) bool { return l.Lead.ID == which })
	if at < 0 {
		return Exported{}, false
	}
	return s.leads[at].exported(), true
}

// Search returns a page of the leads that a filter matches, however large they are: they are in memory anyway.
func (s *Sample) Search(query Query) Page {
	matched := kept(s.leads, func(l Sampled) bool { return query.Filter.Match(l.Lead) })
	after := kept(matched, func(l Sampled) bool { return l.Lead.Place().Compare(query.After) > 0 })
	page := Page{State: s.state}
	if !query.Uncounted {
		page.Total = int64(len(matched))
	}
	if query.Size == 0 {
		return page
	}
	after, page.More = cut(after, query.Skip, query.Size)
	for _, one := range after {
		page.Leads = append(page.Leads, one.exported())
	}
	return page
}

// Removed returns a page of the leads that were removed.
func (s *Sample) Removed(query RemovedQuery) RemovedPage {
	shown := kept(s.removed, func(l Sampled) bool {
		return !l.RemovedAt.Before(query.Since) && query.View.Shows(l.Lead.Industry, l.Lead.Campaigns)
	})
	page := RemovedPage{State: s.state, Total: int64(len(shown))}
	shown = kept(shown, func(l Sampled) bool { return l.removal().Compare(query.After) > 0 })
	shown, page.More = cut(shown, query.Skip, query.Size)
	for _, one := range shown {
		page.Leads = append(page.Leads, RemovedLead{one.Lead.ID, one.RemovedAt})
	}
	return page
}

// RemovedPlace returns the place that a lead had before it was removed, if a view showed it.
func (s *Sample) RemovedPlace(view View, which id.Lead) (place Place, found bool) {
	at := slices.IndexFunc(s.removed, func(l Sampled) bool { return l.Lead.ID == which })
	if at < 0 || !view.Shows(s.removed[at].Lead.Industry, s.removed[at].Lead.Campaigns) {
		return Place{}, false
	}
	return s.removed[at].Lead.Place(), true
}

// Campaigns returns a page of campaigns.
func (s *Sample) Campaigns(query CampaignQuery) CampaignPage { return query.Page(s.state, s.campaigns) }

// Unknown returns the ids in a view that are not in the sample.
func (s *Sample) Unknown(v View) []string { return v.Unknown(s.Taxonomy, s.campaigns) }

// Industries are those of the campaigns that have one.
func (s *Sample) Industries() map[id.Campaign]id.Industry {
	of := map[id.Campaign]id.Industry{}
	for _, one := range s.campaigns {
		if one.Industry != "" {
			of[one.ID] = one.Industry
		}
	}
	return of
}

// Page returns the page of all campaigns there are, which are in the order of their places.
func (q CampaignQuery) Page(state State, all []Campaign) CampaignPage {
	matched := kept(all, q.Filter.Match)
	page := CampaignPage{State: state, Total: int64(len(matched))}
	after := kept(matched, func(c Campaign) bool { return c.Place().Compare(q.After) > 0 })
	page.Campaigns, page.More = cut(after, q.Skip, q.Size)
	return page
}

// Feed returns a page of the feed.
func (s *Sample) Feed(query FeedQuery) FeedPage {
	if query.After == (FeedPosition{}) {
		query.After = s.state.FromNothing()
	}
	page := FeedPage{State: s.state, Next: query.After}
	told := append(s.namesFor(query.Filter.View), s.changesFor(query)...)
	told = kept(told, func(c FeedChange) bool { return c.Place.Compare(query.After.Place) > 0 })
	if page.Changes, page.More = cut(told, 0, query.Size); page.More {
		page.Next.Place = page.Changes[query.Size-1].Place
		return page
	}
	if end := s.place(len(s.leads) + len(s.removed)); page.Next.Place.Compare(end) < 0 {
		page.Next.Place = end
	}
	return page
}

// place is where the change of the lead with a number, from 1 on, stands in the feed: first come those that are there.
func (s *Sample) place(number int) FeedPlace {
	if number > len(s.leads) {
		return FeedPlace{Revision: sampleRemoved, Key: int64(number)}
	}
	return FeedPlace{Revision: sampleFilled, Key: int64(number)}
}

// namesFor are the changes of names that a view shows.
func (s *Sample) namesFor(view View) (changes []FeedChange) {
	named := func(which string) FeedChange {
		return FeedChange{Place: FeedPlace{Revision: sampleNamed, ID: which}, Kind: TaxonomyChanged}
	}
	shown := view.Of(s.Taxonomy)
	for _, industry := range shown.Industries {
		change := named(string(industry.ID))
		change.Industry = &industry
		changes = append(changes, change)
	}
	for _, vertical := range shown.Verticals {
		change := named(string(vertical.ID))
		change.Vertical = &vertical
		changes = append(changes, change)
	}
	slices.SortFunc(changes, func(a, b FeedChange) int { return cmp.Compare(a.Place.ID, b.Place.ID) })
	return changes
}

// changesFor are the changes of leads that a reader is told of who has got to a position.
func (s *Sample) changesFor(query FeedQuery) (changes []FeedChange) {
	for i, one := range s.leads {
		change := FeedChange{Place: s.place(i + 1), Kind: Left, Lead: one.Lead.ID}
		if query.Filter.Match(one.Lead) {
			change.Kind, change.Exported = Upserted, one.exported()
		}
		changes = append(changes, change)
	}
	for i, one := range s.removed {
		change := FeedChange{Place: s.place(len(s.leads) + i + 1), Kind: Left, Lead: one.Lead.ID}
		if query.Filter.View.Shows(one.Lead.Industry, one.Lead.Campaigns) {
			change.Kind, change.At = Gone, one.RemovedAt
		}
		changes = append(changes, change)
	}
	return kept(changes, func(c FeedChange) bool { return c.Kind == Upserted || c.Place.Revision > query.After.Fresh })
}

// FeedSince returns a position from which the feed has all changes at or after an instant.
func (s *Sample) FeedSince(since time.Time) FeedPosition {
	before := func(l Sampled) bool { return l.instant().Before(since) }
	number := len(kept(s.leads, before)) + len(kept(s.removed, before))
	from := FeedPosition{}.At(s.state)
	if number > 0 {
		from.Place = s.place(number)
	}
	return from
}

// kept are those of a list for which something holds.
func kept[T any](all []T, holds func(one T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !holds(one) })
}

// cut returns a page of what comes after a place, and whether there is more.
func cut[T any](after []T, skip int64, size int) (page []T, more bool) {
	after = after[min(skip, int64(len(after))):]
	return after[:min(size, len(after))], len(after) > size
}
