package lead

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Bounds of the fields of a lead. Lengths are in characters.
const (
	NameLength    = 200 // of a lead, a contact, a title
	PhoneLength   = 50
	EmailLength   = 254
	AddressLength = 2048 // of a website or a page in a social network
	MostContacts  = 100
	MostCampaigns = 1000
)

// Draft is what was sent to insert or change a lead. Problems are errors of its form.
type Draft struct {
	Absent    Fields // were not sent at all, and keep what is stored; a blank text that was sent clears it
	Converted bool   // from another encoding: U+FFFD is in the place of what stands for no character there

	ID         string // blank: derived from the content
	Name       string
	Phone      string
	Email      string
	Website    string
	Rating     money.Number // blank: unrated
	Enrichment string       // blank: none
	Social     Social
	Industry   string
	Vertical   string // without Industry: that of the vertical
	Contacts   []ContactDraft
	Campaigns  []string
	CreatedAt  string // RFC 3339; used only by Timestamps
	UpdatedAt  string
	Problems   fault.Problems
}

// ContactDraft is a contact in a Draft.
type ContactDraft struct {
	ID      string // blank: derived from the content
	Name    string
	Title   string
	Email   string
	Primary bool
}

// Catalog is what leads and campaigns may refer to.
type Catalog struct {
	Industries  map[id.Industry]bool
	Verticals   map[id.Vertical]id.Industry
	Geographies map[id.Geography]bool
	Campaigns   map[id.Campaign]bool
}

// Catalog returns what leads can refer to: everything in the taxonomy, active or not, and the given campaigns.
func (t Taxonomy) Catalog(campaigns []id.Campaign) Catalog {
	c := Catalog{map[id.Industry]bool{}, map[id.Vertical]id.Industry{}, map[id.Geography]bool{}, map[id.Campaign]bool{}}
	for _, industry := range t.Industries {
		c.Industries[industry.ID] = true
	}
	for _, vertical := range t.Verticals {
		c.Verticals[vertical.ID] = vertical.Industry
	}
	for _, geography := range t.Geographies {
		c.Geographies[geography.ID] = true
	}
	for _, campaign := range campaigns {
		c.Campaigns[campaign] = true
	}
	return c
}

// Rules are how drafts are read. The zero value is how they usually are.
type Rules struct {
	Key     Key
	Region  Region
	Replace bool // what a draft leaves out is cleared
	Lenient bool // what is no website, telephone number, e-mail, rating or page is left out, and so is each primary contact but the first
}

// Lead makes the lead by the usual rules, without timestamps. It fails with fault.ValidationFailed, which lists every invalid field, and
// then returns only the id, if there is one.
func (d Draft) Lead(catalog Catalog) (Lead, error) {
	read, err := d.Read(catalog, Rules{})
	return read.Lead, err
}

