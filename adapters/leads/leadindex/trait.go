package leadindex

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"holdco/domain/instant"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// trait is what leads have in common and filters ask for.
type trait struct {
	kind kind
	text string // the id or the depth; empty where the kind says it all
}

type kind uint8

const (
	living kind = iota
	ofCampaign
	ofIndustry
	ofVertical
	enriched
	withWebsite
	withoutWebsite
	rated
	ratingBit // the first of ratingBits: a rating has this binary digit, the next has twice its value

	kinds = ratingBit + ratingBits
)

// ratingBits is how many binary digits a rating has.
const ratingBits = 9

// byTrait holds something for each trait. A map for each kind is quicker than one for all.
type byTrait[V any] [kinds]map[string]V

func (b *byTrait[V]) get(t trait) (V, bool) {
	v, found := b[t.kind][t.text]
	return v, found
}

func (b *byTrait[V]) set(t trait, v V) {
	if b[t.kind] == nil {
		b[t.kind] = map[string]V{}
	}
	b[t.kind][t.text] = v
}

// clone makes a shallow copy.
func (b *byTrait[V]) clone() byTrait[V] {
	var made byTrait[V]
	for kind, of := range b {
		made[kind] = maps.Clone(of)
	}
	return made
}

// all visits all values.
func (b *byTrait[V]) all() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, of := range b {
			for _, v := range of {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// traits appends the traits of a lead.
func traits(to []trait, mark store.LeadMark) []trait {
	to = append(to, trait{kind: living}, trait{enriched, string(mark.Enrichment)}, trait{kind: website(mark.HasWebsite)})
	for _, campaign := range mark.Campaigns {
		to = append(to, trait{ofCampaign, string(campaign)})
	}
	if mark.Industry != "" {
		to = append(to, trait{ofIndustry, string(mark.Industry)})
	}
	if mark.Vertical != "" {
		to = append(to, trait{ofVertical, string(mark.Vertical)})
	}
	if mark.Rating == lead.Unrated {
		return to
	}
	to = append(to, trait{kind: rated})
	for bit := range kind(ratingBits) {
		if mark.Rating>>bit&1 == 1 {
			to = append(to, trait{kind: ratingBit + bit})
		}
	}
	return to
}

func website(has bool) kind {
	if has {
		return withWebsite
	}
	return withoutWebsite
}

// question is a filter without what the order of positions answers, so that all who ask it share the answer.
type question struct {
	any        [][]trait   // of each list a lead has one trait at least
	least      lead.Rating // at least this; Unrated: however rated
	most       lead.Rating // at most this; Unrated: however rated
	bornBefore int64       // created before this, in milliseconds since 1970; always: whenever
	domain     lead.Hash   // 0: any or none
	emails     []lead.Hash // one of these; none: any or none
	asked      asked       // of all of the above, what answers are remembered by; zero: every lead is an answer
}

const always = math.MaxInt64

// ask makes a question of a filter.
func ask(f lead.Filter) question {
	q := question{least: lead.Unrated, most: lead.Unrated, bornBefore: always}
	for _, list := range [][]trait{
		traitsOf(ofCampaign, f.Campaigns), traitsOf(ofIndustry, f.Industries), traitsOf(ofVertical, f.Verticals),
		traitsOf(enriched, f.Enrichments), traitsOf(ofCampaign, f.View.Campaigns), traitsOf(ofIndustry, f.View.Industries),
	} {
		if len(list) > 0 {
			q.any = append(q.any, list)
		}
	}
	if f.HasWebsite != nil {
		q.any = append(q.any, []trait{{kind: website(*f.HasWebsite)}})
	}
	if f.MinRating != nil {
		q.least = max(*f.MinRating, 0)
	}
	if f.MaxRating != nil {
		q.most = min(*f.MaxRating, lead.MostRating)
	}
	if !f.CreatedBefore.IsZero() {
		q.bornBefore = instant.MillisFrom(f.CreatedBefore)
	}
	q.domain, q.emails = lead.HashOf(f.Domain), lead.EmailHashes(f.Email)
	if len(q.any) > 0 || q.domain != 0 || len(q.emails) > 0 || q.least != lead.Unrated || q.most != lead.Unrated || q.bornBefore != always {
		q.asked = sha256.Sum256(fmt.Appendf(nil, "%q %d %d %d %d %d", q.any, q.least, q.most, q.bornBefore, q.domain, q.emails))
	}
	return q
}

// asksNothing reports whether every lead is an answer.
func (q question) asksNothing() bool { return q.asked == (asked{}) }

// traitsOf returns the traits of which a list asks for one, each once.
func traitsOf[T ~string](of kind, list []T) []trait {
	var traits []trait
	for _, text := range slices.Compact(slices.Sorted(slices.Values(list))) {
		traits = append(traits, trait{of, string(text)})
	}
	return traits
}
