package page_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/page"
)

func TestAPageKnowsWhereTheNextOneStarts(t *testing.T) {
	t.Parallel()
	position := func(row string) page.Position { return page.Position{ID: row} }
	for _, c := range []struct {
		rows  []string
		items []string
		next  string
	}{
		{rows: nil, items: nil},
		{rows: []string{"a"}, items: []string{"a"}},
		{rows: []string{"a", "b"}, items: []string{"a", "b"}},
		{rows: []string{"a", "b", "c"}, items: []string{"a", "b"}, next: "b"},
	} {
		got := page.Of(c.rows, 2, position)
		if !slices.Equal(got.Items, c.items) || got.Next.ID != c.next || got.Next.IsStart() != (c.next == "") {
			t.Errorf("%v: %v", c.rows, got)
		}
	}
}

func TestTheStartHasNoCursor(t *testing.T) {
	t.Parallel()
	if cursor := page.Cursor("companies", page.Position{}); cursor != "" {
		t.Errorf("cursor %q", cursor)
	}
	if position, err := page.ParseCursor("companies", ""); !position.IsStart() || err != nil {
		t.Errorf("%v, %v", position, err)
	}
}

func TestCursorsComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	value := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 }))
	rapid.Check(t, func(t *rapid.T) {
		query := rapid.String().Draw(t, "query")
		position := page.Position{
			Values: rapid.SliceOfN(value, 0, 4).Draw(t, "values"),
			ID:     rapid.StringMatching(`cmp_[0-9a-z]{26}`).Draw(t, "id"),
		}
		cursor := page.Cursor(query, position)
		if strings.Trim(cursor, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Fatalf("%s does not fit into a URL as it is", cursor)
		}
		again, err := page.ParseCursor(query, cursor)
		if err != nil || again.ID != position.ID || !slices.Equal(again.Values, position.Values) {
			t.Fatalf("%v comes back as %v, %v", position, again, err)
		}
	})
}

func TestCursorsOfOtherListsAreRefused(t *testing.T) {
	t.Parallel()
	cursor := page.Cursor("companies status=active", page.Position{Values: []string{"1"}, ID: "cmp_1"})
	for _, query := range []string{"", "companies", "companies status=archived", "companies status=active ", "tokens"} {
		refused(t, query, cursor)
	}
}

func TestMangledCursorsAreRefused(t *testing.T) {
	t.Parallel()
	const query = "companies"
	cursor := page.Cursor(query, page.Position{Values: []string{"1775904137000"}, ID: "cmp_01h455vb4pex5vsknk084sn02q"})
	for i := range cursor {
		refused(t, query, cursor[:i]+cursor[i+1:])
		if i > 0 {
			refused(t, query, cursor[:i])
		}
		for _, other := range []string{"A", "z", "_", "=", " ", "\x00", "é"} {
			if cursor[i:i+1] != other {
				refused(t, query, cursor[:i]+other+cursor[i+1:])
			}
		}
	}
	for _, mangled := range []string{
		" ", "a", "null", "0", "cmp_01h455vb4pex5vsknk084sn02q", cursor + "=", cursor + "A", cursor + "\n", cursor + cursor, "\n" + cursor,
		strings.Repeat("A", 5000), strings.Repeat("A", 1<<20),
	} {
		refused(t, query, mangled)
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add("companies", "")
	f.Add("companies", "AAAA")
	f.Add("companies", page.Cursor("companies", page.Position{ID: "cmp_1"}))
	f.Add("tokens", page.Cursor("tokens", page.Position{Values: []string{"1", ""}, ID: "tok_1"}))
	f.Fuzz(func(t *testing.T, query, cursor string) {
		position, err := page.ParseCursor(query, cursor)
		switch {
		case err != nil && fault.CodeOf(err) != fault.InvalidCursor:
			t.Fatalf("%v is not the fault of a cursor", err)
		case err == nil && !position.IsStart() && page.Cursor(query, position) != cursor:
			t.Fatalf("%v has two cursors", position)
		}
	})
}

func refused(t *testing.T, query, cursor string) {
	t.Helper()
	if position, err := page.ParseCursor(query, cursor); fault.CodeOf(err) != fault.InvalidCursor || !position.IsStart() {
		t.Errorf("%q is read as %v, %v", cursor, position, err)
	}
}
