// Package searchtest is the conformance suite of store.LeadSearch: every store and every index passes all of it.
//
// Start at Run. Each rule is a sentence about a search, and a function that tests it; lead.Filter.Match and
// lead.Place.Compare decide what a search should find. fixture.go stores leads and compares pages, histories.go draws both
// at random.
package searchtest

import (
	"testing"

	"holdco/ports/store"
)

// Subject is a search, and the fresh store that it searches.
type Subject struct {
	store.LeadSearch
	Store   store.Store
	CatchUp func() error // returns when the search knows all that is committed; nil: it always does
}

// Run tests a search against its contract. Open returns a new subject.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, check := range map[string]func(f *fixture){
		"an empty store has empty pages":                              emptyStore,
		"each filter wants what it says":                              filters,
		"what no lead has is found nowhere":                           unknownValues,
		"an instant is part of what follows it":                       sinceIsInclusive,
		"an instant is not part of what comes before it":              beforeIsExclusive,
		"leads are found by what others know of them":                 lookups,
		"leads of one instant stand by the bytes of their ids":        ties,
		"pages of any size add up to the whole":                       pages,
		"pages end before they are too large":                         largePages,
		"a page begins after a place, whether a lead is there or not": places,
		"what is passed over may be more than there is":               skipping,
		"a lead that changes moves to the end":                        changing,
		"paging on misses nothing while leads change":                 pagingWhileLeadsChange,
		"leads with their own timestamps stand where these say":       ownTimestamps,
		"a removed lead is gone, and may come back":                   removal,
		"a change of campaigns alone is a revision too":               otherChanges,
		"random histories are found as they are":                      histories,
		"each page belongs to one revision":                           oneRevision,
		"the feed keeps copies of what filters match exact":           copies,
		"the feed goes on since an instant":                           feedSince,
		"the feed passes nothing over beside units that run":          feedBeside,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(newFixture(t, open(t)))
		})
	}
}
