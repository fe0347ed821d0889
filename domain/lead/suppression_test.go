package lead_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

const suppressionKey = lead.SuppressionKey("key")

// incoming reads a draft, which must be valid.
func incoming(t testing.TB, d lead.Draft) lead.Incoming {
	t.Helper()
	read, err := d.Read(catalog, lead.Rules{})
	if err != nil {
		t.Fatalf("%+v: %v", d, err)
	}
	return read
}

func suppressing(made ...lead.Suppression) lead.Suppressions {
	return lead.NewSuppressions(suppressionKey, made)
}

// spellings are ways to write the same name and address.
var spellings = []struct{ name, email string }{
	{"Müller & Söhne GmbH", "anna@bücher.example"},
	{"MÜLLER & SÖHNE GMBH", "Anna@BÜCHER.example"},
	{"Müller  & Söhne GmbH", "mailto:anna@bücher.example"},
	{"Müller &\u00a0Söhne\u2003GmbH", "MAILTO:anna@b%C3%BCcher.example?subject=Hello"},
	{"Mü\u200bller & Sö\u00adhne GmbH\ufeff", "anna@xn--bcher-kva.example"},
	{"Mu\u0308ller & So\u0308hne G\u2060mbH", "anna@bücher.example."},
	{"M\u200eüller & S\u200cöhne GmbH\ufe0f", "an\u200bna@b\u00adücher.example"},
	{"\u3000Ｍüller ＆ Söhne Ｇｍｂｈ", "ａｎｎａ＠bücher。example"},
}

func TestALeadIsForgottenHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	for _, first := range spellings {
		stored := incoming(t, lead.Draft{ID: "cmp_crm", Name: first.name, Email: first.email, Website: "acme.example"}).Lead
		described, err := suppressionKey.Suppress("sup_2", lead.Draft{Name: first.name, Email: first.email}, lead.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := suppressionKey.Suppress("sup_3", lead.Draft{Email: first.email}, lead.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, made := range []lead.Suppression{suppressionKey.Forget("sup_1", stored, noon), described, alone} {
			for _, then := range spellings {
				if !suppressing(made).Has(incoming(t, lead.Draft{Name: then.name, Email: then.email})) {
					t.Errorf("%s of %+q lets %+q in", made.ID, first, then)
				}
			}
			if suppressing(made).Has(incoming(t, lead.Draft{Name: "Müller", Email: "ben@bücher.example"})) {
				t.Errorf("%s suppresses another one", made.ID)
			}
		}
	}
}

// What released programs have made must hold: a digest of the name in lower case, and of the address likewise, as they were sent.
func TestASuppressionOfAFormerVersionHolds(t *testing.T) {
	t.Parallel()
	digest := func(parts ...string) lead.SuppressionDigest {
		mac := hmac.New(sha256.New, []byte(suppressionKey))
		_, _ = mac.Write([]byte(strings.Join(parts, "\x00") + "\x00"))
		return lead.SuppressionDigest(base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16]))
	}
	has := func(d lead.Draft, parts ...string) bool {
		made := lead.Suppression{ID: "sup_1", Digests: []lead.SuppressionDigest{digest(parts...)}}
		return suppressing(made).Has(incoming(t, d))
	}
	if !has(lead.Draft{Name: "Acme \u200b GmbH", Email: "mailto:Anna@acme.example"},
		"email", "mailto:anna@acme.example", "name", "acme \u200b gmbh") {
		t.Error("one that was spelled in an odd way does not hold against this way")
	}
	for _, then := range []lead.Draft{
		{Name: "ACME GmbH", Email: "Anna@Acme.example"}, {Name: "Acme \u200b GmbH", Email: "mailto:anna@acme.example."},
	} {
		if !has(then, "email", "anna@acme.example", "name", "acme gmbh") {
			t.Errorf("one that was spelled as usual does not hold against %+q", then.Name)
		}
	}
	if !has(lead.Draft{Name: " Acme  GmbH"}, "name", "acme  gmbh") || !has(lead.Draft{Name: "Acme  GmbH"}, "name", "acme gmbh") {
		t.Error("of a name alone")
	}
}

