package inbound

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/id"
	"holdco/domain/issue"
)

// Demo makes a company to look at: that of package demo in the domain.
type Demo interface {
	// Fill founds the company in the past, and has it work until the end of that, as if it had been there. It needs Admin everywhere,
	// and fails with fault.SlugInUse when there is a company with its slug. What it has done stays when it is interrupted. Servers may
	// be running on the store.
	Fill(ctx context.Context, caller access.Caller, past DemoPast) (DemoFilled, error)
}

// DemoPast is the past that the company gets. It follows from Seed and Until.
type DemoPast struct {
	Days     int // see demo.IsPast; the first one begins at midnight UTC
	Until    time.Time
	Seed     uint64
	Progress func(day, of int) // is called as each day begins, from 1 on; may be nil
}

// DemoFilled is what there is of the company then.
type DemoFilled struct {
	Company id.Company
	Issues  issue.Counts
	Spent   budget.Envelope // of the company in its current period
}
