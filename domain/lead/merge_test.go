package lead_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// shelf keeps leads as a store does.
type shelf map[id.Lead]lead.Stored

func (s shelf) summaries() map[id.Lead]lead.Summary {
	all := map[id.Lead]lead.Summary{}
	for which, kept := range s {
		all[which] = lead.Summary{
			ID: which, Digest: kept.Digest, Campaigns: kept.Campaigns, CreatedAt: kept.CreatedAt, UpdatedAt: kept.UpdatedAt,
			MovedFrom: kept.MovedFrom,
		}
	}
	return all
}

// keep imports a batch.
func (s shelf) keep(batch []lead.Lead, at time.Time) lead.Merged {
	incoming := make([]lead.Incoming, len(batch))
	for i, one := range batch {
		incoming[i] = one.Incoming()
	}
	merged := lead.Merge(incoming, s.summaries(), at)
	for _, kept := range merged.Changed {
		s[kept.ID] = kept
	}
	return merged
}

// members counts the leads of each campaign.
func (s shelf) members() map[id.Campaign]int64 {
	counts := map[id.Campaign]int64{}
	for _, kept := range s {
		for _, campaign := range kept.Campaigns {
			counts[campaign]++
		}
	}
	return counts
}

// some draws leads of a few ids, of which many are equal.
var some = rapid.Custom(func(t *rapid.T) lead.Lead {
	one := lead.Lead{
		ID:         id.Lead(rapid.SampledFrom([]string{"cmp_1", "cmp_2", "cmp_3", "cmp_4"}).Draw(t, "id")),
		Name:       rapid.SampledFrom([]string{"Acme", "Ajax"}).Draw(t, "name"),
		Rating:     lead.Unrated,
		Enrichment: lead.None,
		Campaigns:  rapid.SampledFrom([][]id.Campaign{nil, {spring}, {autumn, spring}}).Draw(t, "campaigns"),
	}
	if rapid.IntRange(0, 3).Draw(t, "timestamps") == 0 {
		one.CreatedAt = noon.Add(-time.Duration(rapid.IntRange(2, 3).Draw(t, "made hours ago")) * time.Hour)
		one.UpdatedAt = noon.Add(-time.Duration(rapid.IntRange(1, 2).Draw(t, "changed hours ago")) * time.Hour)
	}
	return one
})

// TestLeadsAreMergedOneAfterTheOther compares batches with storing leads one by one.
func TestLeadsAreMergedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kept, plain, at := shelf{}, map[id.Lead]lead.Lead{}, noon
		for range rapid.IntRange(1, 5).Draw(t, "batches") {
			at = at.Add(time.Second)
			batch := rapid.SliceOfN(some, 0, 6).Draw(t, "batch")
			before, counts, want := maps.Clone(plain), kept.members(), lead.Change{}
			for i, one := range batch {
				later := slices.ContainsFunc(batch[i+1:], func(other lead.Lead) bool { return other.ID == one.ID })
				stands, found := before[one.ID]
				if later || found && cmp.Equal(stands, over(one, stands, stands.UpdatedAt)) {
					want.Unchanged++
					continue
				}
				if found {
					want.Updated++
				} else {
					want.Inserted++
				}
				plain[one.ID] = over(one, stands, at)
			}

			merged := kept.keep(batch, at)
			if merged.Change != want || len(merged.Changed) != want.Inserted+want.Updated {
				t.Fatalf("%+v, %d leads; want %+v", merged.Change, len(merged.Changed), want)
			}
			if !slices.IsSortedFunc(merged.Changed, func(a, b lead.Stored) int { return a.Place().Compare(b.Place()) }) {
				t.Fatalf("%+v", merged.Changed)
			}
			got := map[id.Lead]lead.Lead{}
			for which, one := range kept {
				got[which] = one.Lead
			}
			if diff := cmp.Diff(plain, got); diff != "" {
				t.Fatal(diff)
			}
			for campaign, by := range merged.Members {
				if by == 0 {
					t.Fatalf("%s counts 0 more", campaign)
				}
				counts[campaign] += by
			}
			maps.DeleteFunc(counts, func(_ id.Campaign, count int64) bool { return count == 0 })
			if diff := cmp.Diff(kept.members(), counts); diff != "" {
				t.Fatal(diff)
			}

			again := kept.keep(batch, at.Add(time.Second))
			if again.Any() || again.Unchanged != len(batch) || len(again.Changed)+len(again.Members) != 0 {
				t.Fatalf("the same batch again: %+v", again)
			}
		}
	})
}

