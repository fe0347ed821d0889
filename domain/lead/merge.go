package lead

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"holdco/domain/id"
)

// Incoming is a lead on its way into a store, with its digest, so that the unit that keeps it has little to do. It brings
// its own timestamps, or none.
type Incoming struct {
	Lead
	digest Digest
}

// Digest tells whether two leads have the same content: everything but their timestamps. Stores keep it, so what is
// digested, and in which order, must stay as it is. A field that a lead gains later is digested only when it is set.
type Digest string

// Incoming digests the lead.
func (l Lead) Incoming() Incoming {
	const typical = 1024 // bytes
	content := make([]byte, 0, typical)
	add := func(texts ...string) {
		for _, text := range texts { // each with its length, so that no text can be taken for a part of another
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
	return Incoming{Lead: l, digest: Digest(base64.RawStdEncoding.EncodeToString(sum[:length]))}
}

// Standing is what an import has to know of a lead that is kept already. Of a lead that was removed it holds UpdatedAt alone,
// as it was in the place that the lead had before: it is where a stream goes on that broke off behind it, should it come back.
type Standing struct {
	ID        id.Lead
	Digest    Digest
	Campaigns []id.Campaign
	CreatedAt time.Time
	UpdatedAt time.Time
	MovedFrom time.Time // see Kept
}

// Kept is a lead as it is to be kept.
type Kept struct {
	Lead
	Digest Digest

	// MovedFrom is the UpdatedAt that the lead had before it changed; the earliest one, when it changed several times with
	// less than ResumeWindow in between. Zero: it never changed.
	MovedFrom time.Time
}

// ResumeWindow is for how long a broken stream can be taken up behind a lead without missing anything, however often that
// lead has changed meanwhile. Changes that bring timestamps of their own are no part of that promise: they may place any
// lead where a stream has been already.
const ResumeWindow = time.Hour

// ResumeFrom is the place from which a stream goes on that broke off behind this lead. The lead may have changed since,
// and moved to the end: then it is where the lead was before, so that some leads come twice rather than one not at all.
func (e Exported) ResumeFrom(now time.Time) Place {
	return Place{earliest(e.MovedFrom, e.Place.UpdatedAt, now), e.Place.ID}
}

// earliest tells where a lead stood at first within the ResumeWindow before now, as far as it is known.
func earliest(movedFrom, updated, now time.Time) time.Time {
	if !movedFrom.IsZero() && movedFrom.Before(updated) && now.Sub(updated) < ResumeWindow {
		return movedFrom
	}
	return updated
}

// Merged is what an import makes of a batch.
type Merged struct {
	Change
	Changed []Kept                // to be inserted or replaced, in the order of the export
	Members map[id.Campaign]int64 // by how much the lead counts of campaigns change
}

// Merge holds the leads of a batch against those that are kept under their ids. Of several with one id the last one
// counts, and the others change nothing. What is new or really differs gets the timestamps that it brings, or else
// changed at the given instant; that must be later than every UpdatedAt that is kept.
func Merge(batch []Incoming, standing map[id.Lead]Standing, at time.Time) Merged {
	merged := Merged{Members: map[id.Campaign]int64{}}
	last, order := make(map[id.Lead]int, len(batch)), make([]int, len(batch))
	for i := range batch {
		last[batch[i].ID], order[i] = i, i
	}
	slices.SortFunc(order, func(a, b int) int { return batch[a].place(at).Compare(batch[b].place(at)) })
	for _, i := range order {
		one, before := &batch[i], standing[batch[i].ID]
		stands := before.ID != ""
		if last[one.ID] != i || stands && one.same(before) {
			merged.Unchanged++
			continue
		}
		merged.Changed = append(merged.Changed, one.over(before, at))
		merged.count(before.Campaigns, -1)
		merged.count(one.Campaigns, +1)
		if stands {
			merged.Updated++
		} else {
			merged.Inserted++
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

// place is where the lead comes to stand if it is kept at the given instant.
func (i *Incoming) place(at time.Time) Place {
	if i.UpdatedAt.IsZero() {
		return Place{at, i.ID}
	}
	return i.Place()
}

// same reports whether nothing would change.
func (i *Incoming) same(before Standing) bool {
	return i.digest == before.Digest &&
		(i.UpdatedAt.IsZero() || i.UpdatedAt.Equal(before.UpdatedAt) && i.CreatedAt.Equal(before.CreatedAt))
}

// over is the lead as it replaces what stands.
func (i *Incoming) over(before Standing, at time.Time) Kept {
	kept := Kept{Lead: i.Lead, Digest: i.digest, MovedFrom: earliest(before.MovedFrom, before.UpdatedAt, at)}
	if i.UpdatedAt.IsZero() {
		kept.CreatedAt, kept.UpdatedAt = before.CreatedAt, at
		if before.ID == "" {
			kept.CreatedAt = at
		}
	}
	return kept
}

// State tells what a store holds of leads, campaigns and the taxonomy.
type State struct {
	Revision  Revision  // grows by one with every change
	Taxonomy  Revision  // in which the taxonomy changed last
	ChangedAt time.Time // when the last change was made: later than the one before, and than every UpdatedAt before it
}

// Revision numbers the changes of leads, campaigns and the taxonomy; 0: nothing was ever kept.
type Revision int64

// Next is the instant of the next change, which is made at now.
func (s State) Next(now time.Time) time.Time {
	if earliest := s.ChangedAt.Add(time.Millisecond); now.Before(earliest) {
		return earliest
	}
	return now
}