// Read makes the lead as Lead does, with what an import has to know of it.
func (d Draft) Read(catalog Catalog, rules Rules) (Incoming, error) {
	c := checks{problems: slices.Clone(d.Problems), converted: d.Converted, lenient: rules.Lenient, absent: d.Absent}
	if rules.Replace {
		c.absent = 0
	}
	if c.lenient {
		c.dropUnread()
	}
	sent := sentKeys{}
	sent.name, sent.raw.name = c.tidyName("name", d.Name)
	l := Lead{
		Name:    sent.name,
		Phone:   c.optional(PhoneField, func() string { return c.phone("phone", d.Phone, rules.Region, &sent) }),
		Email:   c.optional(EmailField, func() string { return c.email("email", d.Email, &sent) }),
		Website: c.optional(WebsiteField, func() string { return c.website("website", d.Website, &sent) }),
		Rating:  c.rating("google_rating", d.Rating),
		Social: Social{
			Instagram: c.page(InstagramField, "social_media.instagram", d.Social.Instagram),
			Facebook:  c.page(FacebookField, "social_media.facebook", d.Social.Facebook),
			LinkedIn:  c.page(LinkedInField, "social_media.linkedin", d.Social.LinkedIn),
			Twitter:   c.page(TwitterField, "social_media.twitter", d.Social.Twitter),
			TikTok:    c.page(TikTokField, "social_media.tiktok", d.Social.TikTok),
		},
		Enrichment: oneOf(&c, "enrichment_level", d.Enrichment, None, Enrichments()),
	}
	if sent.email = l.Email; sent.email == "" { // it was dropped
		sent.raw.email = ""
	}
	l.Industry, l.Vertical = c.branch(catalog, d.Industry, d.Vertical)
	if l.Vertical != "" {
		c.absent &^= IndustryField
	}
	l.Campaigns = c.campaigns(catalog, d.Campaigns)
	l.ID = foreign[id.Lead](&c, "id", d.ID)
	read := Incoming{page: sent.website.page()}
	if isBlank(d.ID) {
		l.ID = c.derive(rules.Key, sent)
		read.formers, read.key = sent.formers(rules.Key, l.ID), rules.Key
	}
	if sent.raw.name != l.Name || sent.raw.email != l.Email {
		read.raw = &sent.raw
	}
	l.Contacts, read.rawContacts = c.contacts(l.ID, d.Contacts)
	if len(c.problems) > 0 {
		return Incoming{Lead: Lead{ID: l.ID}}, fault.Validation(c.problems)
	}
	read.Lead, read.Absent, read.Dropped = l, c.absent, c.dropped
	return read, nil
}

// Timestamps parses when the lead was created and last updated. A blank one defaults to the other, and both default to
// at. It fails with fault.ValidationFailed: created <= updated <= at must hold.
func (d Draft) Timestamps(at time.Time) (created, updated time.Time, err error) {
	return timestamps(d.CreatedAt, d.UpdatedAt, at)
}

func timestamps(sentCreated, sentUpdated string, at time.Time) (created, updated time.Time, err error) {
	var c checks
	created, updated = c.instant("created_at", sentCreated, at), c.instant("updated_at", sentUpdated, at)
	switch {
	case created.IsZero() && updated.IsZero():
		created, updated = at, at
	case created.IsZero():
		created = updated
	case updated.IsZero():
		updated = created
	}
	if updated.Before(created) {
		c.problems.Add(fault.Fieldf("updated_at", fault.OutOfRange, "updated_at must not be before created_at"))
	}
	if len(c.problems) > 0 {
		return time.Time{}, time.Time{}, fault.Validation(c.problems)
	}
	return created, updated, nil
}

// checks parses and validates fields, and collects what is wrong.
type checks struct {
	problems  fault.Problems
	converted bool           // see Draft
	lenient   bool           // what optional parses is dropped where it is wrong
	dropped   fault.Problems // why it was
	absent    Fields         // of the draft, and what was dropped
}

// optional parses a field that may be dropped.
func (c *checks) optional(field Fields, parse func() string) string {
	before := len(c.problems)
	value := parse()
	if c.lenient && len(c.problems) > before {
		c.dropped = append(c.dropped, c.problems[before:]...)
		c.problems = c.problems[:before]
		c.absent |= field
		return ""
	}
	return value
}

// optionalFields are the fields of a lead that optional parses.
var optionalFields = map[string]Fields{
	"phone": PhoneField, "email": EmailField, "website": WebsiteField, "google_rating": RatingField,
	"social_media.instagram": InstagramField, "social_media.facebook": FacebookField, "social_media.linkedin": LinkedInField,
	"social_media.twitter": TwitterField, "social_media.tiktok": TikTokField,
}

// dropUnread drops such fields that were not read, because they have values of another type.
func (c *checks) dropUnread() {
	c.problems = slices.DeleteFunc(c.problems, func(wrong fault.Field) bool {
		field, isOptional := optionalFields[wrong.Path]
		if isOptional {
			c.dropped.Add(wrong)
			c.absent |= field
		}
		return isOptional
	})
}

func (c *checks) page(field Fields, path, sent string) string {
	return c.optional(field, func() string { return c.address(path, sent) })
}

