package audit_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/domain/audit"
	"holdco/domain/id"
)

const acme = id.Company("cmp_01j5ze2c4nf8vtkkq4d9w6m7xr")

// newKey is a pair of keys, which differ with the seed.
func newKey(seed byte) (ed25519.PrivateKey, ed25519.PublicKey) {
	private := ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))
	return private, private.Public().(ed25519.PublicKey)
}

func sign(seed byte, statement []byte) audit.Signature {
	private, public := newKey(seed)
	return audit.Signature{Text: ed25519.Sign(private, statement), Key: public}
}

// signed is a head over some links of the chain of chained, with a stub for the first three.
func signed(seed byte, last audit.Link, third audit.Link) audit.Signed {
	head := audit.Head{Company: acme, Link: last, At: time.UnixMilli(1_000).UTC()}
	stub := audit.Stub{Company: acme, First: 1, Last: third, Count: 3, At: time.UnixMilli(500).UTC()}
	return audit.Signed{
		Head: head, Signature: sign(seed, head.Statement()),
		Stub: &audit.SignedStub{Stub: stub, Signature: sign(seed, stub.Statement())},
	}
}

func TestAStatementIsSpelledInOneWay(t *testing.T) {
	t.Parallel()
	items := chained()
	made := signed(1, items[5].Link, items[2].Link)
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{
			made.Statement(),
			"holdco audit head v1\n" + string(acme) + "\n6\n" + items[5].Link.Hash.String() + "\n1970-01-01T00:00:01.000Z\n",
		},
		{audit.Head{}.Statement(), "holdco audit head v1\ninstance\n0\n" + strings.Repeat("0", 64) + "\n\n"},
		{
			made.Stub.Statement(),
			"holdco audit stub v1\n" + string(acme) + "\n1\n3\n" + items[2].Link.Hash.String() + "\n3\n1970-01-01T00:00:00.500Z\n",
		},
	} {
		if string(c.got) != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// spelled is a head as a file has it.
func spelled(of audit.Signed) string { return string(of.Fields().Append(nil)) }

func TestASignedHeadIsReadAndChecked(t *testing.T) {
	t.Parallel()
	items := chained()
	_, key := newKey(1)
	_, other := newKey(2)
	text := spelled(signed(1, items[5].Link, items[2].Link))
	for name, c := range map[string]struct {
		text string
		keys []ed25519.PublicKey
		want string // of the error
	}{
		"as it is":        {text, []ed25519.PublicKey{key}, ""},
		"an answer":       {`{"data":` + text + `,"meta":{}}`, []ed25519.PublicKey{key}, ""},
		"a later key":     {text, []ed25519.PublicKey{other, key}, ""},
		"another key":     {text, []ed25519.PublicKey{other}, "not what the key has signed"},
		"no key":          {text, nil, "not what the key has signed"},
		"a short key":     {text, []ed25519.PublicKey{key[:8]}, "not what the key has signed"},
		"another place":   {strings.Replace(text, `"place":6`, `"place":5`, 1), []ed25519.PublicKey{key}, "the head is not"},
		"another company": {strings.Replace(text, `xr","place"`, `xq","place"`, 1), []ed25519.PublicKey{key}, "the head is not"},
		"another time":    {strings.Replace(text, "01.000Z", "02.000Z", 1), []ed25519.PublicKey{key}, "the head is not"},
		"another count":   {strings.Replace(text, `"count":3`, `"count":4`, 1), []ed25519.PublicKey{key}, "the stub is not"},
		"a stub of another": {
			strings.Replace(text, `xr","firstPlace"`, `xq","firstPlace"`, 1), []ed25519.PublicKey{key}, "of another chain",
		},
		"no JSON":      {"", nil, "must be a JSON object"},
		"a list":       {"[]", nil, "must be a JSON object"},
		"no hash":      {"{}", nil, "64 lower-case hexadecimal digits"},
		"no key in it": {strings.Replace(text, `"publicKey":"`, `"publicKey":"A`, 1), nil, "32 bytes in base64"},
		"no time":      {strings.Replace(text, "01.000Z", "", 1), nil, "sealedAt"},
	} {
		got, err := audit.ParseSigned([]byte(c.text))
		if err == nil {
			err = got.Check(c.keys...)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestAStubStandsForWhatWasRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm  func(items []audit.Item) []audit.Item
		count int64
		want  error
	}{
		"all of it": {func(items []audit.Item) []audit.Item { return items[3:] }, 3, nil},
		"some of it": {func(items []audit.Item) []audit.Item {
			return slices.Delete(items, 1, 2)
		}, 1, nil},
		"links that are left": {func(items []audit.Item) []audit.Item {
			items[0].Canonical, items[2].Canonical = nil, nil
			return items
		}, 2, nil},
		"all that there is": {func([]audit.Item) []audit.Item { return nil }, 3, audit.Finding{Harm: audit.Removed, Number: 4}},
		"more than it says": {func(items []audit.Item) []audit.Item { return items[3:] }, 2, audit.Finding{Harm: audit.Removed, Number: 1}},
		"one after it": {func(items []audit.Item) []audit.Item {
			return items[4:]
		}, 3, audit.Finding{Harm: audit.Removed, Number: 4}},
		"one within it was changed": {func(items []audit.Item) []audit.Item {
			items[1].Canonical = []byte("x")
			return items
		}, 0, audit.Finding{Harm: audit.Changed, Number: 2, Entry: "evt_2"}},
		"its end was changed": {func(items []audit.Item) []audit.Item {
			items[2].Canonical = []byte("x")
			items[2].Link.Hash = audit.Hash{1}
			return items[2:]
		}, 2, audit.Finding{Harm: audit.Changed, Number: 3, Entry: "evt_3"}},
	} {
		items := chained()
		head := items[5].Link
		var chain audit.Chain
		chain.Allow(audit.Stub{First: 1, Last: items[2].Link, Count: c.count})
		var got error
		for _, one := range c.harm(items) {
			if got == nil {
				got = chain.Add(one)
			}
		}
		if got == nil {
			got = chain.EndAt(head)
		}
		if !errors.Is(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// export is an export of as many entries.
func export(n int) (lines []string, head audit.Link) {
	for number := range n {
		entry := fmt.Sprintf(`{"id":"act_%d","companyId":%q,"category":"a","action":"a.b","subject":{"type":"run","id":"run_1"},`+
			`"related":{"issueId":null,"agentId":"agt_1","runId":"run_1"},"payload":{"n":%d,"agentId":"agt_1"}}`, number+1, acme, number)
		form, err := audit.Canonical([]byte(entry))
		if err != nil {
			panic(err)
		}
		head = head.Next(form)
		lines = append(lines, fmt.Sprintf(`%s,"place":%d,"hash":"%s"}`, strings.TrimSuffix(entry, "}"), head.Number, head.Hash))
	}
	return lines, head
}

func TestTheFirstHarmedLineOfAnExportIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm func(lines []string) []string
		want string // of the error
	}{
		"nothing":       {func(lines []string) []string { return lines }, ""},
		"another order": {func(lines []string) []string { slices.Reverse(lines); return lines }, ""},
		"empty lines":   {func(lines []string) []string { return append(lines, "", " ") }, ""},
		"changed": {func(lines []string) []string {
			lines[2] = strings.Replace(lines[2], `"n":2`, `"n":3`, 1)
			return lines
		}, "act_3 was changed, number 3"},
		"another category": {func(lines []string) []string {
			lines[2] = strings.Replace(lines[2], `"category":"a"`, `"category":"b"`, 1)
			return lines
		}, "act_3 was changed, number 3"},
		"related to another": {func(lines []string) []string {
			lines[2] = strings.Replace(lines[2], `null,"agentId":"agt_1"`, `null,"agentId":"agt_2"`, 1)
			return lines
		}, "act_3 was changed, number 3"},
		"no relation": {func(lines []string) []string {
			lines[2] = strings.Replace(lines[2], `"runId":"run_1"`, `"runId":null`, 1)
			return lines
		}, "act_3 was changed, number 3"},
		"a member more": {func(lines []string) []string {
			lines[2] = strings.Replace(lines[2], `{"id"`, `{"x":1,"id"`, 1)
			return lines
		}, `line 3: it is no entry of an export: json: unknown field "x"`},
		"removed":  {func(lines []string) []string { return slices.Delete(lines, 2, 3) }, "removed, number 3"},
		"the end":  {func(lines []string) []string { return lines[:4] }, "removed, number 5"},
		"inserted": {func(lines []string) []string { return slices.Insert(lines, 2, lines[4]) }, "act_5 was inserted, number 5"},
		"cut":      {func(lines []string) []string { return append(lines[:4], lines[4][:20]) }, "line 5: it is no entry of an export"},
		"more":     {func(lines []string) []string { lines[1] += "{}"; return lines }, "line 2: it is more than an entry"},
		"no place": {func(lines []string) []string { return append(lines, `{"id":"act_1"}`) }, "line 6: it is no entry of an export"},
		"two of them": {func(lines []string) []string {
			return append(lines, strings.Replace(lines[4], "xr", "xq", 1))
		}, "line 6 is an entry of"},
		"nothing left": {func([]string) []string { return nil }, "there are no entries"},
	} {
		lines, head := export(5)
		var chain audit.Chain
		chain.Expect(head)
		err := chain.AddExport(strings.NewReader(strings.Join(c.harm(lines), "\n")), nil)
		if err == nil {
			err = chain.End()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// An export of more entries than are sorted at a time is followed in constant memory.
func TestALongExportIsFollowed(t *testing.T) {
	t.Parallel()
	lines, head := export(25_000)
	for n := 0; n+1 < len(lines); n += 7 {
		lines[n], lines[n+1] = lines[n+1], lines[n]
	}
	var chain audit.Chain
	if err := chain.AddExport(strings.NewReader(strings.Join(lines, "\n")), new(acme)); err != nil || chain.Verified().Link != head {
		t.Errorf("%+v, %v", chain.Verified(), err)
	}
}
