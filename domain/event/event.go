package event

import (
	"slices"
	"strings"
	"time"

	"holdco/domain/id"
)

// Type names what happened, such as company.updated: the kind of the subject, then a verb in the past tense.
type Type string

// The types of events.
var (
	CompanyCreated  = define("company.created")
	CompanyUpdated  = define("company.updated")
	CompanyArchived = define("company.archived")
	CompanyRestored = define("company.restored")
	CompanyDeleted  = define("company.deleted")

	CompanyBudgetBreach  = define("company.budget.breach") // so are those below it: a level was reached
	TeamBudgetBreach     = define("team.budget.breach")
	AgentBudgetBreach    = define("agent.budget.breach")
	GoalBudgetBreach     = define("goal.budget.breach")
	ProjectBudgetBreach  = define("project.budget.breach")
	WorkflowBudgetBreach = define("workflow.budget.breach")
	IssueBudgetBreach    = define("issue.budget.breach")
	TeamBudgetTopup      = define("team.budget.topup")

	TeamCreated = define("team.created")
	TeamUpdated = define("team.updated")
	TeamDeleted = define("team.deleted")

	AgentHired        = define("agent.hired")
	AgentUpdated      = define("agent.updated")
	AgentPaused       = define("agent.paused")
	AgentResumed      = define("agent.resumed")
	AgentRetired      = define("agent.retired")
	AgentTokenRotated = define("agent.token.rotated")
	AgentHeld         = define("agent.held") // its runs fail
	AgentHoldReleased = define("agent.hold_released")

	IssueCreated   = define("issue.created")
	IssueUpdated   = define("issue.updated")
	IssueAssigned  = define("issue.assigned")
	IssueRequeued  = define("issue.requeued")
	IssueStarted   = define("issue.started")
	IssueSubmitted = define("issue.submitted")
	IssueCompleted = define("issue.completed")
	IssueRejected  = define("issue.rejected")
	IssueFailed    = define("issue.failed")
	IssueCancelled = define("issue.cancelled")
	IssueHandedOff = define("issue.handed_off")
	IssueCommented = define("issue.commented")

	RunCheckpointed = define("run.checkpointed") // webhooks do not send it

	CostAdjusted = define("cost.adjusted")
	GoalCreated  = define("goal.created")
	GoalUpdated  = define("goal.updated")
	GoalClosed   = define("goal.closed")

	ProjectCreated      = define("project.created")
	ProjectUpdated      = define("project.updated")
	ProjectArchived     = define("project.archived")
	WorkflowCreated     = define("workflow.created")
	WorkflowUpdated     = define("workflow.updated")
	WorkflowDeleted     = define("workflow.deleted")
	ApprovalRequested   = define("approval.requested")
	ApprovalApproved    = define("approval.approved") // with edits or without
	ApprovalDenied      = define("approval.denied")
	ApprovalExpired     = define("approval.expired")
	ApprovalCommented   = define("approval.commented")
	ApprovalRuleCreated = define("approval.rule.created")
	ApprovalRuleDeleted = define("approval.rule.deleted")

	TokenCreated = define("token.created")
	TokenRotated = define("token.rotated")
	TokenRevoked = define("token.revoked")

	TokenSignedIn  = define("token.signed_in") // a person, at the dashboard
	TokenSignedOut = define("token.signed_out")
	TokenLoginLink = define("token.login_link") // was made

	WebhookCreated       = define("webhook.created")
	WebhookUpdated       = define("webhook.updated")
	WebhookDisabled      = define("webhook.disabled") // by Holdco itself
	WebhookSecretRotated = define("webhook.secret_rotated")
	WebhookDeleted       = define("webhook.deleted")
	WebhookRedelivered   = define("webhook.redelivered")
	WebhookResumed       = define("webhook.resumed") // what it has to send was held
	WebhookTest          = define("webhook.test")

	PartnerCreated = define("partner.created")
	PartnerUpdated = define("partner.updated")
	PartnerRotated = define("partner.rotated")
	PartnerRevoked = define("partner.revoked")

	SecretCreated = define("secret.created")
	SecretUpdated = define("secret.updated")
	SecretRotated = define("secret.rotated")
	SecretRemoved = define("secret.removed")

	KeyRotated = define("key.rotated")

	StoreRepaired = define("store.repaired") // of a company: what was derived from its rows is so again
	StoreRestored = define("store.restored") // from a backup
	StorePruned   = define("store.pruned")   // of the instance: what was old enough is gone

	BackupCompleted = define("backup.completed") // by a server, as it is scheduled
	BackupFailed    = define("backup.failed")

	LeadImported     = define("lead.imported") // one or more for each batch, with lead.MostTold ids at most; so are those below
	LeadUpdated      = define("lead.updated")
	LeadRemoved      = define("lead.removed")
	LeadSuppressed   = define("lead.suppressed") // imports must not bring back some
	LeadReleased     = define("lead.released")   // they may again
	CampaignImported = define("campaign.imported")
	TaxonomyImported = define("taxonomy.imported")

	ImportStarted = define("import.started") // of a file that was sent to a server
	ImportEnded   = define("import.ended")

	PriceImported = define("price.imported") // the prices of all models were replaced
	PriceSet      = define("price.set")
	PriceRemoved  = define("price.removed")
	PriceFallback = define("price.fallback")
)

var types []Type

func define(name Type) Type {
	types = append(types, name)
	return name
}

// Types returns all types of events, in the order of their definition.
func Types() []Type { return slices.Clone(types) }

// Kind is the first word of a type: the kind of the subject in most events.
func (t Type) Kind() string {
	kind, _, _ := strings.Cut(string(t), ".")
	return kind
}

// Category groups events in the activity log: company, task, budget, ...
func (t Type) Category() string {
	switch kind := t.Kind(); {
	case strings.Contains(string(t), ".budget."), kind == "cost", kind == "price":
		return "budget"
	case kind == "issue":
		return "task"
	default:
		return kind
	}
}

// Event is one fact. The store sets ID and At when it records the event, in the transaction of the change.
type Event struct {
	ID       id.Entry
	Company  id.Company // empty: an event of the instance
	Type     Type
	Actor    Actor
	Subject  Subject
	Data     Fields // the resource after the change, as the API shows it
	Previous Fields // the changed fields with their old values; nil unless the event is an update
	At       time.Time
}

// Of makes the event of a resource of a company, whose kind is that of the event: what it is after the change.
func Of(what Type, company id.Company, subject string, data Fields) Event {
	return Event{Company: company, Type: what, Subject: Subject{Type: what.Kind(), ID: subject}, Data: data}
}

// Update finishes the change of a resource from before to next. When a field differs, record marks next as changed and
// makes the event, which gets the former values of the fields that differ. Otherwise nothing has changed: Update returns
// before, and no event.
func Update[T interface{ Fields() Fields }](before, next T, record func(next *T) Event) (T, *Event) {
	former := before.Fields()
	if former.Changed(next.Fields()) == nil {
		return before, nil
	}
	updated := record(&next)
	updated.Previous = former.Changed(updated.Data)
	return next, &updated
}

// By returns e with its actor.
func (e Event) By(actor Actor) Event {
	e.Actor = actor
	return e
}

// Actor is who did it: token:<id>, agent:<id>, user:<id> or system:<component>.
type Actor string

// Subject is what it was done to: a kind, such as "company", and its id.
type Subject struct{ Type, ID string }
