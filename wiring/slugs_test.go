package wiring_test

import "testing"

func TestATakenSlugNamesItsHolderToThoseWhoMayReadIt(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, named("acme")), s.create(t, named("other"))
		s.Post(other.path()+"/archive", "").Is(t, 200, "")
		deleting := s.create(t, named("deleting"))
		unblock := s.obstruct(t)
		defer unblock()
		s.abandonedDelete(t, deleting)
		for _, c := range []struct {
			scopes []string
			sees   map[string]any // by slug: what details.companyId is
		}{
			{[]string{"admin"}, map[string]any{"acme": acme.ID, "other": other.ID, "deleting": deleting.ID}},
			{[]string{"read", "write"}, map[string]any{"acme": acme.ID, "other": other.ID, "deleting": deleting.ID}},
			{[]string{"write", "company:acme:read"}, map[string]any{"acme": acme.ID, "other": nil, "deleting": nil}},
			{[]string{"write", "company:acme:write"}, map[string]any{"acme": nil, "other": nil}},
			{[]string{"write"}, map[string]any{"acme": nil, "other": nil, "deleting": nil}},
		} {
			client := s.with(t, c.scopes...)
			for slug, want := range c.sees {
				refused := client.Post("/v1/companies", named(slug))
				refused.Is(t, 409, "slug_in_use")
				if got := details(t, refused); got["companyId"] != want || got["slug"] != slug {
					t.Errorf("%v, %s: %v, want the id %v", c.scopes, slug, got, want)
				}
			}
		}
	})
}
