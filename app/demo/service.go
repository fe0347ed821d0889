package demo

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/demo"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/ports/inbound"
)

// Clock is the time of the past that is written down. It is safe for concurrent use.
type Clock struct{ at atomic.Pointer[time.Time] }

// Now implements outbound.Clock.
func (c *Clock) Now() time.Time {
	if at := c.at.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

func (c *Clock) set(at time.Time) { c.at.Store(new(at.UTC().Truncate(time.Millisecond))) }

// World are the use cases on the store of the past, whose time is Clock.
type World struct {
	Clock *Clock

	// Unit runs what is done in it as one unit of work with the turn of a company. It may run it more than once.
	Unit func(ctx context.Context, of id.Company, do func(ctx context.Context) error) error

	Companies inbound.Companies
	Agents    inbound.Agents
	Goals     inbound.Goals
	Projects  inbound.Projects
	Workflows inbound.Workflows
	Budgets   inbound.Budgets
	Issues    inbound.Issues
	Approvals inbound.Approvals
	Leases    interface {
		inbound.Leases
		inbound.AgentApprovals
	}
}

// Service is the application's inbound.Demo.
type Service struct{ World }

var _ inbound.Demo = (*Service)(nil)

// New returns the use cases.
func New(world World) *Service { return &Service{world} }

// people are those who file issues, and decide.
var people = access.System("demo")

// Fill makes the company and its past.
func (s *Service) Fill(ctx context.Context, caller access.Caller, past inbound.DemoPast) (filled inbound.DemoFilled, err error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return filled, err
	}
	if !demo.IsPast(past.Days) {
		return filled, fault.Validation(fault.Problems{fault.Fieldf("history", fault.OutOfRange, "history must be from %d to %d days",
			demo.FewestDays, demo.MostDays)})
	}
	first := past.Until.UTC().Truncate(day).AddDate(0, 0, -past.Days)
	o, err := s.found(ctx, first.Add(opening), past)
	if err != nil {
		return filled, err
	}
	filled.Company = o.of
	for n := range past.Days + 1 {
		if past.Progress != nil {
			past.Progress(n+1, past.Days+1)
		}
		if err := o.work(ctx, first.AddDate(0, 0, n)); err != nil {
			return filled, fmt.Errorf("day %d of the past: %w", n+1, err)
		}
	}
	last := past.Until.Add(-lastHour)
	if err := o.unit(ctx, last, func(ctx context.Context, o *office) error { return o.leave(ctx, last) }); err != nil {
		return filled, err
	}
	s.Clock.set(past.Until)
	if filled.Issues, err = s.Issues.Count(ctx, people, inbound.IssueList{Company: o.of, Size: 1}); err != nil {
		return filled, err
	}
	filled.Spent, err = s.budget(ctx, o.of)
	return filled, err
}

// budget is the envelope of a company.
func (s *Service) budget(ctx context.Context, of id.Company) (budget.Envelope, error) {
	found, err := s.Budgets.List(ctx, people, of, budget.OfCompany, noPlace, 1)
	if err != nil || len(found.Items) == 0 {
		return budget.Envelope{}, err
	}
	return found.Items[0], nil
}

// office is the company at work. A copy goes on like the original.
type office struct {
	*Service

	of       id.Company
	teams    map[string]id.Team // by slug
	staff    []employee
	projects []id.Project
	until    time.Time // the end of the past
	dice     demo.Dice
	releases int       // that were filed
	looked   time.Time // when people last looked at what had failed
}

// employee is an agent who was hired.
type employee struct {
	demo.Agent
	agent.Caller
}
