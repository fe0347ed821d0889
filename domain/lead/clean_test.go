package lead_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nyaruka/phonenumbers"
	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestAWebsiteIsKeptAsItsDomain(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"acme.example": "acme.example", "HTTP://www.Acme.Example:80/": "acme.example",
		"https://shop.acme.example/berlin?x=1#top": "shop.acme.example",
		"//acme.example/a":                         "acme.example", "acme.example.": "acme.example", "acme.example:8080/a": "acme.example",
		"www.acme.example": "acme.example", "www.com": "www.com", "www.co.uk": "www.co.uk", "acme.co.uk": "acme.co.uk",
		"bücher.example": "xn--bcher-kva.example", "XN--BCHER-KVA.example": "xn--bcher-kva.example", "acme.github.io": "acme.github.io",
		"github.io": "github.io", "co.uk": "", "com": "", "localhost": "", "intranet/a": "", "192.0.2.1": "", "http://[2001:db8::1]/": "",
		"info@acme.example": "", "https://anna:1@acme.example": "", "ftp://acme.example": "", "acme": "", "a_b.example": "",
		"-acme.example": "", "acme..example": "", "acme example": "", "https://": "", "none": "", "mailto:info@acme.example": "",
		strings.Repeat("a", 64) + ".example": "",
	} {
		made, err := lead.Draft{Name: "Acme", Website: sent}.Lead(catalog)
		if want == "" {
			if diff := cmp.Diff(map[string]string{"website": fault.InvalidFormat}, codes(err)); diff != "" {
				t.Errorf("%q: %q, %s", sent, made.Website, diff)
			}
		} else if made.Website != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", sent, made.Website, err, want)
		}
	}
}

func TestAPhoneIsKeptInTheInternationalFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent   string
		region lead.Region
		want   string
	}{
		{"+49 30 123456", "", "+4930123456"},
		{"+49 (0)30 123456", "", "+4930123456"},
		{"+49 030 123456", "", "+4930123456"},
		{"030 123456", "DE", "+4930123456"},
		{"0049 30 123456", "DE", "+4930123456"},
		{"030 123456", "", ""},
		{"+1 (212) 555-0100", "DE", "+12125550100"},
		{"+1 212 555 0100 ext. 5", "", "+12125550100"},
		{"+39 06 555 01234", "", "+390655501234"},
		{"tel:+4930123456", "", "+4930123456"},
		{"+1 555 0100", "", ""}, // a local number
		{"call me", "DE", ""},
		{"+999 123456", "", ""},
		{"+49", "", ""},
		{"+", "", ""},
		{"+49 30 12345678901234567890", "", ""},
	} {
		made, err := lead.Draft{Name: "Acme", Phone: c.sent}.Read(catalog, lead.Rules{Region: c.region})
		if c.want == "" {
			if diff := cmp.Diff(map[string]string{"phone": fault.InvalidFormat}, codes(err)); diff != "" {
				t.Errorf("%q: %q, %s", c.sent, made.Phone, diff)
			}
		} else if made.Phone != c.want || err != nil {
			t.Errorf("%q: %q, %v; want %q", c.sent, made.Phone, err, c.want)
		}
	}
}

// Most numbers are read without the library, which must not be seen.
func TestAPhoneIsThatWhichTheLibraryReads(t *testing.T) {
	t.Parallel()
	var plans []int
	for code := range phonenumbers.GetSupportedCallingCodes() {
		plans = append(plans, code)
	}
	rapid.Check(t, func(t *rapid.T) {
		sent := "+" + strconv.Itoa(rapid.SampledFrom(plans).Draw(t, "code")) + rapid.StringMatching(`[ -]?[0-9 -]{0,15}`).Draw(t, "number")
		want := ""
		if number, err := phonenumbers.Parse(sent, ""); err == nil &&
			phonenumbers.IsPossibleNumberWithReason(number) == phonenumbers.IS_POSSIBLE {
			want = phonenumbers.Format(number, phonenumbers.E164)
		}
		if made, _ := (lead.Draft{Name: "Acme", Phone: sent}).Lead(catalog); made.Phone != want {
			t.Fatalf("%q: %q; want %q", sent, made.Phone, want)
		}
	})
}

func TestACleanValueStaysAsItIs(t *testing.T) {
	t.Parallel()
	rules := lead.Rules{Region: "DE"}
	drafts := rapid.Custom(func(t *rapid.T) lead.Draft {
		return lead.Draft{
			Name: "Acme",
			Website: rapid.StringMatching(`(https?://)?(WWW\.|www\.)?[a-zäé0-9-]{1,5}\.(example|co\.uk|com)(:80)?(/[a-z]{0,3})?`).
				Draw(t, "website"),
			Phone: rapid.StringMatching(`(\+49|0)[ -]?(30|171)[ -]?[0-9]{5,8}`).Draw(t, "phone"),
		}
	}).Filter(func(draft lead.Draft) bool {
		_, err := draft.Read(catalog, rules)
		return err == nil
	})
	rapid.Check(t, func(t *rapid.T) {
		draft := drafts.Draw(t, "draft")
		first, err := draft.Read(catalog, rules)
		if err != nil {
			t.Fatal(err)
		}
		draft.Website, draft.Phone = first.Website, first.Phone
		again, err := draft.Read(catalog, lead.Rules{})
		if err != nil || again.Website != first.Website || again.Phone != first.Phone {
			t.Fatalf("%+v, %v; want %+v", again, err, first)
		}
	})
}

