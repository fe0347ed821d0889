package team_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/team"
	"holdco/domain/text"
)

const acme = id.Company("cmp_01h455vb4pex5vsknk084sn02q")

var noon = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)

func TestATeamComesWithItsEmptySlots(t *testing.T) {
	t.Parallel()
	ids := new(counter)
	got, slots, faults := team.NewRoster(acme).Add("startingTeams.0", team.Draft{Name: new(" Field Sales "), Headcount: new(int64(2))},
		ids, noon)
	want := team.Team{
		ID: numbered[id.Team](1), Company: acme, Name: "Field Sales", Slug: "field-sales", Headcount: 2, CreatedAt: noon, UpdatedAt: noon,
		Version: 1,
	}
	wantSlots := []team.Slot{
		{ID: numbered[id.Slot](2), Company: acme, Team: want.ID, CreatedAt: noon},
		{ID: numbered[id.Slot](3), Company: acme, Team: want.ID, CreatedAt: noon},
	}
	if diff := cmp.Diff(want, got) + cmp.Diff(wantSlots, slots); diff != "" || faults != nil {
		t.Errorf("%v\n%s", faults, diff)
	}
}

func TestASlotIsFilledByAnAgent(t *testing.T) {
	t.Parallel()
	if got := (team.Slot{}).Status(); got != team.Empty {
		t.Errorf("without an agent: %s", got)
	}
	if got := (team.Slot{Agent: "agt_01h455vb4pex5vsknk084sn02q"}).Status(); got != team.Filled {
		t.Errorf("with an agent: %s", got)
	}
}

func TestHeadcountHasBounds(t *testing.T) {
	t.Parallel()
	for headcount, ok := range map[int64]bool{-1 << 63: false, -1: false, 0: true, 1: true, 1000: true, 1001: false, 1<<63 - 1: false} {
		got, slots, faults := team.NewRoster(acme).Add("team", team.Draft{Name: new("Sales"), Headcount: &headcount}, new(counter), noon)
		if ok && (faults != nil || int64(got.Headcount) != headcount || int64(len(slots)) != headcount) {
			t.Errorf("%d: %d slots, %v", headcount, len(slots), faults)
		}
		if !ok && (len(faults) != 1 || faults[0].Path != "team.headcount" || faults[0].Code != fault.OutOfRange) {
			t.Errorf("%d: %v", headcount, faults)
		}
	}
}

func TestAllThatIsWrongWithATeamIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		draft team.Draft
		want  string // field:code
	}{
		{"nothing was sent", team.Draft{}, "team.name:required team.headcount:required"},
		{"blank", team.Draft{Name: new(" "), Headcount: new(int64(-1))}, "team.name:required team.headcount:out_of_range"},
		{"long", team.Draft{Name: new(strings.Repeat("x", 201)), Headcount: new(int64(1))}, "team.name:too_long"},
		{"two lines", team.Draft{Name: new("a\nb"), Headcount: new(int64(1))}, "team.name:invalid_characters"},
	} {
		got, slots, faults := team.NewRoster(acme).Add("team", c.draft, new(counter), noon)
		if listed := spelled(faults); listed != c.want || got != (team.Team{}) || slots != nil {
			t.Errorf("%s: %s, %+v; want %s", c.name, listed, got, c.want)
		}
	}
}

func TestNamesAreUniqueWithoutRegardToCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second string
		duplicate     bool
	}{
		{"Sales", "Sales", true},
		{"Sales", "sALES", true},
		{"Sales", "  Sales ", true},
		{"Straße", "STRASSE", true},
		{"Cafe\u0301", "CAF\u00c9", true},
		{"Sales", "Sales 2", false},
		{"Resume", "Résumé", false},
		{"Sales team", "Sales-team", false},
	} {
		roster, ids := team.NewRoster(acme), new(counter)
		_, _, _ = roster.Add("0", team.Draft{Name: &c.first, Headcount: new(int64(0))}, ids, noon)
		_, _, faults := roster.Add("1", team.Draft{Name: &c.second, Headcount: new(int64(0))}, ids, noon)
		if duplicate := spelled(faults) == "1.name:duplicate"; duplicate != c.duplicate || !duplicate && faults != nil {
			t.Errorf("%q, then %q: %v", c.first, c.second, faults)
		}
	}
}

func TestANameCountsEvenWhenTheRestOfItsTeamIsWrong(t *testing.T) {
	t.Parallel()
	roster := team.NewRoster(acme)
	_, _, first := roster.Add("0", team.Draft{Name: new("Sales")}, new(counter), noon)
	_, _, second := roster.Add("1", team.Draft{Name: new("sales")}, new(counter), noon)
	if got, want := spelled(first)+" "+spelled(second), "0.headcount:required 1.name:duplicate 1.headcount:required"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

func TestSlugsAreKeptApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 63)
	for _, c := range []struct{ names, slugs []string }{
		{[]string{"Sales!", "Sales?", "Sales."}, []string{"sales", "sales-2", "sales-3"}},
		{[]string{"A", "A 2", "A!"}, []string{"a", "a-2", "a-3"}},
		{[]string{"A 2", "A", "A!"}, []string{"a-2", "a", "a-3"}},
		{[]string{"Продажи", "Prodazhi"}, []string{"prodazhi", "prodazhi-2"}},
		{[]string{"😀", "!", "Team"}, []string{"team", "team-2", "team-3"}},
		{[]string{long, long + " y", long + "!"}, []string{long, long[:61] + "-2", long[:61] + "-3"}},
		{[]string{long[:60] + "-yy", long[:60] + " yy"}, []string{long[:60] + "-yy", long[:60] + "-2"}},
	} {
		roster, ids := team.NewRoster(acme), new(counter)
		var slugs []string
		for _, name := range c.names {
			added, _, _ := roster.Add("team", team.Draft{Name: &name, Headcount: new(int64(0))}, ids, noon)
			slugs = append(slugs, added.Slug)
		}
		if diff := cmp.Diff(c.slugs, slugs); diff != "" {
			t.Errorf("%q: %s", c.names, diff)
		}
	}
}

func TestNoTwoTeamsShareASlug(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		roster, ids, slugs := team.NewRoster(acme), new(counter), map[string]bool{}
		for _, name := range rapid.SliceOf(rapid.StringMatching(`[aAäÄ!2 -]{1,5}|[xX -]{59,66}`)).Draw(t, "names") {
			added, _, faults := roster.Add("team", team.Draft{Name: &name, Headcount: new(int64(0))}, ids, noon)
			if faults != nil {
				continue
			}
			if slugs[added.Slug] || !text.IsSlug(added.Slug) {
				t.Fatalf("%q has the slug %q", name, added.Slug)
			}
			slugs[added.Slug] = true
		}
	})
}

func spelled(faults []fault.Field) string {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.Path + ":" + f.Code
	}
	return strings.Join(texts, " ")
}

// counter is a source of ids that counts.
type counter uint64

func (c *counter) UUIDv7() (uuid [16]byte) {
	*c++
	binary.BigEndian.PutUint64(uuid[8:], uint64(*c))
	return uuid
}

// numbered is the id that a counter gives when it comes to n.
func numbered[I id.ID](n uint64) I {
	before := counter(n - 1)
	return id.New[I](before.UUIDv7())
}
