package lead

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// Incoming is a lead to be stored, with its digest, so that the digest is not computed in the transaction. It has
// timestamps of its own, or none. See Complete.
type Incoming struct {
	Lead
	Absent  Fields         // keep what is stored
	Dropped fault.Problems // why values were left out

	digest  Digest
	formers []id.Lead // the other ids by former rules, if the lead came without one
	key     Key       // by which its id was derived, then
	raw     *rawKeys  // if its name or e-mail was not sent as it is kept
	page    string    // see website.page; it is not kept

	rawContacts map[int]Contact // what ids of contacts are derived from, where that is not kept
}

// Digest is a hash of the content of a lead: everything but its timestamps. Stores keep it, so what is hashed, and in
// which order, must not change. A field that is added to Lead later is hashed only when it is set.
type Digest string

// Incoming makes a lead that replaces what is stored, with its digest.
func (l Lead) Incoming() Incoming { return Incoming{Lead: l, digest: l.Digest()} }

// Digested computes the digest of a lead that Draft.Read made.
func (i Incoming) Digested() Incoming {
	i.digest = i.Digest()
	return i
}

// Content tells what two lines say apart.
type Content struct {
	Digest Digest
	Absent Fields
}

// Content is what the lead says.
func (i Incoming) Content() Content { return Content{i.digest, i.Absent} }

// Digest computes the digest of the lead.
func (l Lead) Digest() Digest {
	const typical = 1024 // bytes
	content := make([]byte, 0, typical)
	add := func(texts ...string) {
		for _, text := range texts { // with its length, so that texts cannot run together
			content = append(binary.AppendUvarint(content, uint64(len(text))), text...)
		}
	}
	add(string(l.ID), l.Name, l.Phone, l.Email, l.Website, string(l.Enrichment))
	add(l.Social.Instagram, l.Social.Facebook, l.Social.LinkedIn, l.Social.Twitter, l.Social.TikTok)
	add(string(l.Industry), string(l.Vertical))
	content = binary.AppendVarint(content, int64(l.Rating))
	content = binary.AppendUvarint(content, uint64(len(l.Contacts)))
	for _, contact := range l.Contacts {
		add(string(contact.ID), contact.Name, contact.Title, contact.Email)
		content = strconv.AppendBool(content, contact.Primary)
	}
	content = binary.AppendUvarint(content, uint64(len(l.Campaigns)))
	for _, campaign := range l.Campaigns {
		add(string(campaign))
	}
	const length = 16 // bytes
	sum := sha256.Sum256(content)
	return Digest(base64.RawStdEncoding.EncodeToString(sum[:length]))
}

// Summary is what an import needs to know of a stored lead. Of a removed lead only UpdatedAt is set, to that of its
// last place: if the lead comes back, a stream that ended after it continues from there.
type Summary struct {
	ID        id.Lead
	Digest    Digest
	Campaigns []id.Campaign
	CreatedAt time.Time
	UpdatedAt time.Time
	MovedFrom time.Time // see Stored
}

// Stored is a lead with what only stores hold of it.
type Stored struct {
	Lead
	Digest Digest

	// MovedFrom is the UpdatedAt of the lead before it changed. If it changed several times, less than ResumeWindow
	// apart, it is the earliest one. Zero: it never changed.
	MovedFrom time.Time
}

// ResumeWindow is how long after a lead was read an interrupted stream can resume after it without missing any, however
// often that lead has changed meanwhile. Imports with timestamps of their own are excepted: they may insert leads where
// a stream has been already.
const ResumeWindow = time.Hour

// ResumeFrom returns the place from which a stream that ended after this lead continues. If the lead has changed since,
// it has moved to the end: then its old place is returned, so that some leads come twice and none is missing.
func (e Exported) ResumeFrom(now time.Time) Place {
	return Place{earliest(e.MovedFrom, e.Place.UpdatedAt, now), e.Place.ID}
}

// earliest returns the first UpdatedAt of a lead within the ResumeWindow before now.
func earliest(movedFrom, updated, now time.Time) time.Time {
	if !movedFrom.IsZero() && movedFrom.Before(updated) && now.Sub(updated) < ResumeWindow {
		return movedFrom
	}
	return updated
}

