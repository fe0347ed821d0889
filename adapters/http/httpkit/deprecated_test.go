package httpkit_test

import (
	"net/http"
	"strings"
	"testing"

	"holdco/adapters/http/httpkit"
)

// ageing is a document in which something of every kind is deprecated. Days stand in it with and without quotes.
const ageing = `
paths:
  /old:
    get:
      operationId: old
      x-scope: read
      x-class: read
      deprecated: true
      x-deprecated-since: 2026-03-01
      x-sunset: 2026-09-01
      parameters: [{name: sort, in: query, deprecated: true, x-deprecated-since: 2026-01-01, x-sunset: 2026-10-01, schema: {type: string}}]
      responses: {"200": {description: It., content: {}}}
  /new:
    post:
      operationId: new
      x-scope: write
      x-class: write
      parameters:
        - Sort
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 9}}
        - {name: If-Match, in: header, deprecated: true, x-deprecated-since: 2026-05-01, x-sunset: "2026-11-01", schema: {type: string}}
      requestBody: {required: false, schema: Thing}
      responses: {"200": {description: It., content: {}}}
    get: {operationId: get, x-scope: read, x-class: read, responses: {"200": {description: It., content: {}}}}
  /up:
    get:
      operationId: up
      security: []
      deprecated: true
      x-deprecated-since: 2026-03-01
      x-sunset: 2026-09-01
      responses: {"200": {description: It., content: {}}}
x-shared:
  deprecated: {headers: {Deprecation: Deprecation, Sunset: Sunset}}
components:
  headers: {Deprecation: {schema: {type: string}}, Sunset: {schema: {type: string}}}
  parameters:
    Sort: {name: sort, in: query, deprecated: true, x-deprecated-since: 2026-04-01, x-sunset: 2026-10-01, schema: {type: string}}
  schemas:
    Thing:
      type: object
      properties:
        name: {type: string, example: {deprecated: true}}
        deprecated: {type: boolean}
        label: {type: string, deprecated: true, x-deprecated-since: 2026-06-01, x-sunset: 2026-12-01}
        part: {nullable: true, allOf: [{$ref: "#/components/schemas/Part"}]}
        owner: {allOf: [{$ref: "#/components/schemas/Thing"}], deprecated: true, x-deprecated-since: 2026-07-01, x-sunset: 2027-01-01}
        parts: {type: array, items: {$ref: "#/components/schemas/Part"}}
        byName: {type: object, additionalProperties: {$ref: "#/components/schemas/Part"}}
    Part:
      type: object
      properties:
        thing: {$ref: "#/components/schemas/Thing"}
        size: {type: integer, deprecated: true, x-deprecated-since: 2026-08-01, x-sunset: 2027-02-01}
`

