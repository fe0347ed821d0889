package rest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"holdco/adapters/http/rest"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/webhook"
)

func readDocument(t *testing.T) *openapi3.T {
	t.Helper()
	assembled, err := rest.Document()
	if err != nil {
		t.Fatal(err)
	}
	text, err := assembled.JSON()
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestTheDocumentIsValidAndItsExamplesAreTrue(t *testing.T) {
	t.Parallel()
	if err := readDocument(t).Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

func TestEveryOperationOfTheDocumentSaysWhatItIsAndCanFailWith(t *testing.T) {
	t.Parallel()
	for path, item := range readDocument(t).Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + path
			if operation.OperationID == "" || operation.Summary == "" || len(operation.Tags) != 1 {
				t.Errorf("%s lacks an operationId, a summary or a tag", name)
			}
			if operation.Security != nil {
				continue
			}
			class, _ := operation.Extensions["x-class"].(string)
			if !slices.Contains([]string{"read", "write", "costly"}, class) {
				t.Errorf("%s has the x-class %q", name, class)
			}
			for _, status := range []string{"400", "401", "413", "415", "429", "500", "503"} {
				if operation.Responses.Value(status) == nil {
					t.Errorf("%s does not describe %s", name, status)
				}
			}
			for status, response := range operation.Responses.Map() {
				for _, header := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
					if (response.Value.Headers[header] == nil) != (status == "401") {
						t.Errorf("%s describes %s of %s, or should", name, header, status)
					}
				}
			}
		}
	}
}

func TestTheDocumentDescribesWhatIsSentToWebhooks(t *testing.T) {
	t.Parallel()
	operation := readDocument(t).Paths.Value("/v1/webhooks").Post
	sent := operation.Callbacks["event"].Value.Value("{$request.body#/url}").Post.RequestBody.Value
	message := sent.Content["application/json"].Schema.Value
	described := message.Properties["type"].Value.Enum
	for _, name := range event.Types() {
		if !slices.Contains(described, any(string(name))) || !strings.Contains(operation.Description, "`"+string(name)+"`") {
			t.Errorf("the document does not describe the event %s", name)
		}
	}
	if len(described) != len(event.Types()) {
		t.Errorf("the document describes %v, and there are %v", described, event.Types())
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
