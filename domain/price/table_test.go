package price_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/event"
	"holdco/domain/fault/faulttest"
	"holdco/domain/money"
	"holdco/domain/price"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func number(text string) *money.Number { return new(money.Number(text)) }

func read(t *testing.T, file string) price.File {
	t.Helper()
	found, err := price.Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// shown is an event in one line.
func shown(happened *event.Event) string {
	if happened == nil {
		return "nothing"
	}
	return string(happened.Type) + " " + happened.Subject.Type + " " + happened.Subject.ID + " " + string(happened.Data.Append(nil)) +
		" " + string(happened.Previous.Append(nil))
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnImportReplacesAllModels(t *testing.T) {
	t.Parallel()
	first, counts, happened := price.Initial().Import(read(t, litellm), noon)
	models := len(price.Initial().Models)
	same(t, counts, price.Changes{Added: 3, Removed: models, Skipped: 6})
	same(t, first.Revision, int64(2))
	same(t, first.ChangedAt, noon)
	same(t, first.Snapshot, "")
	same(t, first.Fallback, price.Initial().Fallback)
	same(t, len(first.Models), 3)
	same(t, strings.HasPrefix(shown(happened), `price.imported price  {"added":3,"changed":0,"removed":`), true)
	same(t, strings.HasSuffix(shown(happened), `"unchanged":0,"skipped":6,"models":3,"revision":2} {}`), true)

	again, counts, happened := first.Import(read(t, litellm), noon.Add(time.Hour))
	same(t, counts, price.Changes{Unchanged: 3, Skipped: 6})
	same(t, again, first)
	same(t, shown(happened), "nothing")

	other := `{"claude-x": {"input_cost_per_token": 1, "output_cost_per_token": 1},
		"local/free": {"output_cost_per_token": 0, "input_cost_per_token": 0},
		"new": {"output_cost_per_token": 0, "input_cost_per_token": 0}}`
	next, counts, _ := first.Import(read(t, other), noon.Add(time.Hour))
	same(t, counts, price.Changes{Added: 1, Changed: 1, Removed: 1, Unchanged: 1})
	same(t, next.Revision, int64(3))

	// The snapshot is a file of its own: who imports it has imported.
	kept, counts, happened := price.Initial().Import(price.File{Models: price.Initial().Models}, noon)
	same(t, counts, price.Changes{Unchanged: models})
	same(t, kept.Revision, int64(2))
	same(t, kept.Snapshot, "")
	same(t, happened != nil, true)
}

func TestAModelIsSetAndRemoved(t *testing.T) {
	t.Parallel()
	file, _, _ := price.Initial().Import(read(t, litellm), noon)
	set, m, happened, err := file.Set(" new ", price.Draft{Input: number("3"), Output: number("15.5"), CacheRead: number("0")}, noon)
	same(t, err, nil)
	same(t, m, price.Model{ID: "new", Input: steps(3e6), Output: steps(15_500_000), CacheRead: steps(0)})
	same(t, shown(happened), `price.set price new {"model":"new","provider":null,"input":3,"output":15.5,"cacheRead":0,"cacheWrite":null,`+
		`"above":[],"revision":3} {}`)
	same(t, len(set.Models), 4)
	same(t, len(file.Models), 3)

	again, _, happened, err := set.Set("NEW", price.Draft{Input: number("3.00"), Output: number("155e-1"), CacheRead: number("0")}, noon)
	same(t, err, nil)
	same(t, shown(happened), "nothing")
	same(t, again, set)

	// One that is there keeps its id and its provider, and loses the prices of long calls.
	set, m, happened, err = set.Set("CLAUDE-X", price.Draft{Input: number("3"), Output: number("14")}, noon.Add(time.Second))
	same(t, err, nil)
	same(t, m, price.Model{ID: "claude-x", Provider: "anthropic", Input: steps(3e6), Output: steps(14e6)})
	same(t, shown(happened), `price.set price claude-x {"model":"claude-x","provider":"anthropic","input":3,"output":14,"cacheRead":null,`+
		`"cacheWrite":null,"above":[],"revision":4} {"output":15,"cacheRead":0.3,"cacheWrite":3.75,"above":[{"tokens":128000,"input":4,`+
		`"output":null,"cacheRead":null,"cacheWrite":null},{"tokens":200000,"input":6,"output":null,"cacheRead":null,"cacheWrite":null}]}`)
	same(t, set.ChangedAt, noon.Add(time.Second))

	removed, m, happened, err := set.Remove("Claude-X", noon)
	same(t, err, nil)
	same(t, m.ID, "claude-x")
	same(t, strings.HasPrefix(shown(happened), `price.removed price claude-x {"model":"claude-x",`), true)
	same(t, len(removed.Models), 3)
	same(t, len(set.Models), 4)
	_, _, _, err = removed.Remove("claude-x", noon)
	faulttest.Check(t, "a model that is gone", err, "not_found")
}

func TestBadPricesAreRefusedAllAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		draft price.Draft
		want  string
	}{
		{"m", price.Draft{}, "validation_failed input:required output:required"},
		{
			" ", price.Draft{Input: number("x"), Output: number("-1")},
			"validation_failed input:out_of_range output:out_of_range model:required",
		},
		{
			strings.Repeat("m", 201), price.Draft{Input: number("1000000.000001"), Output: number("1"), CacheRead: number("")},
			"validation_failed input:out_of_range cacheRead:out_of_range model:too_long",
		},
		{"sample_spec", price.Draft{Input: number("1"), Output: number("1")}, "validation_failed model:unknown_value"},
	} {
		got, _, happened, err := price.Initial().Set(c.name, c.draft, noon)
		faulttest.Check(t, c.name, err, c.want)
		if happened != nil || got.Revision != 1 {
			t.Errorf("%+v", got)
		}
	}
	full := price.Initial()
	for len(full.Models) < price.MostModels {
		full.Models = append(full.Models, full.Models[0])
	}
	_, _, _, err := full.Set("one more", price.Draft{Input: number("1"), Output: number("1")}, noon)
	faulttest.Check(t, "one too many", err, "validation_failed model:too_many")
	if _, _, _, err = full.Set("gpt-5", price.Draft{Input: number("1"), Output: number("1")}, noon); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	got, happened, err := price.Initial().SetFallback(price.Draft{Output: number("-1")}, noon)
	faulttest.Check(t, "a fallback", err, "validation_failed input:required output:out_of_range")
	if happened != nil || got.Revision != 1 {
		t.Errorf("%+v", got)
	}
	_, _, err = price.Initial().SetFallback(price.Draft{Input: number("0"), Output: number("0.0")}, noon)
	faulttest.Check(t, "a fallback for nothing", err, "validation_failed input:out_of_range output:out_of_range")
}

