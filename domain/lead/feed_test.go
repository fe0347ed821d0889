package lead_test

import (
	"testing"
	"time"

	"holdco/domain/lead"
)

func TestTheFeedGoesOnUnlessSomethingIsLost(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)
	restored := lead.State{Revision: 9, ChangedAt: at.Add(time.Hour), LostAfter: at, LostUntil: at.Add(time.Hour)}
	changed := lead.State{Revision: 9, ChangedAt: at}
	pruned := lead.State{Revision: 9, ChangedAt: at, Pruned: lead.FeedPlace{Revision: 5, Key: 7}}
	for what, c := range map[string]struct {
		state lead.State
		from  lead.FeedPosition
		want  bool
	}{
		"of nothing":                  {lead.State{}, lead.FeedPosition{}, true},
		"from before the restoration": {restored, lead.FeedPosition{SeenAt: at}, true},
		"from the lost future":        {restored, lead.FeedPosition{SeenAt: at.Add(time.Millisecond)}, false},
		"from after the restoration":  {restored, lead.FeedPosition{SeenAt: at.Add(time.Hour)}, true},
		"told of the last that is pruned": {
			pruned, lead.FeedPosition{Place: lead.FeedPlace{Revision: 5, Key: 7}, SeenAt: at}, true,
		},
		"not told of it":           {pruned, lead.FeedPosition{Place: lead.FeedPlace{Revision: 5, Key: 6}, SeenAt: at}, false},
		"begun after it":           {pruned, lead.FeedPosition{Fresh: 5, SeenAt: at}, true},
		"begun before it":          {pruned, lead.FeedPosition{Fresh: 4, SeenAt: at}, false},
		"begun with a copy":        {pruned, lead.FeedPosition{SeenAt: at}, false},
		"of the last that is seen": {changed, lead.FeedPosition{Seen: 9, SeenAt: at}, true},
		"of another that is last":  {changed, lead.FeedPosition{Seen: 9, SeenAt: at.Add(time.Second)}, false},
		"of one before":            {changed, lead.FeedPosition{Seen: 8, SeenAt: at.Add(-time.Minute)}, true},
		"of another before":        {changed, lead.FeedPosition{Seen: 8, SeenAt: at.Add(-time.Second)}, false},
		"of none that there is":    {changed, lead.FeedPosition{Seen: 10, SeenAt: at}, false},
		"begun before, ahead":      {pruned, lead.FeedPosition{Fresh: 4, Place: lead.FeedPlace{Revision: 6}, SeenAt: at}, true},
	} {
		if got := c.state.CanFollow(c.from, at.Add(-time.Minute)); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
	if !changed.CanFollow(lead.FeedPosition{Seen: 3, SeenAt: at.Add(-time.Hour)}, time.Time{}) {
		t.Error("it ends where the store does not know any more what was seen")
	}
}

func TestChangesStandByRevisionNamesFirst(t *testing.T) {
	t.Parallel()
	inOrder := []lead.FeedPlace{
		{}, {Revision: 1, ID: "ind_b"}, {Revision: 1, ID: "vrt_a"}, {Revision: 1, Key: 2}, {Revision: 1, Key: 10}, {Revision: 2, Key: 1},
	}
	for i, one := range inOrder {
		for j, other := range inOrder {
			if got, want := one.Compare(other) < 0, i < j; got != want {
				t.Errorf("%+v, %+v: %t", one, other, got)
			}
		}
	}
}