// In the store of a former version a lead that is known by its name alone has the id of how that was spelled.
func TestALeadKnownByItsNameIsForgottenHoweverThatIsSpelled(t *testing.T) {
	t.Parallel()
	stored := lead.Lead{ID: id.Derive[id.Lead]("name", "acme  gmbh"), Name: "Acme  GmbH"}
	known := suppressing(suppressionKey.Forget("sup_1", stored, noon))
	for _, name := range []string{"Acme GmbH", "ACME  GmbH", "Acme\u00a0GmbH"} {
		if !known.Has(incoming(t, lead.Draft{Name: name})) {
			t.Errorf("%+q comes in", name)
		}
	}
	if known.Has(incoming(t, lead.Draft{Name: "Acme"})) {
		t.Error("another one is suppressed")
	}
}

// By a key of few fields a line is of a lead that has another name by now, or another website.
func TestALeadIsForgottenByTheKeyThatMadeItsID(t *testing.T) {
	t.Parallel()
	const spelled, respelled = "anna@bücher.example", "mailto:Anna@xn--bcher-kva.example"
	for _, c := range []struct {
		stored     id.Lead
		key        string
		now, other lead.Draft // what is of the lead that was stored, if anything, and of another one
	}{
		{id.Derive[id.Lead]("key", "email", spelled), "email", lead.Draft{Email: respelled}, lead.Draft{Email: "ben@bücher.example"}},
		{id.Derive[id.Lead]("email", spelled), "email", lead.Draft{Email: respelled}, lead.Draft{Email: "ben@bücher.example"}},
		{id.Derive[id.Lead]("key", "website", "acme.example", "email", spelled), "website,email",
			lead.Draft{Website: "https://acme.example", Email: respelled}, lead.Draft{Website: "bolt.example", Email: respelled}},
		{id.Derive[id.Lead]("website", "https://www.acme.example/"), "website",
			lead.Draft{Website: "acme.example"}, lead.Draft{Website: "bolt.example"}},
		{id.Derive[id.Lead]("phone", "+49 30 123456"), "phone", lead.Draft{Phone: "+49-30-123456"}, lead.Draft{Phone: "+49 30 123457"}},
		{"cmp_crm", "email", lead.Draft{}, lead.Draft{Email: respelled}},
		{id.Derive[id.Lead]("phone", "+49 30 123456"), "email", lead.Draft{}, lead.Draft{Email: respelled}},
	} {
		stored := lead.Lead{ID: c.stored, Name: "Acme", Website: "https://www.acme.example/", Email: spelled, Phone: "+49 30 123456"}
		known := suppressing(suppressionKey.Forget("sup_1", stored, noon))
		has := func(d lead.Draft) bool {
			d.Name = "Bolt"
			read, err := d.Read(catalog, lead.Rules{Key: lead.Key(c.key)})
			if err != nil {
				t.Fatal(err)
			}
			return known.Has(read)
		}
		if c.now.Email+c.now.Website+c.now.Phone != "" && !has(c.now) {
			t.Errorf("%s, by %s: %+v comes in", c.stored, c.key, c.now)
		}
		if has(c.other) {
			t.Errorf("%s, by %s: %+v is suppressed", c.stored, c.key, c.other)
		}
	}
}

func TestALeadKeepsAnIDThatItsSpellingMade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stored id.Lead
		draft  lead.Draft
		usual  bool // the spelling is: the id is derived from it now as it was
	}{
		{id.Derive[id.Lead]("name", "müller & söhne gmbh"), lead.Draft{Name: "Müller & Söhne GmbH"}, true},
		{id.Derive[id.Lead]("name", "acme  gmbh"), lead.Draft{Name: "Acme  GmbH"}, false},
		{id.Derive[id.Lead]("name", "acme™"), lead.Draft{Name: "Acme™"}, false},
		{id.Derive[id.Lead]("key", "email", "info@bücher.example", "name", "acme"),
			lead.Draft{Name: "Acme", Email: "info@bücher.example"}, false},
		{id.Derive[id.Lead]("key", "email", "mailto:info@acme.example", "name", "acme"),
			lead.Draft{Name: "Acme", Email: "mailto:info@acme.example"}, false},
		{id.Derive[id.Lead]("email", "mailto:info@acme.example"), lead.Draft{Name: "Acme", Email: "mailto:info@acme.example"}, false},
	} {
		if got := incoming(t, c.draft).ID; (got == c.stored) != c.usual {
			t.Errorf("%+q: %s is the id of %s: %v", c.draft.Name, got, c.stored, !c.usual)
		}
		former := lead.Lead{
			ID: c.stored, Name: c.draft.Name, Email: c.draft.Email, Rating: lead.Unrated, Enrichment: lead.None,
			CreatedAt: acme().CreatedAt, UpdatedAt: acme().UpdatedAt,
		}
		now, change := importing(t, map[id.Lead]lead.Lead{c.stored: former}, lead.Rules{}, c.draft)
		if len(now) != 1 || change.Inserted > 0 {
			t.Errorf("%+q: %+v: %+v", c.draft.Name, change, now)
		}
		if _, again := importing(t, now, lead.Rules{}, c.draft); again != (lead.Change{Unchanged: 1}) {
			t.Errorf("%+q, again: %+v", c.draft.Name, again)
		}
	}
}

