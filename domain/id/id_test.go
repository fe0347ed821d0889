package id_test

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestAnIDTellsWhenItWasMade(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))
		ms := rapid.Int64Range(0, 1<<48-1).Draw(t, "ms")
		for i := range 6 {
			raw[i] = byte(ms >> (40 - 8*i))
		}
		if got := id.Time(id.New[id.Settlement](raw)); got.UnixMilli() != ms || got.Location() != time.UTC {
			t.Fatalf("%s; want %d ms", got, ms)
		}
	})
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

func TestAnIDHasThePrefixOfItsKind(t *testing.T) {
	t.Parallel()
	var uuid [16]byte
	for _, c := range []struct{ id, prefix string }{
		{string(id.New[id.Company](uuid)), "cmp_"},
		{string(id.New[id.Entry](uuid)), "act_"},
		{string(id.New[id.Lead](uuid)), "cmp_"},
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

func TestIDsMadeElsewhereHaveThePrefixAndAFewCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ind_01h455vb4pex5vsknk084sn02q":  true,
		"ind_1":                           true,
		"ind_Health-Care_2":               true,
		"ind__":                           true,
		"ind_-":                           true,
		"ind_ind_":                        true,
		"ind_" + strings.Repeat("z", 64):  true,
		"ind_" + strings.Repeat("z", 65):  false,
		"":                                false,
		"ind":                             false,
		"ind_":                            false,
		"IND_1":                           false,
		"vrt_1":                           false,
		"1":                               false,
		" ind_1":                          false,
		"ind_1 ":                          false,
		"ind_1\n":                         false,
		"ind_a.b":                         false,
		"ind_a/b":                         false,
		"ind_a%20":                        false,
		"ind_\x00":                        false,
		"ind_é":                           false,
		"ind_\xff":                        false,
		"ind_٣":                           false, // a digit, but not of ASCII
		"ind_" + strings.Repeat("é", 32):  false,
		"ind_" + strings.Repeat("z", 1e6): false,
	} {
		got, ok := id.ParseForeign[id.Industry](text)
		if ok != want || ok && string(got) != text || !ok && got != "" {
			t.Errorf("%.80q is read as %q, %v", text, got, ok)
		}
	}
}

func TestIDsOfHoldcoAreReadAsThoseMadeElsewhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		made := id.New[id.Lead]([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid")))
		if got, ok := id.ParseForeign[id.Lead](string(made)); got != made || !ok {
			t.Fatalf("%s is read as %s, %v", made, got, ok)
		}
	})
}

func TestDerivedIDsAreThoseOfTheirParts(t *testing.T) {
	t.Parallel()
	// Ids are kept for good, so what makes them must not change.
	if got, want := id.Derive[id.Lead]("website", "acme.example"), id.Lead("cmp_0zksxxc14mja3vn2p3gk0g1p4y"); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

func TestOtherPartsMakeAnotherID(t *testing.T) {
	t.Parallel()
	part := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 }))
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.SliceOfN(part, 1, 4).Draw(t, "one")
		other := rapid.SliceOfN(part, 1, 4).Draw(t, "other")
		first, second := id.Derive[id.Contact](one...), id.Derive[id.Contact](other...)
		if (first == second) != slices.Equal(one, other) {
			t.Fatalf("%q makes %s, %q makes %s", one, first, other, second)
		}
		if got, ok := id.Parse[id.Contact](string(first)); got != first || !ok {
			t.Fatalf("%s is refused", first)
		}
		if id.Derive[id.Contact](one...) != first {
			t.Fatalf("%q makes several ids", one)
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

func FuzzParseForeign(f *testing.F) {
	f.Add("cam_spring-2026")
	f.Add("cam_")
	f.Add("cmp_01h455vb4pex5vsknk084sn02q")
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := id.ParseForeign[id.Campaign](text)
		if !ok && got != "" || ok && string(got) != text {
			t.Fatalf("%q is read as %q, %v", text, got, ok)
		}
		if want := regexp.MustCompile(`^cam_[0-9A-Za-z_-]{1,64}$`).MatchString(text); ok != want {
			t.Fatalf("%q: %v", text, ok)
		}
	})
}
