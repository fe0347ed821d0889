package partner_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/partner"
)

const partnerID = id.Partner("prt_01h455vb4pex5vsknk084sn02q")

var (
	noon   = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	first  = access.NewPartnerKey([32]byte{1})
	second = access.NewPartnerKey([32]byte{2})
)

// draft is all right, but for its origins perhaps.
func draft(origins []string) partner.Draft {
	return partner.Draft{Settings: partner.Settings{Name: new("Acme Data"), Origins: &origins}}
}

func TestANewPartner(t *testing.T) {
	t.Parallel()
	sent := draft([]string{"https://b.example", "https://a.example", "https://b.example"})
	sent.Name = new("  Acme Data ")
	sent.ExpiresAt = new(noon.Add(time.Hour + 1500*time.Microsecond).In(time.FixedZone("", 7200)))
	made, created, err := partner.New(partnerID, sent, first, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := partner.Partner{
		Credential: access.Credential{Hint: first.Hint(), Hash: first.Hash(), ExpiresAt: noon.Add(time.Hour + time.Millisecond)},
		ID:         partnerID,
		Name:       "Acme Data",
		Origins:    []string{"https://b.example", "https://a.example"},
		CreatedAt:  noon,
		Version:    1,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	if created.Type != event.PartnerCreated || created.Company != "" ||
		created.Subject != (event.Subject{Type: "partner", ID: string(partnerID)}) {
		t.Errorf("event: %+v", created)
	}
	data, err := json.Marshal(created.Data)
	if want := `{"id":"` + string(partnerID) + `","name":"Acme Data","origins":["https://b.example","https://a.example"],` +
		`"campaignIds":[],"industryIds":[],"contacts":true,"test":false,"hint":"` + first.Hint() + `",` +
		`"createdAt":"2026-04-11T12:00:00.000Z","expiresAt":"2026-04-11T13:00:00.001Z",` +
		`"lastUsedAt":null,"requests":0,"leadsRead":0,"revokedAt":null}`; err != nil || string(data) != want {
		t.Errorf("the event shows %s, %v", data, err)
	}
}

func TestANewPartnerIsRefusedForAllOfItsFaultsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		draft partner.Draft
		want  []string // field: code
	}{
		"nothing was sent": {want: []string{"name: required", "origins: required"}},
		"all is wrong": {
			draft: partner.Draft{
				Settings: partner.Settings{
					Name: new(strings.Repeat("x", partner.NameLength+1)), Origins: &[]string{"*", "https://a.b", "a.b"}, ExpiresAt: &noon,
				},
				Problems: fault.Problems{fault.Fieldf("colour", fault.UnknownField, "there is no field colour")},
			},
			want: []string{
				"colour: unknown_field", "name: too_long", "origins.0: invalid_format", "origins.2: invalid_format",
				"expiresAt: out_of_range",
			},
		},
		"fields of a wrong type are not also missing": {
			draft: partner.Draft{Problems: fault.Problems{
				fault.Fieldf("name", fault.WrongType, "name must be a string"),
				fault.Fieldf("origins", fault.WrongType, "origins must be a list"),
			}},
			want: []string{"name: wrong_type", "origins: wrong_type"},
		},
		"no origin": {draft: draft(nil), want: []string{"origins: required"}},
		"too many origins": {draft: draft(slices.Repeat([]string{"https://a.b"}, partner.MostOrigins+1)),
			want: []string{"origins: too_many"}},
		"an unseen name": {draft: partner.Draft{Settings: partner.Settings{Name: new("\u3164"), Origins: &[]string{"https://a.b"}}},
			want: []string{"name: required"}},
		"a blank name": {draft: partner.Draft{Settings: partner.Settings{Name: new(" "), Origins: &[]string{"https://a.b"}}},
			want: []string{"name: required"}},
	} {
		made, _, err := partner.New(partnerID, c.draft, first, noon)
		if got := wrong(err); !slices.Equal(got, c.want) || made.ID != "" {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
	if _, _, err := partner.New(partnerID, draft(slices.Repeat([]string{"https://a.b"}, partner.MostOrigins)), first, noon); err != nil {
		t.Error(err)
	}
}

func TestAPartnerWithATestKeyKeepsIt(t *testing.T) {
	t.Parallel()
	sent := draft([]string{"https://a.example"})
	sent.Test = true
	key := sent.NewKey([32]byte{1})
	made, _, err := partner.New(partnerID, sent, key, noon)
	if err != nil || !made.Test || key != access.NewTestKey([32]byte{1}) || made.NewKey([32]byte{2}) != access.NewTestKey([32]byte{2}) {
		t.Errorf("%+v with %s, %v", made, key, err)
	}
	usual := made
	usual.Test = false
	if made.Sees() == "" || usual.Sees() != "" || usual.NewKey([32]byte{2}) != second {
		t.Errorf("a test key sees %q, another one %q", made.Sees(), usual.Sees())
	}
	patch := partner.Patch{Problems: fault.Problems{fault.Fieldf("test", fault.UnknownField, "there is no field test")}}
	_, _, err = made.Apply(patch, noon)
	if fault.CodeOf(err) != fault.ImmutableField {
		t.Errorf("%v", err)
	}
}

// wrong lists the fields that a validation refuses: "field: code".
func wrong(err error) []string {
	var fields []string
	if refusal := fault.Of(err); refusal != nil && refusal.Code == fault.ValidationFailed {
		for _, field := range refusal.Fields {
			fields = append(fields, field.Path+": "+field.Code)
		}
	}
	return fields
}

// acme is a partner whose key expires in an hour.
func acme() partner.Partner {
	return partner.Partner{
		Credential: access.Credential{Hash: first.Hash(), Hint: first.Hint(), ExpiresAt: noon.Add(time.Hour)},
		ID:         partnerID, Name: "Acme Data", Origins: []string{"https://a.b"}, CreatedAt: noon, Version: 4,
	}
}

func TestAPatchChangesWhatItNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		patch    partner.Patch
		change   func(*partner.Partner)
		previous event.Fields
	}{
		"the name": {
			partner.Patch{Settings: partner.Settings{Name: new(" New ")}},
			func(p *partner.Partner) { p.Name = "New" }, event.Fields{event.F("name", "Acme Data")},
		},
		"the origins, as a whole": {
			partner.Patch{Settings: partner.Settings{Origins: &[]string{"https://c.d", "https://c.d"}}},
			func(p *partner.Partner) { p.Origins = []string{"https://c.d"} }, event.Fields{event.F("origins", []string{"https://a.b"})},
		},
		"the end": {
			partner.Patch{Settings: partner.Settings{ExpiresAt: new(noon.Add(24 * time.Hour))}},
			func(p *partner.Partner) { p.ExpiresAt = noon.Add(24 * time.Hour) },
			event.Fields{event.F("expiresAt", new("2026-04-11T13:00:00.000Z"))},
		},
		"no end": {
			partner.Patch{NeverExpires: true},
			func(p *partner.Partner) { p.ExpiresAt = time.Time{} }, event.Fields{event.F("expiresAt", new("2026-04-11T13:00:00.000Z"))},
		},
	} {
		want := acme()
		c.change(&want)
		want.Version++
		for at, state := range map[time.Time]string{noon: "live", noon.Add(2 * time.Hour): "expired"} {
			next, updated, err := acme().Apply(c.patch, at)
			if err != nil || updated == nil {
				t.Errorf("%s of one that is %s: %v", name, state, err)
				continue
			}
			if diff := cmp.Diff(want, next) + cmp.Diff(c.previous, updated.Previous); diff != "" || updated.Type != event.PartnerUpdated {
				t.Errorf("%s of one that is %s: %s %s", name, state, updated.Type, diff)
			}
		}
	}
}