func TestALeadThatWasForgottenDoesNotComeBackInParts(t *testing.T) {
	t.Parallel()
	forgotten := incoming(t, lead.Draft{ID: "cmp_1", Name: "Acme", Website: "acme.example", Email: "anna@acme.example"}).Lead
	known := suppressing(suppressionKey.Forget("sup_1", forgotten, noon))
	for name, c := range map[string]struct {
		stored, then lead.Draft
		want         int // lines that are left out
	}{
		"the name comes after the website": {
			lead.Draft{ID: "cmp_2", Name: "Bolt", Website: "acme.example"},
			lead.Draft{ID: "cmp_2", Name: "Acme", Absent: lead.EveryField}, 1,
		},
		"the address comes after the name": {
			lead.Draft{ID: "cmp_2", Name: "Acme"},
			lead.Draft{ID: "cmp_2", Name: "acme", Email: "mailto:anna@acme.example", Absent: lead.WebsiteField}, 1,
		},
		"the website is another one then": {
			lead.Draft{ID: "cmp_2", Name: "Bolt", Website: "acme.example"},
			lead.Draft{ID: "cmp_2", Name: "Acme", Website: "bolt.example", Absent: lead.PhoneField}, 0,
		},
	} {
		stored, then := incoming(t, c.stored).Lead, incoming(t, c.then).Digested()
		if c.want == 1 && c.then.Email == "" && known.Has(then) {
			t.Errorf("%s: the line alone is suppressed", name)
		}
		_, leftOut := lead.Complete([]lead.Incoming{then}, map[id.Lead]lead.Summary{"cmp_2": {ID: "cmp_2"}},
			map[id.Lead]lead.Lead{"cmp_2": stored}, known)
		if leftOut != c.want {
			t.Errorf("%s: %d lines are left out", name, leftOut)
		}
	}
}

// Some letters are several in another case (ß and SS), some have more than two (σ, ς and Σ), and Unicode folds Cherokee to upper case.
func TestNoCaseOfALetterBringsALeadBack(t *testing.T) {
	t.Parallel()
	for r := rune('A'); r <= unicode.MaxRune; r++ {
		cases := []string{strings.ToUpper(string(r)), strings.ToLower(string(r)), string(unicode.SimpleFold(r))}
		if r == '\u0130' || r == '\u0131' || !unicode.IsLetter(r) { // Turkish: an i with a dot in upper case, and one without
			continue
		}
		first := lead.Draft{Name: "x" + string(r), Email: "x" + string(r) + "@acme.example"}
		if cases = slices.DeleteFunc(cases, func(other string) bool { return other == string(r) }); len(cases) == 0 {
			continue
		}
		byBoth, err := suppressionKey.Suppress("sup_1", first, lead.Rules{}, noon)
		if err != nil {
			t.Fatalf("%+q: %v", first.Name, err)
		}
		byEmail, err := suppressionKey.Suppress("sup_2", lead.Draft{Email: first.Email}, lead.Rules{}, noon)
		if err != nil {
			t.Fatalf("%+q: %v", first.Name, err)
		}
		for _, other := range cases {
			for made, then := range map[*lead.Suppression]lead.Draft{
				&byBoth: {Name: "X" + other, Email: first.Email}, &byEmail: {Name: "Any", Email: "X" + other + "@acme.example"},
			} {
				if !suppressing(*made).Has(incoming(t, then)) {
					t.Errorf("%+q lets %+q, %+q in", first.Name, then.Name, then.Email)
				}
			}
		}
	}
	plain, err := suppressionKey.Suppress("sup_1", lead.Draft{Email: "info@acme.example"}, lead.Rules{}, noon)
	if err != nil || !suppressing(plain).Has(incoming(t, lead.Draft{Name: "A", Email: `"in\fo"@acme.example`})) {
		t.Errorf("an escaped letter is another one, or %v", err)
	}
	dotted, err := suppressionKey.Suppress("sup_1", lead.Draft{Email: "\u0130x@acme.example"}, lead.Rules{}, noon)
	if err != nil || suppressing(dotted).Has(incoming(t, lead.Draft{Name: "A", Email: "ix@acme.example"})) {
		t.Errorf("another address is suppressed, or %v", err)
	}
}

