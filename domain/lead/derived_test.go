package lead_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestALeadWithoutAnIDGetsThatOfItsContent(t *testing.T) {
	t.Parallel()
	// Ids are kept for good, so what makes them must not change.
	const byWebsite, byEmail = "cmp_1btcq23hr4776fw66t9t3qws0q", "cmp_6r6jhw4tf82tfb4wpw273bj7m0"
	const byPhone, byName = "cmp_6r662ykgxj3ccfd1e194pex16v", "cmp_1m9zjkhkz23vg5ecaxgxgzkzrj"
	for _, c := range []struct {
		draft lead.Draft
		want  id.Lead
	}{
		{lead.Draft{Name: "Acme", Website: "https://acme.example", Email: "info@acme.example", Phone: "+49 30 123456"}, byWebsite},
		{lead.Draft{Name: "acme", Website: " HTTP://WWW.ACME.example:80/ ", Rating: "5", Vertical: string(dental)}, byWebsite},
		{lead.Draft{Name: "Acme", Email: "info@acme.example", Phone: "+49 30 123456"}, byEmail},
		{lead.Draft{Name: "ACME", Email: "Info@Acme.example", Website: " "}, byEmail},
		{lead.Draft{Name: "Acme", Phone: "+49 30 123456"}, byPhone},
		{lead.Draft{Name: "Acme", Phone: "+49-30-123456"}, byPhone},
		{lead.Draft{Name: "Acme"}, byName},
		{lead.Draft{Name: " aCME "}, byName},
		{lead.Draft{Name: "Acme", ID: " "}, byName},
		{lead.Draft{Name: "Acme", ID: "cmp_1", Website: "https://acme.example"}, "cmp_1"},
	} {
		if made, err := c.draft.Lead(catalog); made.ID != c.want || err != nil {
			t.Errorf("%+v: %s, %v; want %s", c.draft, made.ID, err, c.want)
		}
	}
}

func TestALeadAtFaultIsReportedUnderItsIDIfItHasOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		draft lead.Draft
		want  id.Lead
	}{
		{lead.Draft{}, ""},
		{lead.Draft{ID: "cmp_1"}, "cmp_1"},
		{lead.Draft{ID: "1", Name: "Acme"}, ""},
		{lead.Draft{Name: "Acme", Rating: "6"}, id.Derive[id.Lead]("name", "acme")},
	} {
		made, err := c.draft.Lead(catalog)
		if diff := cmp.Diff(lead.Lead{ID: c.want}, made); diff != "" || err == nil {
			t.Errorf("%+v: %s, %v", c.draft, diff, err)
		}
	}
}

func TestAContactWithoutAnIDGetsThatOfItsContent(t *testing.T) {
	t.Parallel()
	contacts := func(of string, drafts ...lead.ContactDraft) []lead.Contact {
		made, err := lead.Draft{ID: of, Name: "Acme", Contacts: drafts}.Lead(catalog)
		if err != nil {
			t.Error(err)
		}
		return made.Contacts
	}
	anna := contacts("cmp_1",
		lead.ContactDraft{Name: "Anna", Email: "Anna@acme.example"}, lead.ContactDraft{Name: "Anna"},
		lead.ContactDraft{ID: "cnt_1", Name: "Anna"})
	again := contacts("cmp_1",
		lead.ContactDraft{Name: "Anne", Email: "anna@ACME.example", Title: "CEO", Primary: true}, lead.ContactDraft{Name: " ANNA "})
	if anna[0].ID != again[0].ID || anna[1].ID != again[1].ID || anna[0].ID == anna[1].ID || anna[2].ID != "cnt_1" {
		t.Errorf("%v, %v", anna, again)
	}
	if elsewhere := contacts("cmp_2", lead.ContactDraft{Name: "Anna", Email: "anna@acme.example"}); elsewhere[0].ID == anna[0].ID {
		t.Errorf("%s is a contact of two leads", anna[0].ID)
	}
}

// Former versions kept contacts as they were spelled, and so derived their ids.
func TestAContactKeepsTheIDThatItsSpellingMade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		draft lead.ContactDraft
		of    []string // what the id is derived from, after the id of the lead
	}{
		{lead.ContactDraft{Email: "Anna@acme.example"}, []string{"email", "anna@acme.example"}},
		{lead.ContactDraft{Email: " mailto:Anna@acme.example"}, []string{"email", "mailto:anna@acme.example"}},
		{lead.ContactDraft{Email: "an\u200bna@acme.example."}, []string{"email", "an\u200bna@acme.example."}},
		{lead.ContactDraft{Name: "Anna  M "}, []string{"name", "anna  m"}},
		{lead.ContactDraft{Name: "Anna M"}, []string{"name", "anna m"}},
		{lead.ContactDraft{Name: "A\u00adnna", Email: "\u200b"}, []string{"name", "a\u00adnna"}},
		{lead.ContactDraft{Name: "\u200b", Email: "ａ@acme.example"}, []string{"email", "ａ@acme.example"}},
	} {
		want := func(of id.Lead) id.Contact { return id.Derive[id.Contact](append([]string{string(of)}, c.of...)...) }
		draft := lead.Draft{Name: "Acme  GmbH", Contacts: []lead.ContactDraft{{Name: "Ben"}, c.draft}}
		made := incoming(t, draft)
		if got := made.Contacts[1].ID; got != want(made.ID) {
			t.Errorf("%+q: %s", c.of, got)
		}
		former := acme()
		former.ID, former.Name = id.Derive[id.Lead]("name", "acme  gmbh"), "Acme  GmbH"
		now, _ := importing(t, map[id.Lead]lead.Lead{former.ID: former}, lead.Rules{}, draft)
		if got := now[former.ID].Contacts[1].ID; got != want(former.ID) {
			t.Errorf("%+q, of a lead that keeps its id: %s", c.of, got)
		}
	}
	incoming(t, lead.Draft{Name: "Acme", Contacts: []lead.ContactDraft{
		{Name: "Anna  M"}, {Name: "Anna M"}, {Email: "mailto:anna@acme.example"}, {Email: "anna@acme.example"},
	}})
}

func TestContactsOfALeadDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contacts []lead.ContactDraft
		want     map[string]string
	}{
		"names": {contacts: []lead.ContactDraft{{Name: "Anna"}, {Name: "Ben"}}},
		"same name": {[]lead.ContactDraft{{Name: "Anna"}, {Name: "Ben"}, {Name: "anna"}},
			map[string]string{"contacts.2.id": fault.Duplicate}},
		"same email": {[]lead.ContactDraft{{Name: "Anna", Email: "i@a.b"}, {Name: "Ben", Email: "i@a.b"}},
			map[string]string{"contacts.1.id": fault.Duplicate}},
		"same email, own ids": {
			contacts: []lead.ContactDraft{{ID: "cnt_1", Name: "Anna", Email: "i@a.b"}, {ID: "cnt_2", Name: "Ben", Email: "i@a.b"}},
		},
		"nothing known of two": {
			[]lead.ContactDraft{{}, {}}, map[string]string{"contacts.0.name": fault.Required, "contacts.1.name": fault.Required},
		},
	} {
		_, err := lead.Draft{Name: "Acme", Contacts: c.contacts}.Lead(catalog)
		if diff := cmp.Diff(c.want, codes(err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
