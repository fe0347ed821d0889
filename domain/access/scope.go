package access

import (
	"slices"
	"strings"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// Permission is a kind of access. Read and Write do not include each other; Admin includes both.
type Permission string

// The permissions.
const (
	Read  Permission = "read"
	Write Permission = "write"
	Admin Permission = "admin"
)

// Scope grants a permission, everywhere or in one company only.
type Scope struct {
	Permission Permission
	Company    id.Company // empty: everywhere
}

const companyPrefix = "company:"

// String formats the scope: read, or company:<id>:read.
func (s Scope) String() string {
	if s.Company == "" {
		return string(s.Permission)
	}
	return companyPrefix + string(s.Company) + ":" + string(s.Permission)
}

// Reference is a scope as it was sent: its company is an id or a slug, still to be looked up.
type Reference struct {
	Permission Permission
	Company    string // empty: everywhere
}

// ParseReference parses read, write, admin, company:<id or slug>:read or company:<id or slug>:write.
func ParseReference(text string) (Reference, bool) {
	permission, company := text, ""
	if rest, ok := strings.CutPrefix(text, companyPrefix); ok {
		company, permission, ok = strings.Cut(rest, ":")
		if !ok || company == "" || permission == string(Admin) {
			return Reference{}, false
		}
	}
	switch p := Permission(permission); p {
	case Read, Write, Admin:
		return Reference{Permission: p, Company: company}, true
	}
	return Reference{}, false
}

// ParseScope parses what String formats.
func ParseScope(text string) (Scope, bool) {
	reference, ok := ParseReference(text)
	if !ok || reference.Company == "" {
		return Scope{Permission: reference.Permission}, ok
	}
	company, ok := id.Parse[id.Company](reference.Company)
	return Scope{Permission: reference.Permission, Company: company}, ok
}

// Scopes are what a token grants.
type Scopes []Scope

// Strings formats each scope.
func (s Scopes) Strings() []string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = scope.String()
	}
	return names
}

// everywhere reports whether p is granted in all companies.
func (s Scopes) everywhere(p Permission) bool {
	return slices.ContainsFunc(s, func(scope Scope) bool {
		return scope.Company == "" && (scope.Permission == p || scope.Permission == Admin)
	})
}

// somewhere reports whether p is granted in any company.
func (s Scopes) somewhere(p Permission) bool { return s.everywhere(p) || len(s.companies(p)) > 0 }

// companies returns the companies in which p is granted by a scope of their own.
func (s Scopes) companies(p Permission) []id.Company {
	var companies []id.Company
	for _, scope := range s {
		if scope.Company != "" && scope.Permission == p {
			companies = append(companies, scope.Company)
		}
	}
	return companies
}

// sees reports whether the caller may learn that the company exists.
func (s Scopes) sees(company id.Company) bool {
	return s.everywhere(Read) || s.everywhere(Write) ||
		slices.ContainsFunc(s, func(scope Scope) bool { return scope.Company == company })
}

func insufficient(required Permission) error {
	return fault.New(fault.InsufficientScope, "The token does not have the scope %s.", required).
		With("required", string(required))
}
