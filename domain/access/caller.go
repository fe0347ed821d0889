package access

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// Caller is who makes a request: an authenticated token, or a part of Holdco itself. Every use case takes one.
type Caller struct {
	Token     id.Token // empty for System callers
	Name      string
	Scopes    Scopes
	Actor     event.Actor
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

// System returns the caller for a part of Holdco that acts by itself, with every permission.
func System(component string) Caller {
	return Caller{Name: component, Scopes: Scopes{{Permission: Admin}}, Actor: event.Actor("system:" + component)}
}

// Needs fails with fault.InsufficientScope unless the caller is granted p, everywhere or in any company.
func (c Caller) Needs(p Permission) error {
	if c.Scopes.somewhere(p) {
		return nil
	}
	return insufficient(p)
}

// NeedsEverywhere fails with fault.InsufficientScope unless the caller is granted p everywhere.
func (c Caller) NeedsEverywhere(p Permission) error {
	if c.Scopes.everywhere(p) {
		return nil
	}
	return insufficient(p)
}

// NeedsIn fails unless the caller is granted p in company: with fault.NotFound when the caller has p in other companies
// only and no scope for this one, so that it does not learn of the company, else with fault.InsufficientScope.
func (c Caller) NeedsIn(p Permission, company id.Company) error {
	if c.Scopes.everywhere(p) {
		return nil
	}
	for _, granted := range c.Scopes.companies(p) {
		if granted == company {
			return nil
		}
	}
	if c.Scopes.sees(company) || !c.Scopes.somewhere(p) {
		return insufficient(p)
	}
	return NoCompany()
}

// Within returns the companies that the caller may see in lists; everywhere means all of them.
func (c Caller) Within() (companies []id.Company, everywhere bool) {
	if c.Scopes.everywhere(Read) {
		return nil, true
	}
	return c.Scopes.companies(Read), false
}

// NoCompany is the fault for a company that does not exist or that the caller may not know of.
func NoCompany() error { return fault.New(fault.NotFound, "There is no such company.") }
