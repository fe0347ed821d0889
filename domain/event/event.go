package event

import (
	"strings"
	"time"

	"holdco/domain/id"
)

// Type names what happened, such as company.updated: the subject's kind, then the verb in the past.
type Type string

// The events there are.
const (
	CompanyCreated  Type = "company.created"
	CompanyUpdated  Type = "company.updated"
	CompanyArchived Type = "company.archived"
	CompanyRestored Type = "company.restored"
	CompanyDeleted  Type = "company.deleted"

	CompanyBudgetBreach Type = "company.budget.breach"

	TokenCreated Type = "token.created"
	TokenRotated Type = "token.rotated"
	TokenRevoked Type = "token.revoked"

	WebhookCreated       Type = "webhook.created"
	WebhookUpdated       Type = "webhook.updated"
	WebhookDisabled      Type = "webhook.disabled" // by Holdco itself
	WebhookSecretRotated Type = "webhook.secret_rotated"
	WebhookDeleted       Type = "webhook.deleted"
	WebhookTest          Type = "webhook.test"

	PartnerCreated Type = "partner.created"
	PartnerUpdated Type = "partner.updated"
	PartnerRotated Type = "partner.rotated"
	PartnerRevoked Type = "partner.revoked"

	LeadImported     Type = "lead.imported" // one for each batch that changed anything; so are those below
	LeadRemoved      Type = "lead.removed"
	CampaignImported Type = "campaign.imported"
	TaxonomyImported Type = "taxonomy.imported"
)

// Category groups events in the activity log: company, token, ...
func (t Type) Category() string {
	category, _, _ := strings.Cut(string(t), ".")
	return category
}

// Event is one fact. A store stamps ID and At when it records the event in the transaction of the change.
type Event struct {
	ID       id.Entry
	Company  id.Company // empty: it concerns the whole instance
	Type     Type
	Actor    Actor
	Subject  Subject
	Data     Fields // the resource after the change, as the API shows it
	Previous Fields // what the changed fields were before; nil unless the event is an update
	At       time.Time
}

// By returns e with its actor.
func (e Event) By(actor Actor) Event {
	e.Actor = actor
	return e
}

// Actor is who did it: token:<id>, agent:<id>, user:<id> or system:<component>.
type Actor string

// Subject is what it was done to: a kind such as "company", and its id.
type Subject struct{ Type, ID string }
