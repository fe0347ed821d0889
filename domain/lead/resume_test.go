package lead_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestAStreamIsResumedWhereTheLeadWas(t *testing.T) {
	t.Parallel()
	before, after := noon.Add(-time.Hour), noon.Add(time.Hour)
	for name, c := range map[string]struct {
		movedFrom time.Time
		now       time.Time
		want      time.Time
	}{
		"never changed":            {time.Time{}, noon.Add(time.Minute), noon},
		"changed just now":         {before, noon.Add(time.Minute), before},
		"changed by a clock ahead": {before, noon.Add(-time.Minute), before},
		"changed nearly too early": {before, noon.Add(lead.ResumeWindow - time.Millisecond), before},
		"changed too early":        {before, noon.Add(lead.ResumeWindow), noon},
		"moved back":               {after, noon.Add(time.Minute), noon},
	} {
		exported := lead.Exported{Place: lead.Place{UpdatedAt: noon, ID: "cmp_1"}, MovedFrom: c.movedFrom}
		if got := exported.ResumeFrom(c.now); got != (lead.Place{UpdatedAt: c.want, ID: "cmp_1"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// market is a store of leads whose clock stands still until it is moved.
type market struct {
	kept    shelf
	removed map[id.Lead]time.Time // the instant in the place that each had
	state   lead.State
	now     time.Time
	version int
}

// change gives a lead a name that no lead ever had.
func (m *market) change(which id.Lead) {
	m.state.ChangedAt, m.version = m.state.Next(m.now), m.version+1
	one := lead.Lead{ID: which, Name: fmt.Sprint("Version ", m.version), Rating: lead.Unrated, Enrichment: lead.None}
	incoming := one.Incoming()
	stored := m.kept.summaries()
	if was, gone := m.removed[which]; gone {
		stored[which] = lead.Summary{UpdatedAt: was}
		delete(m.removed, which)
	}
	for _, kept := range lead.Merge([]lead.Incoming{incoming}, stored, m.state.ChangedAt).Changed {
		m.kept[which] = kept
	}
}

func (m *market) remove(which id.Lead) {
	if kept, there := m.kept[which]; there {
		m.state.ChangedAt = m.state.Next(m.now)
		m.removed[which] = exported(kept).ResumeFrom(m.state.ChangedAt).UpdatedAt
		delete(m.kept, which)
	}
}

// resumeAfter returns where a stream that ended after a lead continues.
func (m *market) resumeAfter(which id.Lead) lead.Place {
	if was, gone := m.removed[which]; gone {
		return lead.Place{UpdatedAt: was, ID: which}
	}
	if kept, there := m.kept[which]; there {
		return exported(kept).ResumeFrom(m.now)
	}
	return lead.Place{} // the stream has not begun
}

// stream returns the leads after a place, in the order of the export.
func (m *market) stream(after lead.Place) []lead.Stored {
	var leads []lead.Stored
	for _, kept := range m.kept {
		if kept.Place().Compare(after) > 0 {
			leads = append(leads, kept)
		}
	}
	slices.SortFunc(leads, func(a, b lead.Stored) int { return a.Place().Compare(b.Place()) })
	return leads
}

func exported(kept lead.Stored) lead.Exported {
	return lead.Exported{Place: kept.Place(), MovedFrom: kept.MovedFrom}
}

// TestAStreamResumedInTimeMissesNothing breaks a stream again and again while leads change, go and come back.
func TestAStreamResumedInTimeMissesNothing(t *testing.T) {
	t.Parallel()
	which := rapid.Custom(func(t *rapid.T) id.Lead { return id.Lead(fmt.Sprint("cmp_", rapid.IntRange(1, 6).Draw(t, "lead"))) })
	pause := rapid.OneOf(rapid.Just(time.Duration(0)), rapid.Just(time.Millisecond), rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute
	}))
	rapid.Check(t, func(t *rapid.T) {
		m := market{kept: shelf{}, removed: map[id.Lead]time.Time{}, now: noon}
		happen := func(until time.Time) {
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				if next := m.now.Add(pause.Draw(t, "pause")); !until.IsZero() && next.After(until) {
					break
				} else {
					m.now = next
				}
				if rapid.IntRange(0, 3).Draw(t, "removal") == 0 {
					m.remove(which.Draw(t, "removed"))
				} else {
					m.change(which.Draw(t, "changed"))
				}
			}
		}
		happen(time.Time{})

		received, last := map[id.Lead]string{}, id.Lead("")
		receive := func(leads []lead.Stored) {
			for _, one := range leads {
				received[one.ID], last = one.Name, one.ID
			}
		}
		for range rapid.IntRange(0, 4).Draw(t, "breaks") {
			remaining := m.stream(m.resumeAfter(last))
			if len(remaining) == 0 {
				break
			}
			receive(remaining[:rapid.IntRange(1, len(remaining)).Draw(t, "received")])
			m.now = latest(m.now, m.state.ChangedAt)
			happen(m.now.Add(lead.ResumeWindow - time.Minute))
		}
		receive(m.stream(m.resumeAfter(last)))
		for _, kept := range m.kept {
			if received[kept.ID] != kept.Name {
				t.Fatalf("%s is %q; received %q", kept.ID, kept.Name, received[kept.ID])
			}
		}
	})
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
