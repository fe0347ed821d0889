package rest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/webhook"
)

func TestTheDocumentIsValidAndItsExamplesAreTrue(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

func TestEveryOperationOfTheDocumentSaysWhatItIsAndCanFailWith(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
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

func TestTheDocumentIsPublishedWithoutWhatIsForTheGenerator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.Get("/openapi.json")
	answer.Is(t, httpkit.OK, "")
	text := string(answer.Body)
	for _, hidden := range []string{"x-go-type", "x-order", "x-oapi-codegen", "holdco/domain"} {
		if strings.Contains(text, hidden) {
			t.Errorf("the published document shows %q", hidden)
		}
	}
	if !strings.HasPrefix(text, `{"openapi":"3.0.3","info":{"title":`) || !strings.Contains(text, `"x-scope":"write"`) {
		t.Errorf("the published document begins with %.80s", text)
	}
	again := w.Send(resttest.Request{
		Method: http.MethodGet, Path: "/openapi.json", Wrong: true,
		Header: map[string]string{"If-None-Match": answer.Header.Get("ETag"), "Accept-Encoding": "identity"},
	})
	if again.Status != http.StatusNotModified {
		t.Errorf("an unchanged document is answered with %d", again.Status)
	}
}

func TestAnOperationWithoutScopeStopsTheStart(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"x-scope: admin\n", "x-scope: everything\n", "x-scope must be"},
		{"      x-scope: any\n", "", "GET /v1/whoami: x-scope must be"},
		{"x-class: write\n", "x-class: dear\n", "x-class must be"},
		{"      x-class: read\n", "", "x-class must be"},
		{"minimum: 1, maximum: 200, default: 50", "default: 50", "limit has no bounds"},
	} {
		spoiled := strings.ReplaceAll(string(text), c.from, c.to)
		if _, err := httpkit.ReadTable([]byte(spoiled)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q: %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

func TestTheDocumentDescribesWhatIsSentToWebhooks(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	operation := doc.Paths.Value("/v1/webhooks").Post
	message := operation.Callbacks["event"].Value.Value("{$request.body#/url}").Post.RequestBody.Value.Content["application/json"].Schema.Value
	for _, named := range message.Properties["type"].Value.Enum {
		name := event.Type(named.(string))
		if webhook.IsSent(name) == (name == event.WebhookTest) || !strings.Contains(operation.Description, "`"+string(name)+"`") {
			t.Errorf("%s is not sent, or the operation does not tell of it", name)
		}
	}

	founding, created, err := company.New(companyID(1), company.Draft{Name: new("Acme"), Slug: new("acme")}, adapters, &ledger{}, start)
	if err != nil {
		t.Fatal(err)
	}
	_, updated, err := founding.Company.Apply(company.Patch{Name: new("Acme Ltd.")}, adapters, start)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := webhook.Endpoint{ID: webhookID(1)}
	for _, happened := range []event.Event{created, *updated, founding.Company.Deleted(), endpoint.Test()} {
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