// newAgeing is an API over that document. Its handlers answer with nothing, or fail.
func newAgeing(t *testing.T) kit {
	t.Helper()
	k := newKit(t)
	handle := func(r httpkit.Request) (httpkit.Answer, error) {
		if r.Query()["limit"] == "9" {
			panic("nine")
		}
		return httpkit.Answer{}, nil
	}
	all := httpkit.Handlers{"old": handle, "new": handle, "get": handle}
	table := tableOf(t, ageing)
	if err := table.Serve(k.router.Group("", table.Gate(names{}, httpkit.Limits{Limiter: k.limiter})), all,
		httpkit.Writers{"up": httpkit.Health}); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAnswersToRequestsThatUseWhatIsDeprecatedSayIt(t *testing.T) {
	t.Parallel()
	k := newAgeing(t)
	const whole = "@1772323200 Tue, 01 Sep 2026 00:00:00 GMT" // 1 March
	for _, c := range []struct{ method, target, body, want string }{
		{"GET", "/old", "", whole},
		{"HEAD", "/old", "", whole},
		{"GET", "/old?unknown=1", "", whole},
		{"GET", "/up", "", whole},
		{"GET", "/new", "", ""},
		{"POST", "/new?limit=1", "", ""},
		{"POST", "/new?sort=x", "", "@1775001600 Thu, 01 Oct 2026 00:00:00 GMT"},         // 1 April
		{"POST", "/new?limit=9&sort=x", "", "@1775001600 Thu, 01 Oct 2026 00:00:00 GMT"}, // fails
		{"POST", "/new?limit=10&sort=x", "", ""},                                         // is refused
		{"GET", "/old?sort=x", "", "@1767225600 Tue, 01 Sep 2026 00:00:00 GMT"},          // the earliest of two

		{"POST", "/new", `{}`, ""},
		{"POST", "/new", `{"name": "label", "deprecated": true, "unknown": {"label": [{"label": "x"}]}}`, ""},
		{"POST", "/new", `{"label": "x"}`, "@1780272000 Tue, 01 Dec 2026 00:00:00 GMT"}, // 1 June
		{"POST", "/new", `{"label": null}`, "@1780272000 Tue, 01 Dec 2026 00:00:00 GMT"},
		{"POST", "/new", `{"part": {"size": 1}, "name": "x"}`, "@1785542400 Mon, 01 Feb 2027 00:00:00 GMT"}, // 1 August
		{"POST", "/new", `{"part": {"thing": {"parts": [{}, {"size": 1}]}}}`, "@1785542400 Mon, 01 Feb 2027 00:00:00 GMT"},
		{"POST", "/new", `{"byName": {"a": {"size": 1}}}`, "@1785542400 Mon, 01 Feb 2027 00:00:00 GMT"},
		{"POST", "/new", `{"owner": {}}`, "@1782864000 Fri, 01 Jan 2027 00:00:00 GMT"}, // 1 July
		{"POST", "/new", `{"owner": {"label": "x"}}`, "@1780272000 Tue, 01 Dec 2026 00:00:00 GMT"},
		{"POST", "/new", `{"part": [{"size": 1}], "parts": {"size": 1}, "byName": 1}`, ""}, // of other types
	} {
		answer := k.ask(c.method, c.target, c.body)
		if got := strings.TrimSpace(answer.header.Get("Deprecation") + " " + answer.header.Get("Sunset")); got != c.want {
			t.Errorf("%s %s %s: %q, want %q\n%s", c.method, c.target, c.body, got, c.want, answer.text)
		}
	}
	if got := k.ask("POST", "/new", "", "If-Match", "*").header.Get("Deprecation"); got != "@1777593600" { // 1 May
		t.Errorf("with a header: %q", got)
	}
	refused := k.ask("GET", "/old", "", "Authorization", "Bearer nobody")
	if refused.status != http.StatusUnauthorized || refused.header.Get("Sunset") == "" {
		t.Errorf("without a token: %d, %v", refused.status, refused.header)
	}
}

func TestTheLogSaysWhichRequestsUseWhatIsDeprecated(t *testing.T) {
	t.Parallel()
	k := newAgeing(t)
	k.ask("POST", "/new", `{"label": "x"}`)
	k.ask("POST", "/new", `{"name": "x"}`)
	lines := strings.Split(strings.TrimSpace(k.log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"deprecated":true`) || strings.Contains(lines[1], "deprecated") {
		t.Errorf("%q", lines)
	}
}

func TestADocumentShowsTheHeadersAndTheDaysOfWhatIsDeprecated(t *testing.T) {
	t.Parallel()
	document, err := assemble(t, map[string]string{"common.yaml": ageing})
	if err != nil {
		t.Fatal(err)
	}
	text, err := document.JSON()
	if err != nil {
		t.Fatal(err)
	}
	const headers = `"headers":{"Deprecation":{"$ref":"#/components/headers/Deprecation"},"Sunset":{"$ref":"#/components/headers/Sunset"}}`
	if got := strings.Count(string(text), headers); got != 3 { // not of GET /new
		t.Errorf("%d answers have the headers in\n%s", got, text)
	}
	if !strings.Contains(string(text), `"deprecated":true,"x-deprecated-since":"2026-03-01","x-sunset":"2026-09-01"`) {
		t.Errorf("the days are missing in\n%s", text)
	}
}

func TestWhatIsDeprecatedNeedsAPlaceAndSixMonths(t *testing.T) {
	t.Parallel()
	const mark = "deprecated: true, x-deprecated-since: 2026-06-01, x-sunset: 2026-12-01"
	for _, c := range []struct{ schema, want string }{
		{"{properties: {a: {type: string, " + mark + "}}}", ""},
		{"{properties: {a: {type: string, deprecated: false}}}", ""},
		{"{properties: {a: {type: string, deprecated: true}}}", "X.properties.a: deprecated: true needs x-deprecated-since and x-sunset"},
		{"{properties: {a: {deprecated: true, x-sunset: 2026-12-01}}}", "deprecated: true needs x-deprecated-since and x-sunset"},
		{"{properties: {a: {x-sunset: 2026-12-01}}}", "x-deprecated-since and x-sunset need deprecated: true"},
		{"{properties: {a: {deprecated: true, x-deprecated-since: 2026-06-01, x-sunset: 2026-11-30}}}",
			"components.schemas.X.properties.a: its sunset must be 2026-12-01 or later"},
		{"{properties: {a: {deprecated: true, x-deprecated-since: June, x-sunset: 2026-11-30}}}", `must be a day, such as`},
		{`{properties: {a: {$ref: "#/components/schemas/Y", ` + mark + "}}}", "write allOf"},
		{"{type: string, " + mark + "}", "components.schemas.X: only an operation, a parameter or a field can be deprecated"},
		{"{properties: {a: {anyOf: [{type: string, " + mark + "}]}}}", "components.schemas.X.properties.a.anyOf.0: only an operation"},
	} {
		_, err := assemble(t, map[string]string{"common.yaml": "paths: {}\ncomponents: {schemas: {X: " + c.schema + "}}"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.schema, err, c.want)
		}
	}
}