func (c *checks) name(path, sent string) string {
	name, wrong := text.Name(path, sent, NameLength)
	c.add(path, sent, wrong)
	return name
}

// add adds what is wrong with a text, and of a forbidden character which it is.
func (c *checks) add(path, sent string, wrong []fault.Field) {
	if len(wrong) == 0 && c.converted && strings.ContainsRune(sent, utf8.RuneError) {
		wrong = []fault.Field{fault.Fieldf(path, fault.InvalidCharacters,
			"%s has bytes that stand for no character in the encoding of the file", path)}
	}
	for _, one := range wrong {
		if one.Code == fault.InvalidCharacters {
			for _, r := range sent {
				if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
					one.Message += fmt.Sprintf("; it has U+%04X", r)
					break
				}
			}
		}
		c.problems.Add(one)
	}
}

// tidyName validates a name, and returns it as it is kept, and as it was sent.
func (c *checks) tidyName(path, sent string) (name, raw string) {
	tidy := text.Tidy(sent)
	if name = c.name(path, tidy); tidy == sent {
		return name, name
	}
	raw, _ = text.Name(path, sent, NameLength)
	return name, raw
}

// line validates a text of one line, which may be blank.
func (c *checks) line(path, sent string, most int) string {
	if isBlank(sent) {
		return ""
	}
	line, wrong := text.Name(path, text.Tidy(sent), most)
	c.add(path, sent, wrong)
	return line
}

// formerly returns a text as former versions took it, of which line made another one.
func formerly(sent, line string) string {
	if line == sent || line == "" {
		return line
	}
	raw, _ := text.Name("", sent, AddressLength)
	return raw
}

func (c *checks) email(path, sent string, into *sentKeys) string {
	line := c.line(path, sent, EmailLength)
	if line == "" {
		return ""
	}
	into.raw.email = formerly(sent, line)
	email := bareEmail(line)
	if !isEmail(email) || strings.ContainsFunc(email, unicode.IsSpace) {
		c.problems.Add(fault.Fieldf(path, fault.InvalidFormat, "%s must be an address such as anna@example.com", path))
	}
	_, wrong := text.Name(path, email, EmailLength) // escapes stand for any byte, and some letters are several in NFKC
	c.add(path, email, wrong)
	return email
}

// website returns the domain of a website.
func (c *checks) website(path, sent string, into *sentKeys) string {
	line := c.line(path, sent, AddressLength)
	if line == "" {
		return ""
	}
	into.raw.website = formerly(sent, line)
	found, ok := parseWebsite(line)
	if !ok {
		quoted := fmt.Sprintf("%.100q", line)
		c.problems.Add(fault.Quotef(path, fault.InvalidFormat, quoted,
			"%s must be a domain such as example.com, or an address below one; %s is neither", path, quoted))
	}
	into.website = found
	return found.domain
}

// phone returns a telephone number as E.164 spells it.
func (c *checks) phone(path, sent string, region Region, into *sentKeys) string {
	line := c.line(path, sent, PhoneLength)
	if line == "" {
		return ""
	}
	into.raw.phone = formerly(sent, line)
	number, ok := parsePhone(line, region)
	quoted := ""
	if !ok {
		quoted = fmt.Sprintf("%.60q", line)
	}
	switch {
	case ok:
	case region == "" && !strings.HasPrefix(line, "+"):
		c.problems.Add(fault.Quotef(path, fault.InvalidFormat, quoted,
			"%s must be a telephone number with its country code, such as +49 30 123456; %s has none: say of which country such "+
				"numbers are", path, quoted))
	default:
		c.problems.Add(fault.Quotef(path, fault.InvalidFormat, quoted,
			"%s must be a telephone number such as +49 30 123456; %s cannot be one", path, quoted))
	}
	into.phone = number
	return number
}

func (c *checks) address(path, sent string) string {
	address := c.line(path, sent, AddressLength)
	if address == "" {
		return ""
	}
	page, err := url.Parse(address)
	if err != nil || page.Scheme != "https" && page.Scheme != "http" || page.Hostname() == "" ||
		strings.ContainsFunc(address, unicode.IsSpace) {
		c.problems.Add(fault.Fieldf(path, fault.InvalidFormat,
			"%s must be an address that begins with https:// or http://, without spaces", path))
	}
	return address
}