func TestAPatchThatChangesNothingIsNoEvent(t *testing.T) {
	t.Parallel()
	revoked, _ := acme().Revoke(noon)
	for _, p := range []partner.Partner{acme(), revoked} {
		for _, patch := range []partner.Patch{
			{},
			{Settings: partner.Settings{Name: &p.Name, Origins: &p.Origins, ExpiresAt: &p.ExpiresAt}},
		} {
			next, updated, err := p.Apply(patch, noon)
			if err != nil || updated != nil || !cmp.Equal(next, p) {
				t.Errorf("%+v, %+v, %v", next, updated, err)
			}
		}
	}
}

func TestAPatchIsRefused(t *testing.T) {
	t.Parallel()
	revoked, _ := acme().Revoke(noon)
	unknown := func(field string) fault.Problems {
		return fault.Problems{fault.Fieldf(field, fault.UnknownField, "%s is no field", field)}
	}
	nothing := partner.Settings{Name: new(""), Origins: &[]string{}, ExpiresAt: &noon}
	for _, c := range []struct {
		of    partner.Partner
		patch partner.Patch
		code  fault.Code
	}{
		{acme(), partner.Patch{Problems: unknown("hint"), Settings: nothing}, fault.ImmutableField},
		{revoked, partner.Patch{Problems: unknown("key")}, fault.ImmutableField},
		{acme(), partner.Patch{Problems: unknown("version")}, fault.ValidationFailed},
		{revoked, partner.Patch{Settings: nothing}, fault.ValidationFailed},
		{revoked, partner.Patch{Settings: partner.Settings{Name: new("New")}}, fault.InvalidTransition},
		{revoked, partner.Patch{NeverExpires: true}, fault.InvalidTransition},
	} {
		next, updated, err := c.of.Apply(c.patch, noon)
		if fault.CodeOf(err) != c.code || updated != nil || !cmp.Equal(next, c.of) {
			t.Errorf("%+v: %v, want %s", c.patch, err, c.code)
		}
	}
	_, _, err := acme().Apply(partner.Patch{Settings: nothing}, noon)
	if want := []string{"name: required", "origins: required", "expiresAt: out_of_range"}; !slices.Equal(wrong(err), want) {
		t.Errorf("%v; want %v", wrong(err), want)
	}
}

