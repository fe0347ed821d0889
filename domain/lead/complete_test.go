package lead_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// importing merges drafts into what is stored, and returns what is stored then.
func importing(t testing.TB, stored map[id.Lead]lead.Lead, rules lead.Rules, drafts ...lead.Draft) (map[id.Lead]lead.Lead, lead.Change) {
	t.Helper()
	var batch []lead.Incoming
	for _, draft := range drafts {
		read, err := draft.Read(catalog, rules)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, read.Digested())
	}
	summaries, contents := map[id.Lead]lead.Summary{}, map[id.Lead]lead.Lead{}
	for which, one := range stored {
		summaries[which] = lead.Summary{ID: which, Digest: one.Digest(), Campaigns: one.Campaigns}
	}
	for _, which := range lead.Partial(batch, summaries) {
		contents[which] = stored[which]
	}
	whole, _ := lead.Complete(batch, summaries, contents, lead.Suppressions{})
	merged := lead.Merge(whole, summaries, noon)
	now := map[id.Lead]lead.Lead{}
	for which, one := range stored {
		now[which] = one
	}
	for _, one := range merged.Changed {
		one.CreatedAt, one.UpdatedAt = acme().CreatedAt, acme().UpdatedAt
		if one.Digest != one.Lead.Digest() {
			t.Errorf("the digest of %+v is of another", one.Lead)
		}
		now[one.ID] = one.Lead
	}
	return now, merged.Change
}

var fullDraft = lead.Draft{
	ID: "cmp_1", Name: "Acme", Phone: "+49 30 123456", Email: "info@acme.example", Website: "acme.example", Rating: "4.5",
	Enrichment: "deep",
	Social: lead.Social{
		Instagram: "https://i.example", Facebook: "https://f.example", LinkedIn: "https://l.example", Twitter: "https://x.example",
		TikTok: "https://t.example",
	},
	Industry: string(health), Vertical: string(eyes), Contacts: []lead.ContactDraft{{Name: "Anna", Primary: true}},
	Campaigns: []string{string(spring)},
}

func TestWhatALineLeavesOutStaysAndWhatIsEmptyIsCleared(t *testing.T) {
	t.Parallel()
	stored, _ := importing(t, nil, lead.Rules{}, fullDraft)
	full := stored["cmp_1"]
	bare := lead.Lead{
		ID: "cmp_1", Name: "Acme", Rating: lead.Unrated, Enrichment: lead.None, CreatedAt: full.CreatedAt, UpdatedAt: full.UpdatedAt,
	}
	if now, change := importing(t, stored, lead.Rules{}, lead.Draft{ID: "cmp_1", Name: "Acme", Absent: lead.EveryField}); change.Any() {
		t.Errorf("nothing but the name: %+v", now)
	}
	for _, c := range []struct {
		draft lead.Draft
		rules lead.Rules
	}{
		{lead.Draft{ID: "cmp_1", Name: "Acme"}, lead.Rules{}},
		{lead.Draft{ID: "cmp_1", Name: "Acme", Absent: lead.EveryField}, lead.Rules{Replace: true}},
	} {
		now, _ := importing(t, stored, c.rules, c.draft)
		if diff := cmp.Diff(bare, now["cmp_1"], cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		absent := lead.Fields(rapid.Uint16Range(0, lead.EveryField).Draw(rt, "absent"))
		if !absent.Has(lead.IndustryField) {
			absent &^= lead.VerticalField // it goes with its industry
		}
		first, _ := importing(t, stored, lead.Rules{}, lead.Draft{ID: "cmp_1", Name: "Acme", Absent: absent})
		// What was cleared is sent again, and everything stands as it was.
		draft := fullDraft
		draft.Absent = absent
		second, _ := importing(t, first, lead.Rules{}, draft)
		if diff := cmp.Diff(full, second["cmp_1"]); diff != "" {
			rt.Fatal(diff)
		}
		if again, change := importing(t, second, lead.Rules{}, draft); change.Any() {
			rt.Fatalf("again: %+v", again)
		}
	})
}

func TestAVerticalStaysOnlyInItsIndustry(t *testing.T) {
	t.Parallel()
	stored, _ := importing(t, nil, lead.Rules{}, fullDraft)
	for _, c := range []struct {
		draft    lead.Draft
		industry id.Industry
		vertical id.Vertical
	}{
		{lead.Draft{Absent: lead.VerticalField, Industry: string(health)}, health, eyes},
		{lead.Draft{Absent: lead.VerticalField}, "", ""},
		{lead.Draft{Absent: lead.IndustryField}, health, ""},
		{lead.Draft{Absent: lead.IndustryField, Vertical: string(dental)}, health, dental},
	} {
		c.draft.ID, c.draft.Name = "cmp_1", "Acme"
		now, _ := importing(t, stored, lead.Rules{}, c.draft)
		if got := now["cmp_1"]; got.Industry != c.industry || got.Vertical != c.vertical {
			t.Errorf("%+v: %s, %s", c.draft, got.Industry, got.Vertical)
		}
	}
}

func TestALeadWithAnIDByTheFormerRuleKeepsIt(t *testing.T) {
	t.Parallel()
	former := lead.Lead{
		ID: id.Derive[id.Lead]("website", "https://www.shop.example/acme"), Name: "Acme", Website: "https://www.shop.example/acme",
		Rating: lead.Unrated, Enrichment: lead.None, CreatedAt: acme().CreatedAt, UpdatedAt: acme().UpdatedAt,
	}
	stored := map[id.Lead]lead.Lead{former.ID: former}
	draft := lead.Draft{
		Name: "ACME", Website: "https://www.shop.example/acme", Contacts: []lead.ContactDraft{{Name: "Anna"}}, Absent: lead.CampaignsField,
	}
	now, change := importing(t, stored, lead.Rules{}, draft)
	if got := now[former.ID]; change != (lead.Change{Updated: 1}) || got.Website != "shop.example" || got.Name != "ACME" ||
		got.Contacts[0].ID != id.Derive[id.Contact](string(former.ID), "name", "anna") {
		t.Errorf("%+v: %+v", change, now)
	}
	if _, change := importing(t, now, lead.Rules{}, draft); change != (lead.Change{Unchanged: 1}) {
		t.Errorf("again: %+v", change)
	}
	other := draft
	other.Name = "Bolt" // the former rule took it for Acme
	if _, change := importing(t, now, lead.Rules{}, draft, other); change != (lead.Change{Inserted: 1, Unchanged: 1}) {
		t.Errorf("two companies with one address: %+v", change)
	}
	key, _ := lead.ParseKey("website")
	if _, change := importing(t, stored, lead.Rules{Key: key}, other); change != (lead.Change{Updated: 1}) {
		t.Errorf("by the website alone: %+v", change)
	}
	key, _ = lead.ParseKey("name,phone")
	branch := draft
	branch.Phone = "+49 30 123456"
	if _, change := importing(t, stored, lead.Rules{Key: key}, branch); change != (lead.Change{Inserted: 1}) {
		t.Errorf("another branch: %+v", change)
	}
}