func TestAWebsiteWithAPathSuppressesThatPageAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		suppressed lead.Draft
		holds, not []lead.Draft
	}{
		{
			suppressed: lead.Draft{Website: "https://www.plat.example/Acme/"},
			holds:      []lead.Draft{{Name: "A", Website: "plat.example/acme"}, {Name: "B", ID: "cmp_1", Website: "plat.example/ACME/"}},
			not:        []lead.Draft{{Name: "A", Website: "plat.example/baker"}, {Name: "A", Website: "plat.example"}},
		},
		{
			suppressed: lead.Draft{Name: "Acme", Website: "https://plat.example/acme"},
			holds:      []lead.Draft{{Name: "acme", Website: "plat.example"}, {Name: "Acme", Website: "plat.example/contact"}},
			not:        []lead.Draft{{Name: "Baker", Website: "plat.example/acme"}},
		},
		{
			suppressed: lead.Draft{Website: "plat.example"},
			holds:      []lead.Draft{{Name: "A", Website: "plat.example/baker"}, {Name: "B", Website: "www.plat.example"}},
		},
	} {
		made, err := suppressionKey.Suppress("sup_1", c.suppressed, lead.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range c.holds {
			if !suppressing(made).Has(incoming(t, one)) {
				t.Errorf("%+v lets %+v in", c.suppressed, one)
			}
		}
		for _, one := range c.not {
			if suppressing(made).Has(incoming(t, one)) {
				t.Errorf("%+v suppresses %+v", c.suppressed, one)
			}
		}
	}
}

func TestANameAloneSuppressesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		draft lead.Draft
		path  string
	}{{lead.Draft{Name: "Acme"}, "name"}, {lead.Draft{}, ""}} {
		_, err := suppressionKey.Suppress("sup_1", c.draft, lead.Rules{}, noon)
		if got := codes(err); len(got) != 1 || got[c.path] != fault.Required {
			t.Errorf("%+v: %v", c.draft, got)
		}
	}
}

func TestWhatIsWrittenAroundAnAddressIsLeftOut(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"Anna@Acme.example": "Anna@Acme.example", "mailto:anna@acme.example": "anna@acme.example",
		"anna@acme.example.":      "anna@acme.example",
		"an\u200bna@acme.example": "anna@acme.example", "ａｎｎａ@acme.example": "anna@acme.example",
		"anna@bücher.example": "anna@bücher.example",
		"anna@a_b.example":    "anna@a_b.example", "anna@[192.0.2.1]": "anna@[192.0.2.1]", `"anna"@acme.example`: `"anna"@acme.example`,
		"anna@localhost": "anna@localhost", "anna.o'neil+news@acme.example": "anna.o'neil+news@acme.example",
		"mailto:": "", "mailto:mailto:anna@acme.example": "", "<anna@acme.example>": "",
		"Anna<anna@acme.example": "", "anna@acme..example": "",
		"anna@acme.example..": "", "anna@acme.example,ben@acme.example": "", "anna@-.example": "", "anna@xn--a.example": "",
		"anna\u202e@acme.example": "",
	} {
		made, err := lead.Draft{Name: "Acme", Email: sent}.Lead(catalog)
		if (err != nil) != (want == "") || made.Email != want {
			t.Errorf("%q: %q, %v; want %q", sent, made.Email, err, want)
		}
	}
}

