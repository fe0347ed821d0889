package sqlstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/leads/leadjson"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// firstForm is a document in the first form. It must always be readable.
const firstForm = "1 7 12 1775908800000 1775905200000 cmp_acme ind_trade vrt_shops 268\n" +
	`{"id":"cmp_acme","name":"Acme \"Größe\"","phone":"+49 30 123","email":null,"website":"https://acme.example","google_rating":4.29,` +
	`"enrichment_level":"deep","social_media":{"instagram":"https://i.example/a","facebook":null,` +
	`"linkedin":null,"twitter":null,"tiktok":null}` +
	`"contacts":[{"id":"cnt_1","name":"Anna","title":null,"email":"anna@acme.example","is_primary_lead":true}],` +
	`"created_at":"2026-04-11T10:00:00.000Z","updated_at":"2026-04-11T12:00:00.000Z"}`

func TestTheFirstFormIsRead(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)
	want := lead.Stored{
		Lead: lead.Lead{
			ID: "cmp_acme", Name: `Acme "Größe"`, Phone: "+49 30 123", Website: "https://acme.example", Rating: 429, Enrichment: lead.Deep,
			Social:   lead.Social{Instagram: "https://i.example/a"},
			Industry: "ind_trade", Vertical: "vrt_shops", Campaigns: []id.Campaign{"cam_1", "cam_2"},
			Contacts:  []lead.Contact{{ID: "cnt_1", Name: "Anna", Email: "anna@acme.example", Primary: true}},
			CreatedAt: at.Add(-2 * time.Hour), UpdatedAt: at,
		},
		MovedFrom: at.Add(-time.Hour),
	}
	found, err := currentForm.parse(firstForm, want.Campaigns)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keyed(want, leadjson.Encode), found); diff != "" {
		t.Error(diff)
	}

	// A later program adds a field, which it derives from the first form.
	next := documentForm{number: leadjson.Form + 1, decode: leadjson.Decode, encode: func(l lead.Lead) lead.Document {
		d := leadjson.Encode(l)
		d.Head += `,"has_website":true,"vertical_id":"` + string(l.Vertical) + `"`
		return d
	}}
	found, err = next.parse(firstForm, want.Campaigns)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keyed(want, next.encode), found); diff != "" {
		t.Error(diff)
	}

	// This program reads what the later one wrote.
	found, err = currentForm.parse(next.rowOf(want, 7, 12).Text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keyed(want, leadjson.Encode), found); diff != "" {
		t.Error(diff)
	}
}

func keyed(kept lead.Stored, encode func(lead.Lead) lead.Document) store.KeyedLead {
	return store.KeyedLead{Key: 7, Revision: 12, Exported: lead.Exported{
		Place: kept.Place(), MovedFrom: kept.MovedFrom, Industry: kept.Industry, Vertical: kept.Vertical, Document: encode(kept.Lead),
	}}
}
