package rest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"holdco/adapters/http/apitest"
	"holdco/adapters/http/rest"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/webhook"
)

func readDocument(t *testing.T) *openapi3.T {
	t.Helper()
	return apitest.Read(rest.Document())(t)
}

func TestTheDocumentIsValidAndSaysWhatOperationsAreAndCanFailWith(t *testing.T) {
	t.Parallel()
	statuses := []string{"400", "401", "413", "415", "429", "500", "503"}
	apitest.CheckDescription(t, readDocument(t), []string{"read", "write", "costly"}, statuses)
}

func TestTheDocumentDescribesWhatIsSentToWebhooks(t *testing.T) {
	t.Parallel()
	operation := readDocument(t).Paths.Value("/v1/webhooks").Post
	sent := operation.Callbacks["event"].Value.Value("{$request.body#/url}").Post.RequestBody.Value
	message := sent.Content["application/json"].Schema.Value
	described := message.Properties["type"].Value.Enum
	types := slices.DeleteFunc(event.Types(), func(name event.Type) bool { return !webhook.IsSent(name) && name != event.WebhookTest })
	for _, name := range types {
		if !slices.Contains(described, any(string(name))) || !strings.Contains(operation.Description, "`"+string(name)+"`") {
			t.Errorf("the document does not describe the event %s", name)
		}
	}
	if len(described) != len(types) {
		t.Errorf("the document describes %v, and there are %v", described, types)
	}

	acme := company.Company{
		ID: "cmp_01j5ze2c4nf8vtkkq4d9w6m7xr", Slug: "acme", Name: "Acme", Status: company.Active, FiscalPeriod: "monthly",
	}
	_, updated, err := acme.Apply(company.Patch{Name: new("Acme Ltd.")}, []string{"process"}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	_, archived, err := acme.Archive(time.Unix(0, 0), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := webhook.Endpoint{ID: "whk_01j5ze4m8re1nb6g5t2k7q0wzd"}
	for _, happened := range []event.Event{*updated, archived, acme.Deleted(), endpoint.Test()} {
		text, err := webhook.Body(happened, 7)
		if err != nil {
			t.Fatal(err)
		}
		var body any
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatal(err)
		}
		if err := message.VisitJSON(body); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
