package wiring_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"holdco/adapters/http/partner/partnertest"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/money"
	"holdco/ports/store"
)

// reader makes a partner with an origin, and returns a client of the export API that has its key.
func (s *instance) reader(t *testing.T, origin string) *partnertest.Client {
	t.Helper()
	answer := s.In(t).Post("/v1/partners", `{"name":"Acme Data","origins":["`+origin+`"]}`)
	answer.Is(t, 201, "")
	return s.readerWith(t, resttest.Data[apiPartner](t, answer).Key)
}

func (s *instance) readerWith(t *testing.T, key string) *partnertest.Client {
	t.Helper()
	return partnertest.New(t, s.exportURL, key)
}

const acmeOrigin = "https://app.acme.example"

// leadID is an id as it is made elsewhere.
func leadID(n int) string { return fmt.Sprintf("cmp_%06d", n) }

// changeLeads makes a change as imports do, of everything or nothing, and waits until the index has followed.
func (s *instance) changeLeads(t *testing.T, write func(ctx context.Context, tx store.Tx, at time.Time) error) {
	t.Helper()
	must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		return write(ctx, tx, at)
	}))
	state, err := s.store.Leads().State(t.Context())
	must(t, err)
	await(t, "index of the change", func() bool {
		index := s.index.Status()
		return index.Ready && index.Revision >= state.Revision
	})
}

// taxonomy is what the leads of these tests are sorted by.
func taxonomy(t *testing.T, health string) lead.Taxonomy {
	t.Helper()
	made, _, err := lead.TaxonomyDraft{
		Industries:   []lead.IndustryDraft{{ID: "ind_health", Name: health}, {ID: "ind_arts", Name: "Arts", Active: new(false)}},
		Verticals:    []lead.VerticalDraft{{ID: "vrt_dentists", Industry: "ind_health", Name: "Dentists"}},
		Geographies:  []lead.GeographyDraft{{ID: "geo_berlin", Name: "Berlin", CountryCode: "DE"}},
		Intelligence: []lead.IntelligenceDraft{{ID: "vin_dentists", Vertical: "vrt_dentists", Summary: "They grow by word of mouth."}},
	}.Over(lead.Taxonomy{}, noon)
	must(t, err)
	return made
}

// keepTaxonomy keeps the taxonomy with a name of its first industry, and a campaign.
func (s *instance) keepTaxonomy(t *testing.T, health string) {
	t.Helper()
	s.changeLeads(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
		if err := tx.Taxonomy().Keep(ctx, taxonomy(t, health)); err != nil {
			return err
		}
		return tx.Campaigns().Keep(ctx, []lead.Campaign{{
			ID: "cam_spring", Name: "Spring", Status: lead.StatusActive, Industry: "ind_health", Geography: "geo_berlin",
			CreatedAt: at, UpdatedAt: at,
		}})
	})
}

// keepLeads keeps leads with the numbers from first to last. Each third has a website, each fifth a rating.
func (s *instance) keepLeads(t *testing.T, first, last int, name string) {
	t.Helper()
	catalog := taxonomy(t, "Health").Catalog([]id.Campaign{"cam_spring"})
	const batchSize = 500 // so that a unit is short under the race detector too
	for from := first; from <= last; from += batchSize {
		var batch []lead.Incoming
		var ids []id.Lead
		for n := from; n <= min(last, from+batchSize-1); n++ {
			draft := lead.Draft{
				ID: leadID(n), Name: fmt.Sprintf("%s %d", name, n), Industry: "ind_health", Campaigns: []string{"cam_spring"},
				Phone: "+49 30 901820", Email: fmt.Sprintf("hello@lead%d.example", n), Enrichment: "deep",
				Social: lead.Social{LinkedIn: fmt.Sprintf("https://www.linkedin.com/company/lead%d", n)},
				Contacts: []lead.ContactDraft{{Name: "Ada Berg", Title: "Manager", Email: fmt.Sprintf("ada@lead%d.example", n),
					Primary: true}},
			}
			if n%3 == 0 {
				draft.Website = fmt.Sprintf("lead%d.example", n)
			}
			if n%5 == 0 {
				draft.Rating = money.Number(fmt.Sprintf("%d.%d", n%5, n%10))
			}
			made, err := draft.Lead(catalog)
			must(t, err)
			incoming := made.Incoming()
			batch, ids = append(batch, incoming), append(ids, made.ID)
		}
		s.changeLeads(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
			stored, err := tx.Leads().Summaries(ctx, ids)
			if err != nil {
				return err
			}
			merged := lead.Merge(batch, stored, at)
			if err := tx.Campaigns().Count(ctx, merged.Members); err != nil {
				return err
			}
			return tx.Leads().Keep(ctx, merged.Changed)
		})
	}
}

func (s *instance) removeLeads(t *testing.T, numbers ...int) {
	t.Helper()
	var ids []id.Lead
	for _, n := range numbers {
		ids = append(ids, id.Lead(leadID(n)))
	}
	s.changeLeads(t, func(ctx context.Context, tx store.Tx, at time.Time) error {
		_, err := tx.Leads().Remove(ctx, ids, at)
		return err
	})
}
