package secret

import (
	"slices"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// Bounds of a secret.
const (
	NameLength        = 100
	MostValue         = 64 << 10 // bytes
	DescriptionLength = 4000
)

// Secret is what may be known of a secret: all but its value. New and stores make a Secret, and only its methods change it.
type Secret struct {
	ID          id.Secret
	Company     id.Company
	Name        string // IsName; unique within the company, permanent
	Category    Category
	Description string // at most DescriptionLength characters
	CreatedAt   time.Time
	UpdatedAt   time.Time
	RotatedAt   time.Time // when it was given its value
	LastUsedAt  time.Time // when a run was given its value last; zero: never
	Version     int64     // grows by one with every change, those of the value included; uses do not count
}

// Category is what a secret is.
type Category string

// The categories.
const (
	APIKey        Category = "api_key"
	OAuthToken    Category = "oauth_token"
	MTLSCert      Category = "mtls_cert"
	WebhookSecret Category = "webhook_secret"
	Other         Category = "other"
)

// Categories returns all of them.
func Categories() []Category { return []Category{APIKey, OAuthToken, MTLSCert, WebhookSecret, Other} }

// Draft is what was sent of a secret; nil fields were absent.
type Draft struct {
	Category    *string
	Description *string
}

// Owner returns the company, for generic code.
func (s Secret) Owner() id.Company { return s.Company }

// CurrentVersion returns Version, for generic code.
func (s Secret) CurrentVersion() int64 { return s.Version }

// Place is what its sealed value is bound to. No two secrets have one, unless one was removed before the other was made.
func (s Secret) Place() string { return Place(s.Company, s.Name) }

// Place is that of the secret of a company that has a name.
func Place(of id.Company, name string) string { return string(of) + "/" + name }

// IsName reports whether a text can be the name of a secret: 1 to NameLength letters and digits of ASCII, dots, underscores and
// hyphens, first a letter.
func IsName(name string) bool {
	if name == "" || len(name) > NameLength || !isLetter(rune(name[0])) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !isLetter(r) && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// CheckName returns what is wrong with the name of a secret at a path.
func CheckName(path, name string) []fault.Field {
	if IsName(name) {
		return nil
	}
	return []fault.Field{fault.Fieldf(path, fault.InvalidFormat,
		"%s must have 1 to %d of the characters A-Z a-z 0-9 . _ -, first a letter", path, NameLength)}
}

// New makes a secret of a company. It fails with fault.ValidationFailed, which lists every invalid field.
func New(newID id.Secret, company id.Company, name string, draft Draft, value []byte, at time.Time) (Secret, event.Event, error) {
	s := Secret{
		ID: newID, Company: company, Name: name, Category: Other, CreatedAt: at, UpdatedAt: at, RotatedAt: at, Version: 1,
	}
	problems := fault.Problems(CheckName("name", name))
	checkValue(value, &problems)
	if s = s.with(draft, &problems); len(problems) > 0 {
		return Secret{}, event.Event{}, fault.Validation(problems)
	}
	return s, s.event(event.SecretCreated), nil
}

// Rotate gives the secret another value, and what else was sent. It fails with fault.ValidationFailed.
func (s Secret) Rotate(draft Draft, value []byte, at time.Time) (Secret, event.Event, error) {
	var problems fault.Problems
	checkValue(value, &problems)
	next := s.with(draft, &problems)
	if len(problems) > 0 {
		return s, event.Event{}, fault.Validation(problems)
	}
	next.changed(at)
	next.RotatedAt = at
	return next, next.event(event.SecretRotated), nil
}

// Apply changes what was sent. It returns the next secret and the event to record, or no event when nothing changed. It fails with
// fault.ValidationFailed.
func (s Secret) Apply(draft Draft, at time.Time) (Secret, *event.Event, error) {
	var problems fault.Problems
	next := s.with(draft, &problems)
	if len(problems) > 0 {
		return s, nil, fault.Validation(problems)
	}
	next, updated := event.Update(s, next, func(next *Secret) event.Event {
		next.changed(at)
		return next.event(event.SecretUpdated)
	})
	return next, updated, nil
}

// Removed is the event of its removal.
func (s Secret) Removed() event.Event { return s.event(event.SecretRemoved) }

func (s Secret) with(sent Draft, problems *fault.Problems) Secret {
	if sent.Category != nil {
		s.Category = Category(*sent.Category)
		if !slices.Contains(Categories(), s.Category) {
			problems.Add(fault.Fieldf("category", fault.UnknownValue,
				"category must be api_key, oauth_token, mtls_cert, webhook_secret or other"))
		}
	}
	text.SetProse(&s.Description, "description", sent.Description, DescriptionLength, problems)
	return s
}

func checkValue(value []byte, problems *fault.Problems) {
	switch {
	case len(value) == 0:
		problems.Add(fault.Fieldf("value", fault.Required, "the value must not be empty"))
	case len(value) > MostValue:
		problems.Add(fault.Fieldf("value", fault.TooLong, "the value must have at most %d bytes", MostValue))
	case slices.Contains(value, 0):
		problems.Add(fault.Fieldf("value", fault.InvalidCharacters,
			"the value must not hold the byte 0, which no variable of a program can"))
	}
}

func (s *Secret) changed(at time.Time) {
	s.UpdatedAt = at
	s.Version++
}

func (s Secret) event(what event.Type) event.Event {
	return event.Of(what, s.Company, s.Name, s.Fields())
}

// Fields returns the secret as the API shows it.
func (s Secret) Fields() event.Fields {
	return event.Fields{
		event.F("name", s.Name),
		event.F("companyId", string(s.Company)),
		event.F("category", string(s.Category)),
		event.F("description", s.Description),
		event.F("version", s.Version),
		event.F("createdAt", instant.Format(s.CreatedAt)),
		event.F("updatedAt", instant.Format(s.UpdatedAt)),
		event.F("rotatedAt", instant.Format(s.RotatedAt)),
		event.F("lastUsedAt", instant.Optional(s.LastUsedAt)),
	}
}