func (c *checks) rating(path string, sent money.Number) (rating Rating) {
	c.optional(RatingField, func() string {
		rating = c.parseRating(path, sent)
		return ""
	})
	return rating
}

func (c *checks) parseRating(path string, sent money.Number) Rating {
	if isBlank(string(sent)) {
		return Unrated
	}
	hundredths, err := sent.Scaled(2)
	switch {
	case errors.Is(err, money.ErrTooPrecise):
		c.problems.Add(fault.Fieldf(path, fault.TooPrecise, "%s must have at most 2 decimals", path))
	case errors.Is(err, money.ErrSyntax):
		c.problems.Add(fault.Fieldf(path, fault.WrongType, "%s must be a number", path))
	case err != nil || hundredths < 0 || hundredths > int64(MostRating):
		c.problems.Add(fault.Fieldf(path, fault.OutOfRange, "%s must be from 0 to 5", path))
	default:
		return Rating(hundredths)
	}
	return Unrated
}

// instant parses a timestamp from 1970 to now, truncated to milliseconds; it returns the zero time for a blank one.
func (c *checks) instant(path, sent string, now time.Time) time.Time {
	if isBlank(sent) {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, sent)
	if err != nil {
		c.problems.Add(fault.Fieldf(path, fault.InvalidFormat, "%s must be an RFC 3339 timestamp such as 2026-04-11T10:42:17Z", path))
		return time.Time{}
	}
	if at = instant.Cut(at); at.Before(time.UnixMilli(0)) || at.After(now) {
		c.problems.Add(fault.Fieldf(path, fault.OutOfRange, "%s must not be before 1970, nor in the future", path))
		return time.Time{}
	}
	return at
}

// branch parses an industry and a vertical. Both may be blank.
func (c *checks) branch(catalog Catalog, sentIndustry, sentVertical string) (id.Industry, id.Vertical) {
	industry, vertical := foreign[id.Industry](c, "industry_id", sentIndustry), foreign[id.Vertical](c, "vertical_id", sentVertical)
	if industry != "" && !catalog.Industries[industry] {
		c.problems.Add(unknown("industry_id", "industry", industry))
	}
	within, found := catalog.Verticals[vertical]
	switch {
	case vertical == "":
	case !found:
		c.problems.Add(unknown("vertical_id", "vertical", vertical))
	case isBlank(sentIndustry):
		industry = within
	case catalog.Industries[industry] && industry != within:
		c.problems.Add(fault.Fieldf("vertical_id", fault.UnknownValue, "vertical_id names a vertical of another industry, %s", within))
	}
	return industry, vertical
}

// unknown is the error of an id that names nothing.
func unknown[I id.ID](path, what string, which I) fault.Field {
	return fault.Quotef(path, fault.UnknownValue, string(which), "%s names no %s: %s", path, what, which)
}

// campaigns parses ids of campaigns and drops duplicates.
func (c *checks) campaigns(catalog Catalog, sent []string) []id.Campaign {
	if len(sent) > MostCampaigns {
		c.problems.Add(fault.Fieldf("campaign_ids", fault.TooMany,
			"campaign_ids has %d items; at most %d are allowed", len(sent), MostCampaigns))
		return nil
	}
	var campaigns []id.Campaign
	for i, one := range sent {
		path := "campaign_ids." + strconv.Itoa(i)
		campaign := foreign[id.Campaign](c, path, one)
		if campaign != "" && !catalog.Campaigns[campaign] {
			c.problems.Add(unknown(path, "campaign", campaign))
		}
		if campaign != "" {
			campaigns = append(campaigns, campaign)
		}
	}
	slices.Sort(campaigns)
	return slices.Compact(campaigns)
}

