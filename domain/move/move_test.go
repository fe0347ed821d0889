package move_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/move"
)

var table = move.Table{
	Name:    "rows",
	Columns: []move.Column{{Name: "a", Kind: move.Integer}, {Name: "b", Kind: move.Text}, {Name: "c", Kind: move.Text}},
	Keyed:   []int{1, 0},
}

var cells = rapid.OneOf(
	rapid.Just[any](nil), rapid.Map(rapid.Int64(), func(n int64) any { return n }),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(bytes []byte) any { return string(bytes) }),
)

func TestRowsThatDifferAreEncodedDifferently(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, other := move.Row(rapid.SliceOf(cells).Draw(t, "one")), move.Row(rapid.SliceOf(cells).Draw(t, "other"))
		isSame := len(one) == len(other) && one.Compare(other) == 0
		if got := string(one.Append(nil)) == string(other.Append(nil)); got != isSame {
			t.Fatalf("%q and %q: %v", one, other, got)
		}
		if one.Compare(other) != -other.Compare(one) {
			t.Fatalf("%q and %q have no order", one, other)
		}
	})
}

func TestAPlaceIsFoundAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := move.Row{string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")), rapid.Int64().Draw(t, "number")}
		got, err := table.Decode(key.Encode())
		if err != nil || got.Compare(key) != 0 {
			t.Fatalf("%q: %v", got, err)
		}
	})
	if got, err := table.Decode(""); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, kept := range []string{"?", "aQ==", "eA==", "dP8=", move.Row{"one"}.Encode(), move.Row{int64(1)}.Encode()[:4]} {
		if got, err := table.Decode(kept); err == nil {
			t.Errorf("%q: %v", kept, got)
		}
	}
}

func TestKeysHaveTheOrderOfBothEngines(t *testing.T) {
	t.Parallel()
	ascending := []move.Row{
		{"", int64(math.MinInt64)}, {"", int64(-1)}, {"", int64(0)}, {"", int64(math.MaxInt64)}, {"A", int64(0)}, {"Z", int64(0)},
		{"a", int64(0)}, {"aa", int64(-1)}, {"é", int64(0)}, {"\U0001F600", int64(0)},
	}
	for n, one := range ascending {
		for m, other := range ascending {
			if got := one.Compare(other); got < 0 != (n < m) || got > 0 != (n > m) {
				t.Errorf("%q and %q: %d", one, other, got)
			}
		}
	}
}

func TestADigestIsOfAllThatARowHas(t *testing.T) {
	t.Parallel()
	digest := func(of move.Table, rows ...move.Row) string {
		d := of.NewDigest()
		for _, row := range rows {
			d.Add(row.Append(nil))
		}
		return d.String()
	}
	renamed := table
	renamed.Columns = []move.Column{{Name: "a"}, {Name: "b"}, {Name: "d"}}
	seen := map[string]string{}
	for name, got := range map[string]string{
		"none":           digest(table),
		"one":            digest(table, move.Row{int64(1), "x", nil}),
		"empty":          digest(table, move.Row{int64(1), "x", ""}),
		"text":           digest(table, move.Row{"1", "x", nil}),
		"two":            digest(table, move.Row{int64(1), "x", nil}, move.Row{int64(1), "x", nil}),
		"another column": digest(renamed, move.Row{int64(1), "x", nil}),
	} {
		if other := seen[got]; other != "" || len(got) != 64 {
			t.Errorf("%s and %s: %s", name, other, got)
		}
		seen[got] = name
	}
}

func TestTextsThatPostgreSQLDoesNotTakeAreNamed(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"a\x00b": "its c has a NUL character", "\xff": "its c is not UTF-8", "é\x01🙂": "", "": "",
	} {
		err := table.CheckText(move.Row{int64(7), "seven", text})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says) ||
			!strings.HasPrefix(err.Error(), `the row of rows with b "seven", a 7 cannot be moved`)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAMarkRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mark move.Mark
		says string
	}{
		{move.Mark{}, "this store is being moved; finish with"},
		{move.Mark{Target: true}, "this store is being moved; finish with"},
		{move.Mark{Target: true, Done: true}, "this store is being moved; finish with"},
		{move.Mark{Done: true, Other: "db/holdco"}, "this store was moved to db/holdco; set HOLDCO_DATABASE_URL"},
	} {
		err := c.mark.Refusal()
		if !strings.HasPrefix(err.Error(), c.says) || !move.IsRefusal(fmt.Errorf("open: %w", err)) {
			t.Errorf("%+v: %v", c.mark, err)
		}
	}
}