func TestARotatedKeyIsANewVersionOfItsPartner(t *testing.T) {
	t.Parallel()
	next, rotated, err := acme().Rotate(second, access.Rotation{Grace: new(time.Minute)}, noon)
	if err != nil || rotated.Type != event.PartnerRotated || !cmp.Equal(rotated.Data, next.Fields()) {
		t.Fatalf("%+v, %v", rotated, err)
	}
	want := acme()
	want.Hash, want.Hint, want.OldHash, want.OldUntil = second.Hash(), second.Hint(), first.Hash(), noon.Add(time.Minute)
	want.Version++
	if diff := cmp.Diff(want, next); diff != "" {
		t.Error(diff)
	}
}

func TestAKeyThatHasEndedIsNotRotated(t *testing.T) {
	t.Parallel()
	expired, revoked := acme(), acme()
	expired.ExpiresAt, revoked.RevokedAt = noon, noon
	for from, p := range map[string]partner.Partner{"expired": expired, "revoked": revoked} {
		next, _, err := p.Rotate(second, access.Rotation{}, noon)
		want := fault.New(fault.InvalidTransition, "A partner's key that is %s cannot be rotated.", from)
		details := map[string]any{"from": from, "action": "rotate"}
		if err == nil || err.Error() != want.Error() || !cmp.Equal(fault.Of(err).Details, details) || !cmp.Equal(next, p) {
			t.Errorf("%v, %+v", err, next)
		}
	}
}

func TestAKeyIsRevokedOnce(t *testing.T) {
	t.Parallel()
	revoked, happened := acme().Revoke(noon)
	if happened == nil || happened.Type != event.PartnerRevoked || !revoked.RevokedAt.Equal(noon) || revoked.Version != 5 {
		t.Fatalf("%+v, %+v", revoked, happened)
	}
	again, happened := revoked.Revoke(noon.Add(time.Hour))
	if happened != nil || !cmp.Equal(again, revoked) {
		t.Errorf("%+v, %+v", again, happened)
	}
}

func TestAPartnerSeesWhatItsKeyIs(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)
	p := partner.Partner{ID: "prt_1", Name: "Acme", Origins: []string{"https://app.acme.example"}}
	p.Credential = access.Credential{Hash: "new", OldHash: "old", OldUntil: at.Add(time.Hour)}
	show := func(requests int64, hash string) string {
		text, err := p.Own(requests, p.EndsAt(hash)).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const who = `{"id":"prt_1","name":"Acme","origins":["https://app.acme.example"],` +
		`"campaign_ids":[],"industry_ids":[],"contacts":true,"test":false,`
	for _, c := range []struct{ got, want string }{
		{show(600, "new"), who + `"requests_per_minute":600,"expires_at":null}`},
		{show(0, "old"), who + `"requests_per_minute":null,"expires_at":"2026-04-11T13:00:00.000Z"}`},
	} {
		if c.got != c.want {
			t.Errorf("%s; want %s", c.got, c.want)
		}
	}
	p.ExpiresAt = at.Add(time.Minute)
	for _, hash := range []string{"new", "old"} {
		if got := p.EndsAt(hash); got != p.ExpiresAt {
			t.Errorf("%s ends at %v", hash, got)
		}
	}
}

func TestAKeyIsNarrowedAndWidened(t *testing.T) {
	t.Parallel()
	made, _, err := partner.New(partnerID, partner.Draft{Settings: partner.Settings{
		Name: new("Acme Data"), Origins: &[]string{"https://a.example"},
		Campaigns: &[]string{"cam_b", "cam_a", "cam_b"}, Contacts: new(false),
	}}, first, noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lead.View{Campaigns: []id.Campaign{"cam_a", "cam_b"}, NoContacts: true}, made.View); diff != "" {
		t.Error(diff)
	}
	same, happened, err := made.Apply(partner.Patch{Settings: partner.Settings{Campaigns: &[]string{"cam_a", "cam_b"}}}, noon)
	if err != nil || happened != nil || same.Version != 1 {
		t.Errorf("%+v, %v, %v", same, happened, err)
	}
	wide, happened, err := made.Apply(partner.Patch{Settings: partner.Settings{
		Campaigns: &[]string{}, Industries: &[]string{}, Contacts: new(true),
	}}, noon)
	if err != nil || happened == nil || wide.View.Text() != "" || wide.Version != 2 {
		t.Errorf("%+v, %v, %v", wide, happened, err)
	}
	_, _, err = made.Apply(partner.Patch{Settings: partner.Settings{
		Campaigns: &[]string{"ind_a", ""}, Industries: new(slices.Repeat([]string{"ind_a"}, 101)),
	}}, noon)
	text, _ := json.Marshal(fault.Of(err))
	for _, path := range []string{"campaignIds.0", "campaignIds.1", "industryIds has 101"} {
		if fault.CodeOf(err) != fault.ValidationFailed || !strings.Contains(string(text), path) {
			t.Errorf("%s: %s", path, text)
		}
	}
}