// over is a lead as it replaces another one, or nothing.
func over(one, before lead.Lead, at time.Time) lead.Lead {
	if one.UpdatedAt.IsZero() {
		one.CreatedAt, one.UpdatedAt = before.CreatedAt, at
		if before.ID == "" {
			one.CreatedAt = at
		}
	}
	return one
}

func TestWhateverALeadHoldsMakesItDiffer(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*lead.Lead){
		"name":              func(l *lead.Lead) { l.Name = "Ajax" },
		"phone":             func(l *lead.Lead) { l.Phone = "1" },
		"email":             func(l *lead.Lead) { l.Email = "1" },
		"website":           func(l *lead.Lead) { l.Website = "" },
		"rating":            func(l *lead.Lead) { l.Rating = 0 },
		"unrated":           func(l *lead.Lead) { l.Rating = lead.Unrated },
		"enrichment":        func(l *lead.Lead) { l.Enrichment = lead.Basic },
		"instagram":         func(l *lead.Lead) { l.Social.Instagram = "1" },
		"facebook":          func(l *lead.Lead) { l.Social.Facebook = "1" },
		"linkedin":          func(l *lead.Lead) { l.Social.LinkedIn = "1" },
		"twitter":           func(l *lead.Lead) { l.Social.Twitter = "1" },
		"tiktok":            func(l *lead.Lead) { l.Social.TikTok = "1" },
		"industry":          func(l *lead.Lead) { l.Industry = trade },
		"vertical":          func(l *lead.Lead) { l.Vertical = eyes },
		"campaign":          func(l *lead.Lead) { l.Campaigns = []id.Campaign{spring} },
		"campaigns":         func(l *lead.Lead) { l.Campaigns = nil },
		"contact":           func(l *lead.Lead) { l.Contacts = []lead.Contact{{ID: "cnt_1", Name: "Anna"}} },
		"name of a contact": func(l *lead.Lead) { l.Contacts = []lead.Contact{{ID: "cnt_1", Name: "Ben"}} },
		"title":             func(l *lead.Lead) { l.Contacts = []lead.Contact{{ID: "cnt_1", Name: "Anna", Title: "CEO"}} },
		"contact's email":   func(l *lead.Lead) { l.Contacts = []lead.Contact{{ID: "cnt_1", Name: "Anna", Email: "a@b.c"}} },
		"primary":           func(l *lead.Lead) { l.Contacts = []lead.Contact{{ID: "cnt_1", Name: "Anna", Primary: true}} },
		"contact's id":      func(l *lead.Lead) { l.Contacts = []lead.Contact{{ID: "cnt_2", Name: "Anna"}} },
		"nothing":           func(*lead.Lead) {},
	}
	digests := map[lead.Digest]string{}
	for what, change := range changes {
		one := acme()
		change(&one)
		incoming := one.Incoming()
		digest := lead.Merge([]lead.Incoming{incoming}, nil, noon).Changed[0].Digest
		if other, found := digests[digest]; found {
			t.Errorf("%s and %s make the same", what, other)
		}
		digests[digest] = what
	}
}

