package lead

// Fields is a set of the fields of a lead that a line of a file may leave out.
type Fields uint16

// The fields. A field that a line leaves out keeps what is stored; see Draft.Absent.
const (
	PhoneField Fields = 1 << iota
	EmailField
	WebsiteField
	RatingField
	EnrichmentField
	InstagramField
	FacebookField
	LinkedInField
	TwitterField
	TikTokField
	IndustryField
	VerticalField
	ContactsField
	CampaignsField

	EveryField   = 1<<iota - 1
	SocialFields = InstagramField | FacebookField | LinkedInField | TwitterField | TikTokField
)

// Has reports whether the set has any of these fields.
func (f Fields) Has(these Fields) bool { return f&these != 0 }
