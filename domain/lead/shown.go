package lead

import "slices"

// fieldNames are the names of the fields of a lead, in the order in which they are shown.
var fieldNames = []string{
	"id", "name", "phone", "email", "website", "google_rating", "enrichment_level", "social_media", "industry", "vertical",
	"campaign_ids", "contacts", "created_at", "updated_at",
}

// FieldNames returns the names of the fields of a lead, in the order in which they are shown.
func FieldNames() []string { return slices.Clone(fieldNames) }

// Shown says which of its fields a lead is shown with. The zero value is all of them; otherwise the id is always one.
type Shown struct {
	only uint16 // a bit for each of fieldNames; 0: all
}

// Show returns the fields with some names. It reports whether there are fields with all of these names.
func Show(names []string) (s Shown, ok bool) {
	s.only = 1 // the id
	for _, name := range names {
		at := slices.Index(fieldNames, name)
		if at < 0 {
			return Shown{}, false
		}
		s.only |= 1 << at
	}
	return s, true
}

// IsAll reports whether no field is left out.
func (s Shown) IsAll() bool { return s.only == 0 }

// Has reports whether a lead is shown with a field.
func (s Shown) Has(name string) bool {
	at := slices.Index(fieldNames, name)
	return at >= 0 && s.HasAt(at)
}

// HasAt is Has for a field by its place in FieldNames.
func (s Shown) HasAt(place int) bool { return s.only == 0 || s.only>>place&1 != 0 }

// Ends reports whether none of the fields at this place and after it is shown.
func (s Shown) Ends(place int) bool { return s.only != 0 && s.only>>place == 0 }