func TestTimestampsOfItsOwnReplaceThoseOfALead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kept, one := shelf{}, acme()
		one.CreatedAt, one.UpdatedAt = time.Time{}, time.Time{}
		kept.keep([]lead.Lead{one}, noon)
		one.CreatedAt, one.UpdatedAt = noon.Add(-2*time.Hour), noon.Add(-time.Hour)
		kept.keep([]lead.Lead{one}, noon.Add(time.Hour))
		want := lead.Stored{Lead: one, MovedFrom: noon}
		if diff := cmp.Diff(want, kept[one.ID], cmpopts.IgnoreFields(lead.Stored{}, "Digest")); diff != "" {
			t.Fatal(diff)
		}

		// The content alone is the same again, and what it does not bring stays.
		one.CreatedAt, one.UpdatedAt = time.Time{}, time.Time{}
		if merged := kept.keep([]lead.Lead{one}, noon.Add(2*time.Hour)); merged.Any() {
			t.Fatalf("%+v", merged)
		}
		one.Name = "Ajax"
		kept.keep([]lead.Lead{one}, noon.Add(3*time.Hour))
		if now := kept[one.ID]; !now.CreatedAt.Equal(noon.Add(-2*time.Hour)) || !now.UpdatedAt.Equal(noon.Add(3*time.Hour)) {
			t.Fatalf("%v, %v", now.CreatedAt, now.UpdatedAt)
		}
	})
}

func TestALeadThatComesBackIsNew(t *testing.T) {
	t.Parallel()
	one := acme()
	one.CreatedAt, one.UpdatedAt = time.Time{}, time.Time{}
	incoming := one.Incoming()
	stored := map[id.Lead]lead.Summary{one.ID: {UpdatedAt: noon.Add(-time.Minute)}}
	merged := lead.Merge([]lead.Incoming{incoming}, stored, noon)
	one.CreatedAt, one.UpdatedAt = noon, noon
	want := lead.Merged{
		Change:      lead.Change{Inserted: 1},
		Changed:     []lead.Stored{{Lead: one, MovedFrom: noon.Add(-time.Minute)}},
		Members:     map[id.Campaign]int64{spring: 1, autumn: 1},
		InsertedIDs: []id.Lead{one.ID},
	}
	if diff := cmp.Diff(want, merged, cmpopts.IgnoreFields(lead.Stored{}, "Digest")); diff != "" {
		t.Error(diff)
	}
}

func TestChangesComeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ last, now, want time.Time }{
		{time.Time{}, noon, noon},
		{noon.Add(-time.Hour), noon, noon},
		{noon.Add(-time.Millisecond), noon, noon},
		{noon, noon, noon.Add(time.Millisecond)},
		{noon.Add(time.Hour), noon, noon.Add(time.Hour + time.Millisecond)}, // a clock that was set back
	} {
		if got := (lead.State{ChangedAt: c.last}).Next(c.now); !got.Equal(c.want) {
			t.Errorf("%v after %v: %v; want %v", c.now, c.last, got, c.want)
		}
	}
}

func TestABatchTellsTheIDsOfItsLeads(t *testing.T) {
	t.Parallel()
	ids := func(count int, prefix string) (all []id.Lead) {
		for n := range count {
			all = append(all, id.Lead(fmt.Sprint("cmp_", prefix, n)))
		}
		return all
	}
	of := func(inserted, updated int) lead.Merged {
		return lead.Merged{
			Change:      lead.Change{Inserted: inserted, Updated: updated},
			InsertedIDs: ids(inserted, "new"), UpdatedIDs: ids(updated, "old"),
		}
	}
	for _, c := range []struct {
		events []event.Event
		want   string // of each its type, its counts and how many ids it has
	}{
		{of(2, 0).Events(), "lead.imported 2 0 (2)"},
		{of(0, 3).Events(), "lead.updated 3 (3)"},
		{
			of(1500, 1001).Events(),
			"lead.imported 1000 1001 (1000), lead.imported 500 0 (500), lead.updated 1000 (1000), lead.updated 1 (1)",
		},
		{lead.Removed(ids(1001, "x")), "lead.removed 1000 (1000), lead.removed 1 (1)"},
	} {
		var got []string
		seen := map[string]bool{}
		for _, happened := range c.events {
			text := string(happened.Type)
			for _, field := range happened.Data {
				told, isIDs := field.Value.([]string)
				if !isIDs {
					text += fmt.Sprint(" ", field.Value)
					continue
				}
				text += fmt.Sprintf(" (%d)", len(told))
				for _, which := range told {
					if seen[which] {
						t.Errorf("%s is told twice", which)
					}
					seen[which] = true
				}
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Error(diff)
		}
	}
}
