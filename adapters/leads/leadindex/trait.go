package leadindex

import (
	"iter"
	"maps"

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

// question is a filter without its instant, so that all who ask it share the answer.
type question struct {
	traits [5]trait    // living where the filter asks for nothing
	rating lead.Rating // at least this; Unrated: however rated
}

// ask makes a question of a filter.
func ask(f lead.Filter) question {
	q := question{rating: lead.Unrated}
	if f.Campaign != "" {
		q.traits[0] = trait{ofCampaign, string(f.Campaign)}
	}
	if f.Industry != "" {
		q.traits[1] = trait{ofIndustry, string(f.Industry)}
	}
	if f.Vertical != "" {
		q.traits[2] = trait{ofVertical, string(f.Vertical)}
	}
	if f.Enrichment != "" {
		q.traits[3] = trait{enriched, string(f.Enrichment)}
	}
	if f.HasWebsite != nil {
		q.traits[4] = trait{kind: website(*f.HasWebsite)}
	}
	if f.MinRating != nil {
		q.rating = *f.MinRating
	}
	return q
}
