package lead

import (
	"cmp"
	"time"

	"holdco/domain/id"
)

// The feed is what happened to leads and to the names that they are shown with, in the order in which it happened. Each of them stands in
// it once, at its last change. Whoever applies one change after the other has a copy of what a filter matches. A view of industries shows
// campaigns of these alone, so for it a lead stands in the feed, too, where a campaign of the lead moved to another industry.

// FeedPlace is where a change stands in the feed: by revision, and within one revision first the names, by their ids, then the leads, by
// the keys that the store gave them. The zero value is before all changes.
type FeedPlace struct {
	Revision Revision
	Key      int64  // of a lead; 0 for a name
	ID       string // of the industry or vertical that has the name; empty for a lead
}

// Compare compares two places as cmp.Compare does.
func (p FeedPlace) Compare(other FeedPlace) int {
	return cmp.Or(cmp.Compare(p.Revision, other.Revision), cmp.Compare(p.Key, other.Key), cmp.Compare(p.ID, other.ID))
}

// FeedPosition is how far a reader has got. The zero value is that of a reader who begins with nothing.
type FeedPosition struct {
	Place FeedPlace

	// Fresh is the revision at which the reader began with nothing. What was gone by then, or did not match, the reader never had and
	// need not be told of. 0: the reader began with a copy.
	Fresh Revision

	// Seen and SeenAt are State.Revision and State.ChangedAt of the state from which the reader was told last. Positions of former
	// versions have no Seen; it is 0.
	Seen   Revision
	SeenAt time.Time
}

// FromNothing is the position of a reader who begins with nothing, at this state.
func (s State) FromNothing() FeedPosition { return FeedPosition{Fresh: s.Revision}.At(s) }

// At is the position as one of a reader who was told of it from a state.
func (p FeedPosition) At(s State) FeedPosition {
	p.Seen, p.SeenAt = s.Revision, s.ChangedAt
	return p
}

// CanFollow reports whether the feed of a state goes on from the position. It does not if what the reader was told is lost since an older
// state was put in the place of the store, or if removals that the reader was not told of are pruned. Then is the instant of the
// change that made the revision which the reader has seen, as far as the store knows it; zero: it does not.
func (s State) CanFollow(p FeedPosition, then time.Time) bool {
	if p.Seen == s.Revision {
		then = s.ChangedAt
	}
	isOther := p.Seen > s.Revision || p.Seen > 0 && !then.IsZero() && !then.Equal(p.SeenAt)
	return !isOther && !s.HasLost(p.SeenAt) && (s.Pruned.Revision <= p.Fresh || s.Pruned.Compare(p.Place) <= 0)
}

// FeedChangeKind is what happened.
type FeedChangeKind string

// What can have happened.
const (
	Upserted        FeedChangeKind = "upserted" // a lead that the filter matches was inserted or changed
	Gone            FeedChangeKind = "removed"  // a lead was removed for good
	Left            FeedChangeKind = "left"     // a lead changed or was removed, and the filter does not have it; perhaps it never had
	TaxonomyChanged FeedChangeKind = "taxonomy" // an industry or vertical is new, or has another name or slug
)

// FeedChange is a change in the feed.
type FeedChange struct {
	Place    FeedPlace
	Kind     FeedChangeKind
	Lead     id.Lead
	Exported Exported  // of a lead that was upserted
	At       time.Time // when a lead was removed
	Industry *Industry // of a change of the taxonomy: this or Vertical; whether it is active is not told
	Vertical *Vertical
}

// FeedQuery asks for the changes after a position.
type FeedQuery struct {
	Filter Filter
	After  FeedPosition
	Size   int   // maximum number of changes, 1 or more
	Bytes  int64 // as that of Query
}

// FeedPage is a part of the feed.
type FeedPage struct {
	State   State
	Changes []FeedChange
	Next    FeedPosition // the one asked for, if nothing came after it
	More    bool         // there may be more changes by now; a page with more may have no changes, if many were passed over
}
