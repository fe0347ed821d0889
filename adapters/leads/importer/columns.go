package importer

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"holdco/domain/fault"
	"holdco/domain/lead"
)

// campaignFields are where the text of a column belongs in a draft.
var campaignFields = map[string]func(to *lead.CampaignDraft) *string{
	"id":           func(to *lead.CampaignDraft) *string { return &to.ID },
	"name":         func(to *lead.CampaignDraft) *string { return &to.Name },
	"status":       func(to *lead.CampaignDraft) *string { return &to.Status },
	"industry_id":  func(to *lead.CampaignDraft) *string { return &to.Industry },
	"vertical_id":  func(to *lead.CampaignDraft) *string { return &to.Vertical },
	"geography_id": func(to *lead.CampaignDraft) *string { return &to.Geography },
	"created_at":   func(to *lead.CampaignDraft) *string { return &to.CreatedAt },
	"updated_at":   func(to *lead.CampaignDraft) *string { return &to.UpdatedAt },
}

// campaignColumns are the names of columns, for people.
var campaignColumns = []string{"id", "name", "status", "industry_id", "vertical_id", "geography_id", "created_at", "updated_at"}

// ignored are columns of campaigns that the store computes itself.
var ignored = []string{
	"industry.name", "industry.slug", "vertical.name", "vertical.slug", "vertical.industry_id",
	"geography.name", "geography.slug", "geography.country_code", "lead_count",
}

// absentFrom returns the fields of leads that a header has no columns for.
func absentFrom(header []string) lead.Fields {
	absent := lead.Fields(lead.EveryField)
	for _, name := range header {
		column, _ := lead.FindColumn(name)
		absent &^= column.Sends
	}
	return absent
}

// spelled gives the columns of campaigns that can be spelled in two ways one name.
func spelled(name string) string {
	switch name {
	case "industry.id", "vertical.id", "geography.id":
		return strings.Replace(name, ".", "_", 1)
	}
	return name
}

// leadColumn finds a column of a file of leads.
func leadColumn(name string) (column[lead.Draft], bool) {
	of, ok := lead.FindColumn(name)
	c := column[lead.Draft]{name: of.Name}
	switch {
	case of.Text != nil:
		c.read = func(to *lead.Draft, cell string) { *of.Text(to) = cell }
	case of.Flag != nil:
		c.read = func(to *lead.Draft, cell string) {
			set, err := strconv.ParseBool(strings.ToLower(cell))
			if err != nil {
				to.Problems.Add(fault.Fieldf(name, fault.WrongType, "%s must be true or false", name))
				return
			}
			*of.Flag(to) = set
		}
	case of.IDs != nil:
		separates := func(r rune) bool { return r == ';' || unicode.IsSpace(r) }
		c.read = func(to *lead.Draft, cell string) {
			*of.IDs(to) = append(*of.IDs(to), strings.FieldsFunc(cell, separates)...)
		}
	case of.Contacts != nil:
		c.last = true
		c.read = func(to *lead.Draft, cell string) {
			found, problems := contactsIn(name, cell)
			*of.Contacts(to) = append(*of.Contacts(to), found...)
			to.Problems = append(to.Problems, problems[:max(0, min(len(problems), mostProblems-len(to.Problems)))]...)
		}
	}
	return c, ok
}

// contactsIn reads a cell that holds a JSON list of contacts, as the field of an object, so that what is wrong in it has a path.
func contactsIn(column, cell string) (contacts []lead.ContactDraft, problems fault.Problems) {
	w := walker{what: column}
	read(&w, []byte(`{"`+column+`":`+cell+"}"), func(w *walker) (none struct{}) {
		w.object(func(name []byte) bool {
			known := string(name) == column
			w.list(func() { contacts = append(contacts, w.contact()) })
			return known
		})
		return none
	})
	if w.broken != nil || slices.ContainsFunc(w.problems, func(wrong fault.Field) bool { return !strings.HasPrefix(wrong.Path, column) }) {
		return nil, fault.Problems{fault.Fieldf(column, fault.InvalidFormat, "%s must be a JSON list of contacts", column)}
	}
	return contacts, w.problems
}

// campaignColumn finds a column of a file of campaigns.
func campaignColumn(name string) (column[lead.CampaignDraft], bool) {
	if slices.Contains(ignored, name) {
		return column[lead.CampaignDraft]{name: name}, true
	}
	name = spelled(name)
	of, ok := campaignFields[name]
	return column[lead.CampaignDraft]{name: name, read: func(to *lead.CampaignDraft, cell string) { *of(to) = cell }}, ok
}

// present drops empty contacts.
func present(d *lead.Draft) {
	d.Contacts = slices.DeleteFunc(d.Contacts, func(c lead.ContactDraft) bool { return c == lead.ContactDraft{} })
}
