package lead_test

import (
	"slices"
	"strings"
	"testing"

	"holdco/domain/lead"
)

func TestEachFieldOfALeadHasColumns(t *testing.T) {
	t.Parallel()
	var fields, names []string
	for _, column := range lead.Columns(lead.Shown{}) {
		fields, names = append(fields, column.Field()), append(names, column.Name)
		if found, ok := lead.FindColumn(column.Name); !ok || found.Name != column.Name || found.Sends != column.Sends {
			t.Errorf("%s is found as %+v", column.Name, found)
		}
	}
	if got := slices.Compact(fields); !slices.Equal(got, lead.FieldNames()) {
		t.Errorf("the columns are of %v", got)
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(names))); len(unique) != len(names) {
		t.Errorf("of %d columns %d have names of their own", len(names), len(unique))
	}
	for n := range lead.ContactsInColumns {
		if !slices.Contains(names, "contacts."+string(rune('0'+n))+".email") {
			t.Errorf("contact %d has no columns", n)
		}
	}
}

func TestColumnsThatAreNotWrittenAreReadToo(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"industry_id": "industry.id", "vertical_id": "vertical.id", "vertical.industry_id": "vertical.industry_id",
		"campaign_ids.999": "campaign_ids.999", "contacts.99.title": "contacts.99.title",
		"campaign_ids.1000": "", "campaign_ids.01": "", "campaign_ids.": "", "contacts.100.title": "",
		"contacts.0": "", "contacts.0.mood": "",
		"contacts": "", "social_media": "", "industry": "", "Name": "", "": "",
	} {
		if found, ok := lead.FindColumn(name); found.Name != want || ok != (want != "") {
			if ok || want != "" {
				t.Errorf("%s: %q, %v", name, found.Name, ok)
			}
		}
	}
}

func TestColumnsAreToldToPeopleWithoutRepetition(t *testing.T) {
	t.Parallel()
	names := strings.Join(lead.ColumnNames(), ",")
	for part, told := range map[string]bool{
		"id,name,phone": true, "contacts.0.is_primary_lead,contacts.more,created_at": true, "campaign_ids": true,
		"industry.id,vertical.id": true,
		"contacts.1":              false, "industry.name": false,
	} {
		if strings.Contains(names, part) != told {
			t.Errorf("%s: %s", part, names)
		}
	}
}

func TestALeadIsShownWithWhatIsAskedForAndItsID(t *testing.T) {
	t.Parallel()
	all := lead.Shown{}
	some, ok := lead.Show([]string{"email", "contacts", "email"})
	if !ok || !all.IsAll() || some.IsAll() {
		t.Errorf("%v, %v, %v", ok, all, some)
	}
	last := slices.Index(lead.FieldNames(), "contacts")
	for at, name := range lead.FieldNames() {
		asked := name == "id" || name == "email" || name == "contacts"
		if !all.Has(name) || some.Has(name) != asked || some.HasAt(at) != asked || all.Ends(at) || some.Ends(at) != (at > last) {
			t.Errorf("%s: %v", name, some.Has(name))
		}
	}
	if all.Has("mood") || some.Has("mood") {
		t.Error("there is a field mood")
	}
	if _, ok := lead.Show([]string{"email", "mood"}); ok {
		t.Error("there is a field mood")
	}
}