func TestTheFallbackIsSet(t *testing.T) {
	t.Parallel()
	got, happened, err := price.Initial().SetFallback(price.Draft{Input: number("15"), Output: number("30")}, noon)
	same(t, err, nil)
	same(t, got.Fallback, price.Fallback{Input: 15_000_000, Output: 30_000_000})
	same(t, got.Snapshot, price.SnapshotDate)
	same(t, shown(happened), `price.fallback price  {"input":15,"output":30,"revision":2} {"output":75}`)
	again, happened, err := got.SetFallback(price.Draft{Input: number("15"), Output: number("30")}, noon)
	same(t, err, nil)
	same(t, again, got)
	same(t, shown(happened), "nothing")
}

func TestModelsAreFilteredByTheirNames(t *testing.T) {
	t.Parallel()
	table, _, _ := price.Initial().Import(read(t, litellm), noon)
	for contained, want := range map[string]int{"": 3, "CLAUDE": 1, "anthropic": 1, "/": 2, "none": 0} {
		if got := table.Filter(contained); len(got) != want {
			t.Errorf("%q: %+v", contained, got)
		}
	}
}

func TestTheSnapshotIsInOrder(t *testing.T) {
	t.Parallel()
	if _, err := time.Parse(time.DateOnly, price.SnapshotDate); err != nil {
		t.Error(err)
	}
	for _, m := range price.Initial().Models {
		if m.Provider == "" || m.Input[0].Price <= 0 || m.Output[0].Price < m.Input[0].Price {
			t.Errorf("%+v", m)
		}
	}
}
