package access_test

import (
	"slices"
	"testing"

	"holdco/domain/access"
)

func TestScopesAreReadAsTheyAreSpelled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]access.Scope{
		"read":                       {Permission: access.Read},
		"write":                      {Permission: access.Write},
		"admin":                      {Permission: access.Admin},
		"company:" + acme + ":read":  {Permission: access.Read, Company: acme},
		"company:" + acme + ":write": {Permission: access.Write, Company: acme},
	} {
		got, ok := access.ParseScope(text)
		if got != want || !ok {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
		if spelled := got.String(); spelled != text {
			t.Errorf("%s is spelled %s", text, spelled)
		}
	}
	if got := (access.Scopes{{Permission: access.Write}, {Permission: access.Read, Company: acme}}).Strings(); !slices.Equal(got,
		[]string{"write", "company:" + acme + ":read"}) {
		t.Errorf("%v", got)
	}
}

func TestAScopeMayNameItsCompanyBySlug(t *testing.T) {
	t.Parallel()
	got, ok := access.ParseReference("company:acme-2:write")
	if want := (access.Reference{Permission: access.Write, Company: "acme-2"}); got != want || !ok {
		t.Errorf("%v, %v", got, ok)
	}
	if got, ok := access.ParseScope("company:acme-2:write"); ok {
		t.Errorf("a slug is taken for a scope that is settled: %v", got)
	}
}

func TestWhatIsNoScopeIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "Read", "READ", " read", "read ", "read,write", "delete", "*", "read:write",
		"company", "company:", "company::", "company::read", "company:acme", "company:acme:", "company:acme:admin", "company:acme:delete",
		"company:acme:read:", "company:acme:read:write", "company:a:b:read", "Company:acme:read", "companies:acme:read",
	} {
		if got, ok := access.ParseReference(text); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
		if got, ok := access.ParseScope(text); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}