// contacts validates contacts, and returns those of which the id is derived from a spelling that is not kept: their places, with it.
func (c *checks) contacts(of id.Lead, sent []ContactDraft) (contacts []Contact, raw map[int]Contact) {
	if len(sent) > MostContacts {
		c.problems.Add(fault.Fieldf("contacts", fault.TooMany, "contacts has %d items; at most %d are allowed", len(sent), MostContacts))
		return nil, nil
	}
	contacts = make([]Contact, 0, len(sent))
	primary := -1
	for i, draft := range sent {
		at := "contacts." + strconv.Itoa(i) + "."
		keys := sentKeys{}
		contact := Contact{
			Name:    c.line(at+"name", draft.Name, NameLength),
			Title:   c.line(at+"title", draft.Title, NameLength),
			Email:   c.optional(0, func() string { return c.email(at+"email", draft.Email, &keys) }),
			Primary: draft.Primary,
		}
		if contact.Email == "" { // it was dropped
			keys.raw.email = ""
		}
		contact.ID = foreign[id.Contact](c, at+"id", draft.ID)
		if isBlank(draft.ID) {
			spelled := Contact{Name: formerly(draft.Name, contact.Name), Email: keys.raw.email}
			if contact.ID = deriveContact(of, spelled); spelled.Name != contact.Name || spelled.Email != contact.Email {
				if raw == nil { // as in most leads
					raw = map[int]Contact{}
				}
				raw[len(contacts)] = spelled
			}
		}
		if contact.Name == "" && contact.Email == "" {
			if c.lenient && !isBlank(draft.Email) {
				continue // nothing is left of it
			}
			c.problems.Add(fault.Fieldf(at+"name", fault.Required, "a contact must have a name or an email"))
		}
		if contact.ID != "" && slices.ContainsFunc(contacts, func(other Contact) bool { return other.ID == contact.ID }) {
			c.problems.Add(fault.Fieldf(at+"id", fault.Duplicate,
				"%s is the id of another contact of the lead; contacts without ids must differ in their emails, or else their names",
				at+"id"))
		}
		switch {
		case !contact.Primary:
		case primary < 0:
			primary = i
		default:
			wrong := fault.Fieldf(at+"is_primary_lead", fault.Duplicate,
				"%sis_primary_lead is true, as it is of contacts.%d; one contact at most is the primary one", at, primary)
			if c.lenient {
				contact.Primary = false
				c.dropped.Add(wrong)
			} else {
				c.problems.Add(wrong)
			}
		}
		contacts = append(contacts, contact)
	}
	return contacts, raw
}

// deriveContact derives an id from the lead and the e-mail of the contact, or its name if it has no e-mail, both as they were sent: unlike
// leads, contacts are not looked for by former ids. Without either the id is empty.
func deriveContact(of id.Lead, contact Contact) id.Contact {
	if contact.Email != "" {
		return id.Derive[id.Contact](string(of), "email", strings.ToLower(contact.Email))
	}
	if contact.Name != "" {
		return id.Derive[id.Contact](string(of), "name", text.Fold(contact.Name))
	}
	return ""
}

// foreign parses an id, which may be blank.
func foreign[I id.ID](c *checks, path, sent string) I {
	if isBlank(sent) {
		return ""
	}
	read, ok := id.ParseForeign[I](sent)
	if !ok {
		c.problems.Add(fault.Fieldf(path, fault.InvalidFormat, "%s must be an id: %s and 1 to %d letters, digits, hyphens or underscores",
			path, id.Prefix[I](), id.ForeignLength))
	}
	return read
}

// oneOf parses one of the allowed words; a blank one is the default.
func oneOf[W ~string](c *checks, path, sent string, usual W, allowed []W) W {
	if isBlank(sent) {
		return usual
	}
	if !slices.Contains(allowed, W(sent)) {
		c.problems.Add(fault.Fieldf(path, fault.UnknownValue, "%s must be one of %s", path, words(allowed)))
	}
	return W(sent)
}

func isBlank(sent string) bool { return text.IsBlank(sent) }

func words[W ~string](all []W) string { return joined(all, ", ") }
