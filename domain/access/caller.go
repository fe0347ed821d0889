package access

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// Caller is who asks: an authenticated token, or a part of Holdco itself. Every use case takes one.
type Caller struct {
	Token     id.Token // empty for System callers
	Name      string
	Scopes    Scopes
	Actor     event.Actor
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

// System is a part of Holdco that acts by itself, with every permission.
func System(component string) Caller {
	return Caller{Name: component, Scopes: Scopes{{Permission: Admin}}, Actor: event.Actor("system:" + component)}
}

// Needs refuses a caller who is granted p nowhere at all, with fault.InsufficientScope.
func (c Caller) Needs(p Permission) error {
	if c.Scopes.somewhere(p) {
		return nil
	}
	return insufficient(p)
}

// NeedsEverywhere refuses a caller who is granted p in single companies at most, with fault.InsufficientScope.
func (c Caller) NeedsEverywhere(p Permission) error {
	if c.Scopes.everywhere(p) {
		return nil
	}
	return insufficient(p)
}

// NeedsIn refuses a caller who is not granted p in company: with fault.InsufficientScope when the caller may know the
// company or has p nowhere, with fault.NotFound when the company is none of the caller's business.
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

// Within lists the companies that the caller may see in lists; everywhere means all of them.
func (c Caller) Within() (companies []id.Company, everywhere bool) {
	if c.Scopes.everywhere(Read) {
		return nil, true
	}
	return c.Scopes.companies(Read), false
}

// NoCompany is the refusal for a company that does not exist, or not for the caller.
func NoCompany() error { return fault.New(fault.NotFound, "There is no such company.") }
