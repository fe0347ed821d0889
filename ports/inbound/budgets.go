package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/money"
	"holdco/domain/page"
)

// Budgets are the use cases of budgets. A company that does not exist, or that the caller may not know of, is fault.NotFound.
type Budgets interface {
	// List needs Read. It returns a page of the envelopes of a company: its own, and those of every team, agent, goal, project and
	// workflow that has a limit, in this order; of a scope those of that alone. Those of open issues are in the list of their scope only.
	List(
		ctx context.Context, caller access.Caller, of id.Company, scope budget.Scope, after page.Position, size int,
	) (page.Page[budget.Envelope], error)

	// Topup needs Write. It gives an amount of the reserve of the company to a team, for the current period. It fails with
	// fault.ValidationFailed, fault.ReserveExhausted, fault.CompanyArchived and fault.InvalidTransition.
	Topup(ctx context.Context, caller access.Caller, of id.Company, draft TopupDraft, once idempotency.Request) (Topup, error)
}

// TopupDraft is what was sent to give an amount of the reserve to a team; nil fields were absent. Problems are errors of its form.
type TopupDraft struct {
	Team     *string
	USD      *money.Number
	Problems fault.Problems
}

// Topup is what the reserve of a company gave to a team, with the envelopes of both.
type Topup struct {
	Amount        money.USD
	Company, Team budget.Envelope
}

// Fields returns the top-up as the API shows it.
func (t Topup) Fields() event.Fields {
	return event.Fields{
		event.F("teamId", t.Team.Account.ID),
		event.F("usd", t.Amount),
		event.F("reserveUsd", t.Company.ReserveLeft()),
		event.F("team", t.Team.Fields()),
		event.F("company", t.Company.Fields()),
	}
}
