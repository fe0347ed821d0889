package id_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/id"
)

// The vectors are those of the TypeID specification, valid.yml and invalid.yml.
func TestIDsAreTypeIDs(t *testing.T) {
	t.Parallel()
	for suffix, uuid := range map[string]string{
		"00000000000000000000000000": "00000000000000000000000000000000",
		"00000000000000000000000001": "00000000000000000000000000000001",
		"0000000000000000000000000a": "0000000000000000000000000000000a",
		"0000000000000000000000000g": "00000000000000000000000000000010",
		"00000000000000000000000010": "00000000000000000000000000000020",
		"7zzzzzzzzzzzzzzzzzzzzzzzzz": "ffffffffffffffffffffffffffffffff",
		"0123456789abcdefghjkmnpqrs": "0110c8531d0952d8d73e1194e95b5f19",
		"01h455vb4pex5vsknk084sn02q": "01890a5dac96774bbcceb302099a8057",
	} {
		raw, err := hex.DecodeString(uuid)
		if err != nil {
			t.Fatal(err)
		}
		if got := id.New[id.Company]([16]byte(raw)); string(got) != "cmp_"+suffix {
			t.Errorf("%s: %s; want cmp_%s", uuid, got, suffix)
		}
		if got, ok := id.Parse[id.Company]("cmp_" + suffix); string(got) != "cmp_"+suffix || !ok {
			t.Errorf("cmp_%s is refused", suffix)
		}
	}
}

func TestWhatIsNoIDIsRefused(t *testing.T) {
	t.Parallel()
	const good = "01h455vb4pex5vsknk084sn02q"
	for _, text := range []string{
		"", "cmp", "cmp_", "_", good, "_" + good, "cmp" + good, "cmp-" + good, "cmp__" + good, "CMP_" + good, "cm_" + good, "xcmp_" + good,
		"tm_" + good, "tok_" + good,
		"cmp_" + good[1:], "cmp_" + good + "0", "cmp_" + good + "\n", " cmp_" + good,
		"cmp_" + strings.ToUpper(good),
		"cmp_8zzzzzzzzzzzzzzzzzzzzzzzzz", // more than 128 bits
		"cmp_zzzzzzzzzzzzzzzzzzzzzzzzzz",
		"cmp_01h455vb4pex5vsknk084sn02i", // i, l, o and u are not of the alphabet
		"cmp_01h455vb4pel5vsknk084sn02q",
		"cmp_01h455vb4peo5vsknk084sn02q",
		"cmp_01h455vb4peu5vsknk084sn02q",
		"cmp_01h455vb4p-x5vsknk084sn02q",
		"cmp_01h455vb4pe\x005vsknk084sn02q",
		"cmp_01h455vb4pé5vsknk084sn02q",
	} {
		if got, ok := id.Parse[id.Company](text); ok || got != "" {
			t.Errorf("%q is taken for a company's id", text)
		}
	}
}

func TestEveryKindHasItsPrefix(t *testing.T) {
	t.Parallel()
	var uuid [16]byte
	for _, c := range []struct{ id, prefix string }{
		{string(id.New[id.Company](uuid)), "cmp_"},
		{string(id.New[id.Team](uuid)), "tm_"},
		{string(id.New[id.Slot](uuid)), "slt_"},
		{string(id.New[id.Agent](uuid)), "agt_"},
		{string(id.New[id.Token](uuid)), "tok_"},
		{string(id.New[id.Entry](uuid)), "act_"},
		{string(id.New[id.Request](uuid)), "req_"},
	} {
		if c.id != c.prefix+"00000000000000000000000000" {
			t.Errorf("%s; want the prefix %s", c.id, c.prefix)
		}
	}
}

func TestIDsSortAsTheirBytesDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SliceOfN(rapid.Byte(), 16, 16)
		a, b := [16]byte(bits.Draw(t, "a")), [16]byte(bits.Draw(t, "b"))
		first, second := id.New[id.Team](a), id.New[id.Team](b)
		if bytes.Compare(a[:], b[:]) != strings.Compare(string(first), string(second)) {
			t.Fatalf("%s and %s sort another way than %x and %x", first, second, a, b)
		}
		if again, ok := id.Parse[id.Team](string(first)); again != first || !ok {
			t.Fatalf("%s is refused", first)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("tok_01h455vb4pex5vsknk084sn02q")
	f.Add("tok_8zzzzzzzzzzzzzzzzzzzzzzzzz")
	f.Add("tok_")
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := id.Parse[id.Token](text)
		if !ok && got != "" || ok && string(got) != text {
			t.Fatalf("%q is read as %q, %v", text, got, ok)
		}
		if ok && (len(text) != 30 || strings.ToLower(text) != text || strings.ContainsAny(text[4:], "ilou_- \x00")) {
			t.Fatalf("%q is taken for an id", text)
		}
	})
}
