package wiring_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"holdco/adapters/dashboard/browsertest"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/id"
	"holdco/domain/partner"
	"holdco/ports/store"
)

// narrowPartners makes a test key, narrows that of Data Ltd, and sees what they were used for.
func narrowPartners(t *testing.T, s *instance, tab *browsertest.Tab) {
	t.Helper()
	tab.Push("New partner")
	tab.Fill("Name", "Data Ltd, tests")
	tab.Fill("Origins", "http://localhost:3000")
	tab.Focus("Test key It reads 1,000 leads that are made up, and always the same, instead of yours.")
	tab.Press(" ")
	tab.Fill("Campaigns", "spring")
	tab.Expect(422)
	tab.Push("New partner")
	tab.See("campaignIds.0 must be an id that begins with cam_")
	tab.Look("new_partner")
	tab.Fill("Campaigns", strings.Repeat("\b", len("spring"))+"cam_c3te82kyaxofr6\rcam_c2rceka7d5uzex")
	tab.Push("New partner")
	tab.See("Copy the key now")
	if value := tab.Evaluate(`document.querySelector(".once input").value`); !strings.HasPrefix(value, "hcp_test_") {
		t.Error(value)
	}
	tab.Push("Close")
	tab.See("The sample, 2 campaigns")

	tab.Push("Actions for Data Ltd")
	tab.Wait(`document.activeElement.matches("[role=menuitem][data-highlighted]")`)
	tab.Press("\r")
	tab.Fill("Industries", "ind_health")
	tab.Focus("Contacts Leads come with the people at them.")
	tab.Press(" ")
	tab.Push("Save")
	tab.See("1 industry, no contacts")
	tab.See("Not there: ind_health. Until it is imported, the key sees nothing of it.")
	partners := resttest.Data[[]apiPartner](t, s.Get("/v1/partners"))
	at := slices.IndexFunc(partners, func(p apiPartner) bool { return p.Name == "Data Ltd" })
	if shown := string(s.Get(partners[at].path()).Data); !strings.Contains(shown,
		`"campaignIds":[],"industryIds":["ind_health"],"contacts":false,"test":false`) {
		t.Error(shown)
	}
	must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Partners().Use(ctx, map[id.Partner]partner.Usage{
			id.Partner(partners[at].ID): {LastUsedAt: s.clock.Now(), Requests: 5120, LeadsRead: 1_048_576},
		})
	}))
	tab.Go("/instance/partners")
	tab.See("1,048,576")
}