func TestCompaniesOnOnePlatformAreTold(t *testing.T) {
	t.Parallel()
	made := func(d lead.Draft, key string) id.Lead {
		t.Helper()
		parsed, ok := lead.ParseKey(key)
		read, err := d.Read(catalog, lead.Rules{Key: parsed, Region: "DE"})
		if err != nil || !ok {
			t.Errorf("%+v: %v", d, err)
		}
		return read.ID
	}
	acme := made(lead.Draft{Name: "Acme", Website: "example.com"}, "")
	for _, same := range []lead.Draft{
		{Name: "ACME", Website: "HTTP://www.Example.COM/"}, {Name: "Acme", Website: "https://example.com:443", Phone: "030 123456"},
	} {
		if made(same, "") != acme || made(same, "name, website") != acme {
			t.Errorf("%+v is another one", same)
		}
	}
	for _, other := range []lead.Draft{
		{Name: "Acme", Website: "https://example.com/berlin"}, {Name: "Acme", Website: "example.com?shop=2"},
		{Name: "Acme Süd", Website: "example.com"}, {Name: "Acme", Website: "shop.example.com"}, {Name: "Acme"},
	} {
		if made(other, "") == acme {
			t.Errorf("%+v is the same", other)
		}
	}
	one, two := lead.Draft{Name: "Acme", Website: "example.com", Phone: "030 123456"}, lead.Draft{Name: "Acme Süd", Phone: "+49 30 123456"}
	if made(one, "phone") != made(two, "phone") || made(one, "") == made(two, "") || made(one, "phone,name") == made(two, "name,phone") {
		t.Error("a key of its own is not taken")
	}
	key, _ := lead.ParseKey("email,name")
	if _, err := one.Read(catalog, lead.Rules{Key: key, Region: "DE"}); codes(err)["email"] != fault.Required {
		t.Errorf("a lead without its key: %v", err)
	}
	for _, wrong := range []string{"color", "name,name", "name;phone", ",", "id"} {
		if _, ok := lead.ParseKey(wrong); ok {
			t.Errorf("%q is a key", wrong)
		}
	}
}

func TestLenientRulesDropWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	draft := lead.Draft{
		Name: "Acme", Website: "x",
		Problems: fault.Problems{
			fault.Fieldf("google_rating", fault.WrongType, "no"), fault.Fieldf("social_media.facebook", fault.WrongType, "no"),
		},
		Contacts: []lead.ContactDraft{{Name: "Anna", Email: "bad"}, {Email: "bad"}, {Email: "ben@acme.example"}},
	}
	read, err := draft.Read(catalog, lead.Rules{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Dropped) != 5 || !read.Absent.Has(lead.RatingField) || !read.Absent.Has(lead.FacebookField) {
		t.Errorf("%v, %b", read.Dropped, read.Absent)
	}
	if got := read.Contacts; len(got) != 2 || got[0].Name != "Anna" || got[0].Email != "" || got[1].Email != "ben@acme.example" {
		t.Errorf("%+v", got)
	}
	other := lead.Draft{Name: "Acme", Website: "n/a"}
	if again, err := other.Read(catalog, lead.Rules{Lenient: true}); err != nil || again.ID != read.ID {
		t.Errorf("values that are dropped make two leads of one: %v, %v, %v", read.ID, again.ID, err)
	}
	for _, website := range []string{"x", "n/a", "-"} {
		draft := lead.Draft{Name: "Acme", Website: website}
		if _, err := draft.Read(catalog, lead.Rules{Lenient: true, Key: "website"}); codes(err)["website"] != fault.Required {
			t.Errorf("%s, which is dropped, makes an id: %v", website, err)
		}
	}
	draft.Problems.Add(fault.Fieldf("color", fault.UnknownField, "no"))
	if _, err := draft.Read(catalog, lead.Rules{Lenient: true}); codes(err)["color"] != fault.UnknownField || len(codes(err)) != 1 {
		t.Error(err)
	}
}

func TestLenientRulesDropWhatIsInvalid(t *testing.T) {
	t.Parallel()
	draft := lead.Draft{
		Name: "Acme", Website: "none", Phone: "call me", Email: "acme", Rating: "6",
		Social:   lead.Social{TikTok: "@acme", Twitter: "https://x.example"},
		Contacts: []lead.ContactDraft{{ID: "cnt_1", Name: "Anna", Primary: true}, {ID: "cnt_2", Name: "Ben", Primary: true}},
	}
	want := map[string]string{
		"website": fault.InvalidFormat, "phone": fault.InvalidFormat, "email": fault.InvalidFormat, "google_rating": fault.OutOfRange,
		"social_media.tiktok": fault.InvalidFormat, "contacts.1.is_primary_lead": fault.Duplicate,
	}
	_, err := draft.Lead(catalog)
	if diff := cmp.Diff(want, codes(err)); diff != "" {
		t.Error(diff)
	}
	read, err := draft.Read(catalog, lead.Rules{Lenient: true})
	if diff := cmp.Diff(want, codes(fault.Validation(read.Dropped))); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if !read.Contacts[0].Primary || read.Contacts[1].Primary || read.Website != "" || read.Social.Twitter == "" ||
		read.Rating != lead.Unrated ||
		read.Absent != lead.WebsiteField|lead.PhoneField|lead.EmailField|lead.RatingField|lead.TikTokField {
		t.Errorf("%+v", read)
	}
	draft.Industry = "ind_none"
	if _, err := draft.Read(catalog, lead.Rules{Lenient: true}); codes(err)["industry_id"] != fault.UnknownValue || len(codes(err)) != 1 {
		t.Errorf("what cannot be dropped: %v", err)
	}
}
