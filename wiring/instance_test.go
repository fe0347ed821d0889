package wiring_test

import (
	"testing"

	"holdco/adapters/http/rest/resttest"
)

func TestTheServerShowsWhatItIs(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		type shown struct {
			Version, PublicKey string
			Store              struct {
				Kind   string
				Schema int64
			}
			RequestsPerMinute map[string]*int64
			Listeners         map[string]*string
			MaxImportBytes    int64
			Leads             *struct{ Leads, Campaigns, Industries, Verticals int64 }
		}
		acme := s.create(t, `{"name":"Acme","slug":"acme"}`)
		head := resttest.Data[struct{ PublicKey string }](t, s.Get(acme.path()+"/audit/head"))
		for scope, seesLeads := range map[string]bool{
			"admin": true, "read": false, "company:" + acme.ID + ":read": false, "company:" + acme.ID + ":write": false,
		} {
			answer := s.As(s.issue(t, scope).Token).In(t).Get("/v1/instance")
			answer.Is(t, 200, "")
			got := resttest.Data[shown](t, answer)
			if got.Version != version.Number || got.PublicKey != head.PublicKey || got.Store.Schema < 31 ||
				(got.Leads != nil) != seesLeads || len(got.RequestsPerMinute) != 5 || len(got.Listeners) != 5 ||
				got.MaxImportBytes != 1<<30 {
				t.Errorf("%s: %s", scope, answer.Body)
			}
		}
		s.As("hco_none").In(t).Get("/v1/instance").Is(t, 401, "unauthorized")
		s.As("").In(t).Get("/v1/instance").Is(t, 401, "unauthorized")
	})
}
