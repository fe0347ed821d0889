package lead

import (
	"slices"
	"strconv"
	"strings"
)

// Column is a column of a table of leads, which files in CSV are. Its name is the path to its value in the JSON of a lead. What its
// cells spell is said by which of the functions it has, each of which returns where the value belongs in a draft; one that has none is
// computed by the store, and imports pass over it.
type Column struct {
	Name  string
	Sends Fields // that a line is not without, even if the cell is blank

	Text     func(to *Draft) *string
	Flag     func(to *Draft) *bool
	IDs      func(to *Draft) *[]string       // several, to which those of the cell are added
	Contacts func(to *Draft) *[]ContactDraft // as a JSON list, which comes after those that have columns of their own
}

// Field returns the name of the field that the column is of.
func (c Column) Field() string {
	field, _, _ := strings.Cut(c.Name, ".")
	return field
}

// ContactsInColumns is how many contacts of a lead have columns of their own in the tables that are written. Those that come after
// them share one column.
const ContactsInColumns = 3

// columns are those of the tables that are written, in the order of the fields of a lead.
var columns = slices.Concat(
	[]Column{
		{Name: "id", Text: func(to *Draft) *string { return &to.ID }},
		{Name: "name", Text: func(to *Draft) *string { return &to.Name }},
		{Name: "phone", Sends: PhoneField, Text: func(to *Draft) *string { return &to.Phone }},
		{Name: "email", Sends: EmailField, Text: func(to *Draft) *string { return &to.Email }},
		{Name: "website", Sends: WebsiteField, Text: func(to *Draft) *string { return &to.Website }},
		{Name: "google_rating", Sends: RatingField, Text: func(to *Draft) *string { return (*string)(&to.Rating) }},
		{Name: "enrichment_level", Sends: EnrichmentField, Text: func(to *Draft) *string { return &to.Enrichment }},
		{Name: "social_media.instagram", Sends: InstagramField, Text: func(to *Draft) *string { return &to.Social.Instagram }},
		{Name: "social_media.facebook", Sends: FacebookField, Text: func(to *Draft) *string { return &to.Social.Facebook }},
		{Name: "social_media.linkedin", Sends: LinkedInField, Text: func(to *Draft) *string { return &to.Social.LinkedIn }},
		{Name: "social_media.twitter", Sends: TwitterField, Text: func(to *Draft) *string { return &to.Social.Twitter }},
		{Name: "social_media.tiktok", Sends: TikTokField, Text: func(to *Draft) *string { return &to.Social.TikTok }},
		{Name: "industry.id", Sends: IndustryField, Text: func(to *Draft) *string { return &to.Industry }},
		{Name: "industry.name"},
		{Name: "industry.slug"},
		{Name: "vertical.id", Sends: VerticalField, Text: func(to *Draft) *string { return &to.Vertical }},
		{Name: "vertical.name"},
		{Name: "vertical.slug"},
		{Name: "campaign_ids", Sends: CampaignsField, IDs: func(to *Draft) *[]string { return &to.Campaigns }},
	},
	contactColumns(0), contactColumns(1), contactColumns(2),
	[]Column{
		{Name: "contacts.more", Sends: ContactsField, Contacts: func(to *Draft) *[]ContactDraft { return &to.Contacts }},
		{Name: "created_at", Text: func(to *Draft) *string { return &to.CreatedAt }},
		{Name: "updated_at", Text: func(to *Draft) *string { return &to.UpdatedAt }},
	},
)

// contactColumns are those of the contact at a place.
func contactColumns(at int) []Column {
	contact := func(to *Draft) *ContactDraft {
		for len(to.Contacts) <= at {
			to.Contacts = append(to.Contacts, ContactDraft{})
		}
		return &to.Contacts[at]
	}
	before := "contacts." + strconv.Itoa(at) + "."
	return []Column{
		{Name: before + "id", Sends: ContactsField, Text: func(to *Draft) *string { return &contact(to).ID }},
		{Name: before + "name", Sends: ContactsField, Text: func(to *Draft) *string { return &contact(to).Name }},
		{Name: before + "title", Sends: ContactsField, Text: func(to *Draft) *string { return &contact(to).Title }},
		{Name: before + "email", Sends: ContactsField, Text: func(to *Draft) *string { return &contact(to).Email }},
		{Name: before + "is_primary_lead", Sends: ContactsField, Flag: func(to *Draft) *bool { return &contact(to).Primary }},
	}
}

// Columns returns the columns of the tables that are written with these fields, in their order. Nobody may change them.
func Columns(shown Shown) (of []Column) {
	for _, column := range columns {
		if shown.Has(column.Field()) {
			of = append(of, column)
		}
	}
	return of
}

// FindColumn finds a column of a table that is read. Beside those that are written there are columns for all the contacts that a lead may
// have, for single campaigns, and other names for some.
func FindColumn(name string) (Column, bool) {
	list, rest, _ := strings.Cut(name, ".")
	switch {
	case name == "industry_id", name == "vertical_id":
		name = strings.Replace(name, "_", ".", 1)
	case name == "vertical.industry_id":
		return Column{Name: name}, true
	case list == "campaign_ids" && rest != "":
		_, ok := number(rest, MostCampaigns)
		return Column{Name: name, Sends: CampaignsField, IDs: func(to *Draft) *[]string { return &to.Campaigns }}, ok
	case list == "contacts":
		item, _, _ := strings.Cut(rest, ".")
		if at, ok := number(item, MostContacts); ok {
			return named(contactColumns(at), name)
		}
	}
	return named(columns, name)
}

func named(among []Column, name string) (Column, bool) {
	at := slices.IndexFunc(among, func(c Column) bool { return c.Name == name })
	if at < 0 {
		return Column{}, false
	}
	return among[at], true
}

// ColumnNames returns the names of the columns that an import takes something from, for people: of the contacts those of the first, and
// of the others what comes after them.
func ColumnNames() (names []string) {
	for _, column := range columns {
		one := strings.HasPrefix(column.Name, "contacts.0.") || column.Contacts != nil
		if used := column.Text != nil || column.IDs != nil; used && column.Field() != "contacts" || one {
			names = append(names, column.Name)
		}
	}
	return names
}

// number reads a place in a list, in its canonical form.
func number(text string, below int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n < below && strconv.Itoa(n) == text
}
