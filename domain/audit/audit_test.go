package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"holdco/domain/audit"
)

func TestTheCanonicalFormIsSpelledInOneWay(t *testing.T) {
	t.Parallel()
	const want = `{"action":"a.b","actor":"x","at":"2026-01-01T00:00:00Z","companyId":null,"id":"evt_1",` +
		`"payload":{"a":[1.50,true,null,{}],"z":"\"\\\b\t\n\f\r\u0001/<é` + "\u2028" + `"},"subject":{"id":"i","type":"t"}}`
	for _, entry := range []string{
		` { "subject" : {"type":"t","id":"i"}, "id":"evt_1", "at":"2026-01-01T00:00:00Z", "actor":"x", "action":"a.b", "more": 1,
			"payload": {"z":"\"\\\b\t\n\f\r\u0001\/\u003c\u00e9\u2028","a":[1.50,true,null,{}]} }`, want,
	} {
		if got, err := audit.Canonical([]byte(entry)); err != nil || string(got) != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
}

func TestTheHashOfAnEntryNeverChanges(t *testing.T) {
	t.Parallel()
	form, err := audit.Canonical([]byte(`{"id":"evt_1"}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "1c3cabb74760661893c75f80bbbb228bf9349c33689ac91f17dcb5999af0b475"
	if got := (audit.Link{}).Next(form); got.Number != 1 || got.Hash.String() != want {
		t.Errorf("got %d %s, want 1 %s", got.Number, got.Hash, want)
	}
}

func TestWhatIsNoEntryIsRefused(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"", "null", "[]", "1", "{", `{"id":}`} {
		if got, err := audit.Canonical([]byte(entry)); err == nil {
			t.Errorf("%q is taken as %s", entry, got)
		}
	}
	for _, text := range []string{"", "00", "zz", fmt.Sprintf("%064X", 10)} {
		if _, err := audit.ParseHash(text); err == nil {
			t.Errorf("%q is taken for a hash", text)
		}
	}
}

// chained makes a chain of six entries.
func chained() (items []audit.Item) {
	var at audit.Link
	for number := range 6 {
		form := fmt.Append(nil, number)
		at = at.Next(form)
		items = append(items, audit.Item{ID: fmt.Sprint("evt_", number+1), Link: at, Canonical: form})
	}
	return items
}

func verify(items []audit.Item, head audit.Link) error {
	var chain audit.Chain
	for _, one := range items {
		if err := chain.Add(one); err != nil {
			return err
		}
	}
	return chain.EndAt(head)
}

func TestTheFirstHarmedEntryIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm func(items []audit.Item) []audit.Item
		want error
	}{
		"nothing": {func(items []audit.Item) []audit.Item { return items }, nil},
		"changed": {func(items []audit.Item) []audit.Item {
			items[2].Canonical = []byte("x")
			items[4].Canonical = []byte("x")
			return items
		}, audit.Finding{Harm: audit.Changed, Number: 3, Entry: "evt_3"}},
		"rehashed": {func(items []audit.Item) []audit.Item {
			items[2].Canonical = []byte("x")
			items[2].Link = items[1].Link.Next(items[2].Canonical)
			return items
		}, audit.Finding{Harm: audit.Changed, Number: 4, Entry: "evt_4"}},
		"the last rehashed": {func(items []audit.Item) []audit.Item {
			items[5].Link = items[4].Link.Next([]byte("x"))
			items[5].Canonical = []byte("x")
			return items
		}, audit.Finding{Harm: audit.Changed, Number: 6}},
		"removed": {func(items []audit.Item) []audit.Item {
			return slices.Delete(items, 2, 3)
		}, audit.Finding{Harm: audit.Removed, Number: 3}},
		"the first":        {func(items []audit.Item) []audit.Item { return items[1:] }, audit.Finding{Harm: audit.Removed, Number: 1}},
		"the last removed": {func(items []audit.Item) []audit.Item { return items[:5] }, audit.Finding{Harm: audit.Removed, Number: 6}},
		"removed, its link left": {func(items []audit.Item) []audit.Item {
			items[2].Canonical = nil
			return items
		}, audit.Finding{Harm: audit.Removed, Number: 3, Entry: "evt_3"}},
		"inserted": {func(items []audit.Item) []audit.Item {
			return slices.Insert(items, 3, audit.Item{ID: "evt_x", Link: items[2].Link, Canonical: []byte("x")})
		}, audit.Finding{Harm: audit.Inserted, Number: 3, Entry: "evt_x"}},
		"inserted without a link": {func(items []audit.Item) []audit.Item {
			return slices.Insert(items, 0, audit.Item{ID: "evt_x", Canonical: []byte("x")})
		}, audit.Finding{Harm: audit.Inserted, Entry: "evt_x"}},
		"added": {func(items []audit.Item) []audit.Item {
			return append(items, audit.Item{ID: "evt_x", Link: items[5].Link.Next([]byte("x")), Canonical: []byte("x")})
		}, audit.Finding{Harm: audit.Inserted, Number: 7}},
	} {
		items := chained()
		head := items[5].Link
		if got := verify(c.harm(items), head); !errors.Is(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func FuzzTheCanonicalFormIsItsOwn(f *testing.F) {
	for _, entry := range []string{`{"id":"evt_1","payload":{"b":1e9,"a":"\ud800\u0000"}}`, "{}", "null", `{"at":"\xff"}`} {
		f.Add([]byte(entry))
	}
	f.Fuzz(func(t *testing.T, entry []byte) {
		form, err := audit.Canonical(entry)
		if err != nil {
			return
		}
		if !json.Valid(form) {
			t.Fatalf("%q is no JSON", form)
		}
		if again, err := audit.Canonical(form); err != nil || !bytes.Equal(again, form) {
			t.Errorf("%q becomes %q, %v", form, again, err)
		}
	})
}
