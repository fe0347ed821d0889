package store

import (
	"context"
	"time"

	"holdco/domain/dashboard"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
)

// DashboardReader reads what the dashboard of a company shows. No cost grows with the issues, runs and approvals that have ended.
type DashboardReader interface {
	// Inbox returns at most size of the items that wait for a person at an instant, and come after a position, in a company: those that
	// have waited longest come first. If of is nil, it returns those of all active companies.
	Inbox(ctx context.Context, of *id.Company, at time.Time, after page.Position, size int) (page.Page[dashboard.Item], error)

	// InboxCounts counts the items of a company: of approvals with questions, and of issues that are waiting, dashboard.MostCounted each
	// at most; all of the others.
	InboxCounts(ctx context.Context, of id.Company, at time.Time) (dashboard.InboxCounts, error)

	// Health returns how the agents of a company are at an instant.
	Health(ctx context.Context, of id.Company, at time.Time) (dashboard.Health, error)

	// Tasks returns the counts that are kept of the issues of a company, those by days since one.
	Tasks(ctx context.Context, of id.Company, since time.Time) (Tasks, error)
}

// Tasks are counts of issues: by team, and by day, such as 2026-04-11, of those that were done or have failed on it.
type Tasks struct {
	OfTeams map[id.Team]map[issue.Status]int64
	OfDays  map[string]map[issue.Status]int64
}
