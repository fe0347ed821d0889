package access_test

import (
	"slices"
	"testing"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
)

const (
	acme  = "cmp_01h455vb4pex5vsknk084sn02q"
	other = "cmp_01h455vb4pex5vsknk084sn02r"
)

const (
	granted = fault.Code("")
	scope   = fault.InsufficientScope
	unknown = fault.NotFound
)

// grants says, for every kind of token, what it may do in either company.
var grants = []struct {
	scopes      []string
	read        [2]fault.Code // in acme, in other
	write       [2]fault.Code
	admin       [2]fault.Code
	readOf      []id.Company // what lists show
	readsAll    bool
	writes      fault.Code // anywhere at all
	writesAll   fault.Code // everywhere
	administers fault.Code
}{
	{
		scopes: nil,
		read:   [2]fault.Code{scope, scope}, write: [2]fault.Code{scope, scope}, admin: [2]fault.Code{scope, scope},
		writes: scope, writesAll: scope, administers: scope,
	},
	{
		scopes: []string{"read"},
		read:   [2]fault.Code{granted, granted}, write: [2]fault.Code{scope, scope}, admin: [2]fault.Code{scope, scope},
		readsAll: true, writes: scope, writesAll: scope, administers: scope,
	},
	{
		scopes: []string{"write"},
		read:   [2]fault.Code{scope, scope}, write: [2]fault.Code{granted, granted}, admin: [2]fault.Code{scope, scope},
		writes: granted, writesAll: granted, administers: scope,
	},
	{
		scopes: []string{"read", "write"},
		read:   [2]fault.Code{granted, granted}, write: [2]fault.Code{granted, granted}, admin: [2]fault.Code{scope, scope},
		readsAll: true, writes: granted, writesAll: granted, administers: scope,
	},
	{
		scopes: []string{"admin"},
		read:   [2]fault.Code{granted, granted}, write: [2]fault.Code{granted, granted}, admin: [2]fault.Code{granted, granted},
		readsAll: true, writes: granted, writesAll: granted, administers: granted,
	},
	{
		scopes: []string{"company:" + acme + ":read"},
		read:   [2]fault.Code{granted, unknown}, write: [2]fault.Code{scope, scope}, admin: [2]fault.Code{scope, scope},
		readOf: []id.Company{acme}, writes: scope, writesAll: scope, administers: scope,
	},
	{
		scopes: []string{"company:" + acme + ":write"},
		read:   [2]fault.Code{scope, scope}, write: [2]fault.Code{granted, unknown}, admin: [2]fault.Code{scope, scope},
		writes: granted, writesAll: scope, administers: scope,
	},
	{
		scopes: []string{"company:" + acme + ":read", "company:" + acme + ":write"},
		read:   [2]fault.Code{granted, unknown}, write: [2]fault.Code{granted, unknown}, admin: [2]fault.Code{scope, scope},
		readOf: []id.Company{acme}, writes: granted, writesAll: scope, administers: scope,
	},
	{
		scopes: []string{"company:" + acme + ":read", "company:" + other + ":write"},
		read:   [2]fault.Code{granted, scope}, write: [2]fault.Code{scope, granted}, admin: [2]fault.Code{scope, scope},
		readOf: []id.Company{acme}, writes: granted, writesAll: scope, administers: scope,
	},
	{
		scopes: []string{"read", "company:" + acme + ":write"},
		read:   [2]fault.Code{granted, granted}, write: [2]fault.Code{granted, scope}, admin: [2]fault.Code{scope, scope},
		readsAll: true, writes: granted, writesAll: scope, administers: scope,
	},
	{
		scopes: []string{"write", "company:" + acme + ":read"},
		read:   [2]fault.Code{granted, scope}, write: [2]fault.Code{granted, granted}, admin: [2]fault.Code{scope, scope},
		readOf: []id.Company{acme}, writes: granted, writesAll: granted, administers: scope,
	},
}

func TestCallersMayDoWhatTheirScopesGrantInEachCompany(t *testing.T) {
	t.Parallel()
	for _, c := range grants {
		caller := access.Caller{Scopes: scopes(t, c.scopes)}
		for permission, want := range map[access.Permission][2]fault.Code{
			access.Read: c.read, access.Write: c.write, access.Admin: c.admin,
		} {
			for i, company := range []id.Company{acme, other} {
				err := caller.NeedsIn(permission, company)
				if got := fault.CodeOf(err); got != want[i] {
					t.Errorf("%v: %s in %s: %q; want %q", c.scopes, permission, company, got, want[i])
				}
				if want[i] == scope && fault.Of(err).Details["required"] != string(permission) {
					t.Errorf("%v: %s in %s: details %v", c.scopes, permission, company, fault.Of(err).Details)
				}
			}
		}
	}
}

func TestCallersMayDoWhatTheirScopesGrantBeyondOneCompany(t *testing.T) {
	t.Parallel()
	for _, c := range grants {
		caller := access.Caller{Scopes: scopes(t, c.scopes)}
		if got := fault.CodeOf(caller.Needs(access.Write)); got != c.writes {
			t.Errorf("%v: to write somewhere: %q; want %q", c.scopes, got, c.writes)
		}
		if got := fault.CodeOf(caller.NeedsEverywhere(access.Write)); got != c.writesAll {
			t.Errorf("%v: to write everywhere: %q; want %q", c.scopes, got, c.writesAll)
		}
		if got := fault.CodeOf(caller.Needs(access.Admin)); got != c.administers {
			t.Errorf("%v: to administer: %q; want %q", c.scopes, got, c.administers)
		}
	}
}

func TestListsShowCallersWhatTheyMayRead(t *testing.T) {
	t.Parallel()
	for _, c := range grants {
		companies, everywhere := access.Caller{Scopes: scopes(t, c.scopes)}.Within()
		if everywhere != c.readsAll || !slices.Equal(companies, c.readOf) {
			t.Errorf("%v: %v, everywhere: %v", c.scopes, companies, everywhere)
		}
	}
}

func TestPartsOfHoldcoMayDoEverything(t *testing.T) {
	t.Parallel()
	caller := access.System("worker")
	if err := caller.NeedsIn(access.Admin, acme); err != nil || caller.Actor != event.Actor("system:worker") {
		t.Errorf("%v: %v", caller, err)
	}
}

func scopes(t *testing.T, names []string) access.Scopes {
	t.Helper()
	var read access.Scopes
	for _, text := range names {
		scope, ok := access.ParseScope(text)
		if !ok {
			t.Fatalf("%s is no scope", text)
		}
		read = append(read, scope)
	}
	return read
}