// What is written in an address stands for other characters than are sent, and is looked at again.
func TestAnAddressIsRefusedForWhatItsEscapesAndLettersStandFor(t *testing.T) {
	t.Parallel()
	const long, most = "\uFDF2", 61 // U+FDF2 is four letters in NFKC
	for sent, want := range map[string]string{
		"mailto:a%00b@acme.example": fault.InvalidCharacters, "mailto:a%7Fb@acme.example": fault.InvalidCharacters,
		"mailto:a%FFb@acme.example": fault.InvalidCharacters, "mailto:anna@acme%00.example": fault.InvalidFormat,
		"mailto:a%E2%80%A9b@acme.example": fault.InvalidFormat, "mailto:a%0Ab@acme.example": fault.InvalidFormat,
		strings.Repeat(long, most) + "@b.example":           "",
		strings.Repeat(long, most+1) + "@b.example":         fault.TooLong,
		"mailto:" + strings.Repeat("a", 244) + "@b.example": fault.TooLong, // as long as it was sent
	} {
		draft := lead.Draft{Name: "Acme", Email: sent, Contacts: []lead.ContactDraft{{Email: sent}}}
		made, err := draft.Lead(catalog)
		if got := codes(err); got["email"] != want || got["contacts.0.email"] != want || len(made.Email) > 4*lead.EmailLength {
			t.Errorf("%.80q: %v; want %q", sent, got, want)
		}
		if read, err := draft.Read(catalog, lead.Rules{Lenient: true}); want != "" && read.Email != "" {
			t.Errorf("%.80q: %q, %v", sent, read.Email, err)
		}
	}
}

func TestAnAddressInBracketsIsANumber(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]bool{
		"[192.0.2.1]": true, "[2001:db8::1]": true, "[IPv6:2001:db8::1]": true, "[ipv6:::1]": true, "[]": false, "[<script>]": false,
		"[IPv6:]": false, "[IPv6:192.0.2.1]": false, "[192.0.2]": false, "[fe80::1%<script>]": false, "[IPv6:fe80::1%a]": false,
		"[[192.0.2.1]]": false, "[": false, "[acme.example]": false,
	} {
		if _, err := (lead.Draft{Name: "Acme", Email: "a@" + domain}).Lead(catalog); (err == nil) != want {
			t.Errorf("a@%s: %v", domain, err)
		}
	}
}

// What is exported can be imported.
func TestAKeptAddressIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "B", ".", "@", "\"", "%00", "%FF", "%20", "%40", "%2541", "%C3%BC", "%E2%80%AE", "\uFDF2", "ü", "¨",
			"．", "\u00ad", "\u200f", "[", "]", ":", "mailto:", "mailto%3A", "?", "e\u0301"}),
		rapid.StringN(1, 1, -1))
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.SampledFrom([]string{"", "mailto:", "MAILTO:"}).Draw(t, "scheme") +
			strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "local"), "") + rapid.SampledFrom([]string{
			"@b.example", "@bücher.example.", "@b。example。", "@b.example?subject=a", "@[192.0.2.1]", "@b%2Eexample%2E.",
			"@b.example\u00ad.",
		}).Draw(t, "domain")
		made, err := lead.Draft{Name: "Acme", Email: sent}.Lead(catalog)
		if err != nil {
			return // it is not kept
		}
		again, err := lead.Draft{Name: "Acme", Email: made.Email}.Lead(catalog)
		if err != nil || again.Email != made.Email || again.ID != made.ID {
			t.Fatalf("%+q: %+q %s, and of that %+q %s, %v", sent, made.Email, made.ID, again.Email, again.ID, err)
		}
	})
}

func TestANameIsKeptWithoutWhatNobodySees(t *testing.T) {
	t.Parallel()
	made := incoming(t, lead.Draft{
		Name: "Ac\u00adme \u00a0 GmbH\u200b", Contacts: []lead.ContactDraft{{Name: "Anna\u2003Muster", Title: "\ufeffCEO"}},
	})
	if made.Name != "Acme GmbH" || made.Contacts[0].Name != "Anna Muster" || made.Contacts[0].Title != "CEO" {
		t.Errorf("%+q", made.Name)
	}
	for _, kept := range []string{"می\u200cخواهم", "\u200f\u05d0", "ＮＴＴ", "Acme™"} {
		if got := incoming(t, lead.Draft{Name: kept}).Name; got != kept {
			t.Errorf("%+q: %+q", kept, got)
		}
	}
	if _, err := (lead.Draft{Name: "\xff Acme  "}).Lead(catalog); codes(err)["name"] != fault.InvalidCharacters {
		t.Error(err)
	}
}
