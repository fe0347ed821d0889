package store

import (
	"context"
	"time"

	"holdco/domain/budget"
	"holdco/domain/id"
	"holdco/domain/money"
)

// EnvelopeReader reads what is kept of envelopes.
type EnvelopeReader interface {
	// Accounts returns the accounts with some ids. Of what has none, it returns the one with which it begins: its ID and the company.
	Accounts(ctx context.Context, of id.Company, ids ...string) (map[string]budget.Account, error)

	// Spent sums the charges of a company that count under something since an instant; zero: ever. For a team and an agent the instant
	// is the start of a UTC day. It fits once: Account.Spent is kept from then on. Of goals and workflows no sums are kept, and it is 0:
	// their accounts are counted before anything is charged to them.
	Spent(ctx context.Context, of id.Company, scope budget.Scope, which string, since time.Time) (money.USD, error)

	// TeamBudgets sums the budgets of the teams of a company, but one.
	TeamBudgets(ctx context.Context, of id.Company, but id.Team) (money.USD, error)

	// DailyBudgets sums the daily budgets of the agents of a team that have not retired, but one.
	DailyBudgets(ctx context.Context, of id.Team, but id.Agent) (money.USD, error)

	// Limited returns what of a company has a limit of a scope and comes after an id, by ascending id: size at most. Teams have the
	// period of the company, which is left out of what is returned, and so are issues that have ended.
	Limited(ctx context.Context, of id.Company, scope budget.Scope, after string, size int) ([]budget.Envelope, error)
}

// Envelopes reads and changes what is kept of envelopes, in the turn of the company. The limits of teams and of what issues are for
// are kept by those who save these.
type Envelopes interface {
	EnvelopeReader

	// Save replaces accounts, but not Account.Limit. It needs no event.
	Save(ctx context.Context, saved []budget.Account) error

	// EndTopups makes nothing of the Topups of all accounts of a company.
	EndTopups(ctx context.Context, of id.Company) error

	// Freed raises the work revision of a company: what was too dear may not be any more.
	Freed(ctx context.Context, of id.Company) error
}