// Merged is the result of merging a batch.
type Merged struct {
	Change
	Changed []Stored              // to be inserted or replaced, in the order of the export
	Members map[id.Campaign]int64 // by how much the lead counts of campaigns change

	InsertedIDs, UpdatedIDs []id.Lead
}

// Merge compares the leads of a batch with the stored ones. Of several leads with the same id the last one counts, and
// the others are unchanged. New and changed leads keep the timestamps that they have, or else are changed at the given
// instant, which must be later than every stored UpdatedAt.
func Merge(batch []Incoming, stored map[id.Lead]Summary, at time.Time) Merged {
	merged := Merged{Changed: make([]Stored, 0, len(batch)), Members: map[id.Campaign]int64{}}
	last, order := make(map[id.Lead]int, len(batch)), make([]int, len(batch))
	for i := range batch {
		last[batch[i].ID], order[i] = i, i
	}
	slices.SortFunc(order, func(a, b int) int { return batch[a].place(at).Compare(batch[b].place(at)) })
	for _, i := range order {
		one, before := &batch[i], stored[batch[i].ID]
		exists := before.ID != ""
		if last[one.ID] != i || exists && one.same(before) {
			merged.Unchanged++
			continue
		}
		merged.Changed = append(merged.Changed, one.over(before, at))
		merged.count(before.Campaigns, -1)
		merged.count(one.Campaigns, +1)
		if exists {
			merged.Updated++
			merged.UpdatedIDs = append(merged.UpdatedIDs, one.ID)
		} else {
			merged.Inserted++
			merged.InsertedIDs = append(merged.InsertedIDs, one.ID)
		}
	}
	return merged
}

func (m *Merged) count(campaigns []id.Campaign, by int64) {
	for _, campaign := range campaigns {
		if m.Members[campaign] += by; m.Members[campaign] == 0 {
			delete(m.Members, campaign)
		}
	}
}

// place returns where the lead will stand when it is stored at the given instant.
func (i *Incoming) place(at time.Time) Place {
	if i.UpdatedAt.IsZero() {
		return Place{at, i.ID}
	}
	return i.Place()
}

// same reports whether storing the lead would change nothing.
func (i *Incoming) same(before Summary) bool {
	return i.digest == before.Digest &&
		(i.UpdatedAt.IsZero() || i.UpdatedAt.Equal(before.UpdatedAt) && i.CreatedAt.Equal(before.CreatedAt))
}

// over returns the lead that replaces the stored one.
func (i *Incoming) over(before Summary, at time.Time) Stored {
	kept := Stored{Lead: i.Lead, Digest: i.digest, MovedFrom: earliest(before.MovedFrom, before.UpdatedAt, at)}
	if i.UpdatedAt.IsZero() {
		kept.CreatedAt, kept.UpdatedAt = before.CreatedAt, at
		if before.ID == "" {
			kept.CreatedAt = at
		}
	}
	return kept
}

// State is the version of the leads, campaigns and taxonomy in a store.
type State struct {
	Revision   Revision  // grows by one with every change
	Taxonomy   Revision  // of the last change of the taxonomy
	Suppressed Revision  // of the last change of suppressions
	ChangedAt  time.Time // of the last change: later than the change before it, and than every UpdatedAt before it

	// The store was restored: changes after the first and before the second instant are gone. LostUntil is zero if it never was.
	LostAfter, LostUntil time.Time

	// Pruned is the place of the last change that retention has removed from the store: the removal of a lead that was kept for long
	// enough.
	Pruned FeedPlace
}

// IsOther reports whether the store was replaced by an older one since it had another state.
func (s State) IsOther(before State) bool {
	return s.Revision < before.Revision || s.Revision == before.Revision && !s.ChangedAt.Equal(before.ChangedAt)
}

// HasLost reports whether a position with an instant is of a change that is gone since the store was restored: who went on from there
// would keep what the store does not have any more.
func (s State) HasLost(at time.Time) bool { return at.After(s.LostAfter) && at.Before(s.LostUntil) }

// Revision counts the changes of leads, campaigns and the taxonomy. 0 is an empty store.
type Revision int64

// Next returns the instant for a change made now: now, or a millisecond after the last change if that is later.
func (s State) Next(now time.Time) time.Time {
	if earliest := s.ChangedAt.Add(time.Millisecond); now.Before(earliest) {
		return earliest
	}
	return now
}
