package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

const (
	hookID  id.Webhook = "whk_01h455vb4pex5vsknk084sn02q"
	acmeID  id.Company = "cmp_01h455vb4pex5vsknk084sn02q"
	otherID id.Company = "cmp_01h455vb4pex5vsknk084sn02r"
)

var noon = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)

func ptr[T any](value T) *T { return &value }

// exists is a company.Resolve for which one company exists.
func exists(reference string) (id.Company, bool, error) {
	if reference == "acme" || reference == string(acmeID) {
		return acmeID, true, nil
	}
	return "", false, nil
}

// endpoint makes one that is in order.
func endpoint(t *testing.T, settings webhook.Settings) webhook.Endpoint {
	t.Helper()
	if settings.URL == nil {
		settings.URL = ptr("https://example.com/hooks")
	}
	made, _, err := webhook.New(hookID, webhook.Draft{Settings: settings}, "sealed", exists, noon)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestANewEndpointIsEnabledForEverything(t *testing.T) {
	t.Parallel()
	made, created, err := webhook.New(hookID, webhook.Draft{Settings: webhook.Settings{URL: ptr("https://example.com/hooks")}}, "sealed",
		exists, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := webhook.Endpoint{
		ID: hookID, URL: "https://example.com/hooks", Events: []webhook.Pattern{"*"}, Enabled: true, Secret: "sealed",
		CreatedAt: noon, UpdatedAt: noon, Version: 1,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	if created.Type != event.WebhookCreated || created.Subject.ID != string(hookID) {
		t.Errorf("%+v", created)
	}
	if text, _ := json.Marshal(created.Data); strings.Contains(string(text), "sealed") {
		t.Errorf("the event contains the secret: %s", text)
	}
}

func TestADraftReportsAllThatIsWrongAtOnce(t *testing.T) {
	t.Parallel()
	draft := webhook.Draft{
		Company: ptr("acme"), // a slug
		Settings: webhook.Settings{
			URL: ptr("ftp://example.com"), Events: &[]string{"company.*", "webhook.test", "Company.created"},
			Description: ptr("a\x00b"),
		},
		Problems: fault.Problems{fault.Fieldf("color", fault.UnknownField, "no")},
	}
	_, _, err := webhook.New(hookID, draft, "sealed", exists, noon)
	got := map[string]string{}
	for _, field := range fault.Of(err).Fields {
		got[field.Path] = field.Code
	}
	want := map[string]string{
		"color": fault.UnknownField, "url": fault.InvalidFormat, "events.1": fault.UnknownValue, "events.2": fault.UnknownValue,
		"description": fault.InvalidCharacters, "companyId": fault.UnknownValue,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPatternsMatchNamesAndWhatIsBelow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern string
		ok      bool
		matches []event.Type
		not     []event.Type
	}{
		{"*", true, []event.Type{event.CompanyCreated, event.CompanyBudgetBreach, event.TokenRevoked}, []event.Type{event.LeadImported}},
		{"lead.*", true, []event.Type{event.LeadImported, event.LeadRemoved}, []event.Type{event.CompanyCreated}},
		{"lead.imported", true, []event.Type{event.LeadImported}, []event.Type{event.LeadRemoved}},
		{"company.*", true, []event.Type{event.CompanyCreated, event.CompanyBudgetBreach}, []event.Type{"companyx.created", "company"}},
		{"company.budget.*", true, []event.Type{event.CompanyBudgetBreach}, []event.Type{event.CompanyCreated}},
		{"company.created", true, []event.Type{event.CompanyCreated}, []event.Type{event.CompanyUpdated, "company.created.twice"}},
		{"company*", false, nil, []event.Type{event.CompanyCreated}},
		{"company.creat*", false, nil, []event.Type{event.CompanyCreated}},
		{"", false, nil, []event.Type{event.CompanyCreated}},
		{"*.created", false, nil, []event.Type{event.CompanyCreated}},
		{"token.*", true, []event.Type{event.TokenCreated}, []event.Type{event.CompanyCreated}},
		{"agents.*", false, nil, nil},
		{"webhook.test", false, nil, nil},
		{"run.checkpointed", false, nil, nil},
		{"run.*", false, nil, nil},
	} {
		pattern, ok := webhook.ParsePattern(test.pattern)
		if ok != test.ok {
			t.Errorf("%q: %v", test.pattern, ok)
		}
		for _, name := range test.matches {
			if !pattern.Matches(name) {
				t.Errorf("%q does not match %q", test.pattern, name)
			}
		}
		for _, name := range test.not {
			if pattern.Matches(name) {
				t.Errorf("%q matches %q", test.pattern, name)
			}
		}
	}
}

func FuzzAPatternThatIsTakenMatchesAnEvent(f *testing.F) {
	for _, seed := range []string{"*", "company.*", "company.created", "company*", "**", "."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pattern, ok := webhook.ParsePattern(text)
		if ok != (pattern.Matches(event.CompanyCreated) || pattern.Matches(event.CompanyUpdated) ||
			pattern.Matches(event.CompanyArchived) ||
			pattern.Matches(event.CompanyRestored) || pattern.Matches(event.CompanyDeleted) || pattern.Matches(event.CompanyBudgetBreach)) {
			t.Errorf("%q: %v", text, ok)
		}
	})
}

func TestAnEndpointWantsEventsOfItsPatternsAndItsCompany(t *testing.T) {
	t.Parallel()
	created := event.Event{Type: event.CompanyCreated, Company: acmeID, At: noon}
	deleted := event.Event{Type: event.CompanyDeleted, Subject: event.Subject{Type: "company", ID: string(acmeID)}, At: noon}
	before := created
	before.At = noon.Add(-time.Millisecond)
	for name, test := range map[string]struct {
		change func(e *webhook.Endpoint)
		event  event.Event
		want   bool
	}{
		"all":      {func(*webhook.Endpoint) {}, created, true},
		"disabled": {func(e *webhook.Endpoint) { e.Enabled = false }, created, false},
		"its event": {func(e *webhook.Endpoint) { e.Events = []webhook.Pattern{"company.archived", "company.created"} },
			created, true},
		"another event":         {func(e *webhook.Endpoint) { e.Events = []webhook.Pattern{"company.archived"} }, created, false},
		"its company":           {func(e *webhook.Endpoint) { e.Company = acmeID }, created, true},
		"another company":       {func(e *webhook.Endpoint) { e.Company = otherID }, created, false},
		"its company's end":     {func(e *webhook.Endpoint) { e.Company = acmeID }, deleted, true},
		"another company's end": {func(e *webhook.Endpoint) { e.Company = otherID }, deleted, false},
		"the instance's own event": {
			func(e *webhook.Endpoint) { e.Company = acmeID }, event.Event{Type: event.CompanyCreated, At: noon}, false,
		},
		"from before its time": {func(*webhook.Endpoint) {}, before, false},
	} {
		e := endpoint(t, webhook.Settings{})
		test.change(&e)
		if got := e.Wants(test.event); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAPatchChangesWhatItNames(t *testing.T) {
	t.Parallel()
	before := endpoint(t, webhook.Settings{Description: ptr("old")})
	later := noon.Add(time.Hour)
	next, updated, err := before.Apply(webhook.Patch{Settings: webhook.Settings{
		URL: ptr("http://example.org/"), Events: &[]string{"company.created", "company.created"}, Enabled: ptr(false), Description: ptr(""),
	}}, false, later)
	if err != nil || updated == nil {
		t.Fatal(err, updated)
	}
	want := before
	want.URL, want.Events, want.Enabled, want.Description = "http://example.org/", []webhook.Pattern{"company.created"}, false, ""
	want.UpdatedAt, want.Version = later, 2
	if diff := cmp.Diff(want, next); diff != "" {
		t.Error(diff)
	}
	if updated.Type != event.WebhookUpdated || len(updated.Previous) != 5 {
		t.Errorf("%+v", updated)
	}
}

func TestAPatchThatChangesNothingIsNoEvent(t *testing.T) {
	t.Parallel()
	before := endpoint(t, webhook.Settings{})
	next, updated, err := before.Apply(webhook.Patch{Settings: webhook.Settings{Enabled: ptr(true), Events: &[]string{"*"}}},
		false, noon.Add(time.Hour))
	if err != nil || updated != nil || next.Version != 1 {
		t.Error(next, updated, err)
	}
}

func TestAPatchCannotChangeWhatIsReadOnly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"id", "companyId", "disabledReason", "secret", "createdAt", "updatedAt"} {
		patch := webhook.Patch{Problems: fault.Problems{
			fault.Fieldf(name, fault.UnknownField, "no"), fault.Fieldf("color", fault.UnknownField, "no"),
		}}
		_, _, err := endpoint(t, webhook.Settings{}).Apply(patch, false, noon)
		if fault.CodeOf(err) != fault.ImmutableField || len(fault.Of(err).Fields) != 1 || fault.Of(err).Fields[0].Path != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := endpoint(t, webhook.Settings{}).Apply(webhook.Patch{Settings: webhook.Settings{Events: &[]string{}}}, false, noon)
	if fault.CodeOf(err) != fault.ValidationFailed {
		t.Error(err)
	}
}

func TestEnablingClearsWhyItWasDisabled(t *testing.T) {
	t.Parallel()
	disabled, happened := endpoint(t, webhook.Settings{}).Disable(webhook.Gone, noon.Add(time.Hour))
	if disabled.Enabled || disabled.DisabledReason != webhook.Gone || happened.Type != event.WebhookDisabled ||
		len(happened.Previous) == 0 {
		t.Fatalf("%+v %+v", disabled, happened)
	}
	if fault.CodeOf(disabled.Takes("test")) != fault.InvalidTransition {
		t.Error("a disabled endpoint is tested")
	}
	enabled, _, err := disabled.Apply(webhook.Patch{Settings: webhook.Settings{Enabled: ptr(true)}}, false, noon.Add(2*time.Hour))
	if err != nil || !enabled.Enabled || enabled.DisabledReason != "" || enabled.Takes("test") != nil {
		t.Errorf("%+v, %v", enabled, err)
	}
}

func TestAnEndpointThatHasEndedIsNotEnabled(t *testing.T) {
	t.Parallel()
	enable := webhook.Patch{Settings: webhook.Settings{Enabled: ptr(true), Description: ptr("new")}}
	gone, _ := endpoint(t, webhook.Settings{}).Disable(webhook.CompanyDeleted, noon)
	next, happened, err := gone.Apply(enable, true, noon)
	refused := fault.Of(err)
	if refused == nil || refused.Code != fault.InvalidTransition || refused.Details["from"] != "disabled" ||
		refused.Details["action"] != "enable" || happened != nil || next.Enabled || next.Description != "" {
		t.Errorf("%+v, %v", next, err)
	}
	other := webhook.Patch{Settings: webhook.Settings{Enabled: ptr(false), Description: ptr("new")}}
	if next, _, err = gone.Apply(other, true, noon); err != nil || next.Enabled || next.Description != "new" || next.DisabledReason != "" {
		t.Errorf("%+v, %v", next, err)
	}
	if next, _, err = endpoint(t, webhook.Settings{}).Apply(enable, true, noon); err != nil || next.Description != "new" {
		t.Errorf("%+v, %v: it is enabled still", next, err)
	}
	wrong := webhook.Patch{Settings: webhook.Settings{Enabled: ptr(true), URL: ptr("x")}}
	if _, _, err = gone.Apply(wrong, true, noon); fault.CodeOf(err) != fault.ValidationFailed {
		t.Error(err)
	}
}

func TestBothSecretsSignDuringARotation(t *testing.T) {
	t.Parallel()
	once, _ := endpoint(t, webhook.Settings{}).RotateSecret("second", noon)
	twice, rotated := once.RotateSecret("third", noon.Add(time.Hour))
	for _, test := range []struct {
		endpoint webhook.Endpoint
		at       time.Time
		want     []webhook.Sealed
	}{
		{endpoint(t, webhook.Settings{}), noon, []webhook.Sealed{"sealed"}},
		{once, noon.Add(24*time.Hour - time.Millisecond), []webhook.Sealed{"second", "sealed"}},
		{once, noon.Add(24 * time.Hour), []webhook.Sealed{"second"}},
		{twice, noon.Add(2 * time.Hour), []webhook.Sealed{"third", "second"}},
	} {
		if diff := cmp.Diff(test.want, test.endpoint.Secrets(test.at)); diff != "" {
			t.Error(diff)
		}
	}
	if rotated.Type != event.WebhookSecretRotated || twice.Version != 3 {
		t.Errorf("%+v", rotated)
	}
}

func TestASecretHasTheFormOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	if got, want := webhook.NewSecret([32]byte{}), webhook.Secret("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="); got != want {
		t.Errorf("%s", got)
	}
}

func TestABodyReportsWhatHappenedToWhatByWhom(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		event event.Event
		want  string
	}{
		{
			event.Event{Type: event.CompanyUpdated, Company: acmeID, Actor: "token:tok_1", At: noon,
				Data:     event.Fields{event.F("id", string(acmeID)), event.F("name", "Acme & Söhne")},
				Previous: event.Fields{event.F("name", "Acme")}},
			`{"type":"company.updated","timestamp":"2026-04-11T12:00:00.000Z","sequence":7,"data":{"id":"cmp_01h455vb4pex5vsknk084sn02q",` +
				`"name":"Acme & Söhne","companyId":"cmp_01h455vb4pex5vsknk084sn02q","actor":"token:tok_1","previous":{"name":"Acme"}}}`,
		},
		{
			event.Event{Type: event.TeamCreated, Company: acmeID, Actor: "token:tok_1", At: noon,
				Data: event.Fields{event.F("id", "tm_1"), event.F("companyId", string(acmeID))}},
			`{"type":"team.created","timestamp":"2026-04-11T12:00:00.000Z","sequence":7,"data":{"id":"tm_1",` +
				`"companyId":"cmp_01h455vb4pex5vsknk084sn02q","actor":"token:tok_1"}}`,
		},
		{
			event.Event{Type: event.CompanyDeleted, Subject: event.Subject{Type: "company", ID: string(acmeID)}, Actor: "token:tok_1",
				At:   noon,
				Data: event.Fields{event.F("id", string(acmeID))}},
			`{"type":"company.deleted","timestamp":"2026-04-11T12:00:00.000Z","sequence":7,"data":{"id":"cmp_01h455vb4pex5vsknk084sn02q",` +
				`"companyId":"cmp_01h455vb4pex5vsknk084sn02q","actor":"token:tok_1"}}`,
		},
	} {
		got, err := webhook.Body(test.event, 7)
		if diff := cmp.Diff(test.want, string(got)); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
}

func TestEveryEventIsSentUnlessThereIsAReason(t *testing.T) {
	t.Parallel()
	reasons := map[event.Type]string{
		event.WebhookTest:     "it goes only to the endpoint that it tests",
		event.RunCheckpointed: "a run has many; the activity and its stream have them",
	}
	onlyNamed := map[event.Type]string{
		event.LeadImported:   "an import has one for each batch",
		event.LeadUpdated:    "so has it of this",
		event.LeadRemoved:    "so has a removal",
		event.LeadSuppressed: "so has a list of them",
		event.LeadReleased:   "so has what is taken off it",
	}
	for _, what := range event.Types() {
		if webhook.IsSent(what) == (reasons[what] != "") {
			t.Errorf("%s: sent: %v, a reason why not: %q", what, webhook.IsSent(what), reasons[what])
		}
		if webhook.IsSent(what) && webhook.Everything.Matches(what) == (onlyNamed[what] != "") {
			t.Errorf("%s: * matches it: %v, a reason why not: %q", what, webhook.Everything.Matches(what), onlyNamed[what])
		}
	}
}
