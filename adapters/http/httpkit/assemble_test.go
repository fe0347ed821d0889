package httpkit_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/httpkit"
)

const common = `
openapi: 3.0.3
info: {title: Things}
tags: []
paths: {}
x-shared:
  every: {headers: {X-Request-Id: RequestId}}
  authenticated: {headers: {RateLimit-Limit: Limit}, responses: {"400": Bad, "401": Who}}
  get: {x-class: read}
  patch: {x-class: write}
  page: {parameters: [Cursor]}
  cached: {responses: {"304": Same}}
  tagged: {headers: {ETag: ETag}}
  matched: {parameters: [IfMatch]}
  body: {responses: {"422": Wrong}}
x-envelopes:
  data: {type: object, required: [data]}
  page: {type: object, required: [data, page], properties: {page: {type: object}}}
x-codes:
  unauthorized: no token.
  invalid_json: "not JSON."
components:
  responses:
    Bad: {schema: ErrorAnswer}
    Who: {schema: ErrorAnswer}
    Same: {description: The same.}
    Wrong: {schema: ErrorAnswer}
  schemas:
    Error: {type: object, properties: {code: {type: string, enum: []}}}
    EventName: {type: string, enum: [test]}
`

const things = `
tags: [{name: Things}]
x-codes:
  invalid_cursor: not of this list.
  slug_in_use: taken.
x-events:
  thing.made: A thing was made.
paths:
  /things:
    get:
      operationId: listThings
      description: "All. {events}"
      x-scope: read
      parameters: [Kind]
      responses: {"200": {description: A page., page: Thing}}
  /things/{id}:
    get:
      operationId: getThing
      x-scope: any
      responses: {"200": {description: It., data: Thing}}
    patch:
      operationId: updateThing
      x-scope: write
      requestBody: ThingPatch
      responses: {"200": {description: It., data: Thing}, "409": Taken}
  /up:
    get: {operationId: up, security: [], responses: {"200": Up}}
components:
  responses: {Taken: {schema: ErrorAnswer}}
  schemas:
    Thing: {type: object, x-versioned: true, properties: {id: {type: string, x-go-type: string}}}
    ThingPatch: {type: object, properties: {part: {$ref: "#/components/schemas/Part"}}}
    Part: {type: string, x-go-type: string}
`

func assemble(t *testing.T, files map[string]string) (*httpkit.Document, error) {
	t.Helper()
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return httpkit.Assemble(folder)
}

// A document may show what another one does. It takes what it refers to, and nothing else.
func TestADocumentTakesComponentsOfAnother(t *testing.T) {
	t.Parallel()
	const own = `
openapi: 3.0.3
paths:
  /mine: {get: {operationId: mine, x-scope: any, x-class: read, responses: {"200": {description: Mine., data: Thing}}}}
x-shared:
  authenticated: {responses: {"401": Who}}
  unrouted: {responses: {"400": Bad}}
x-codes: {unauthorized: not you., invalid_json: no.}
components:
  schemas:
    Error: {type: object, properties: {code: {type: string, enum: []}, own: {type: string}}}
    Unused: {$ref: "#/components/schemas/Part"}
`
	theirs := fstest.MapFS{"common.yaml": {Data: []byte(common)}, "things.yaml": {Data: []byte(things)}}
	document, err := httpkit.Assemble(fstest.MapFS{"common.yaml": {Data: []byte(own)}}, theirs)
	if err != nil {
		t.Fatal(err)
	}
	text, err := document.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Paths      map[string]any
		Components map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for kind, all := range got.Components {
		names[kind] = slices.Sorted(maps.Keys(all))
	}
	if diff := cmp.Diff(map[string][]string{
		"responses": {"Bad", "Who"}, "schemas": {"Error", "Part", "Thing", "ThingAnswer", "Unused"},
	}, names); diff != "" || len(got.Paths) != 1 {
		t.Errorf("%v %s", got.Paths, diff)
	}
	for name, want := range map[string]string{
		"Error": `{"type":"object","properties":{"code":{"type":"string","enum":["unauthorized","invalid_json"]},` +
			`"own":{"type":"string"}}}`,
		"ThingAnswer": `{"type":"object","required":["data"],"properties":{"data":{"$ref":"#/components/schemas/Thing"}}}`,
	} {
		if diff := cmp.Diff(want, string(got.Components["schemas"][name])); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	broken := fstest.MapFS{"things.yaml": {Data: []byte("[]")}}
	if _, err := httpkit.Assemble(fstest.MapFS{"common.yaml": {Data: []byte(own)}}, broken); err == nil {
		t.Error("files that cannot be read are taken")
	}
}

func TestOperationsGetWhatTheirKindsShare(t *testing.T) {
	t.Parallel()
	shared := strings.Replace(common, `"422": Wrong}}`, `"422": Wrong}}
  conflicts: {responses: {"409": Taken}}`, 1)
	document, err := assemble(t, map[string]string{"things.yaml": things, "common.yaml": shared})
	if err != nil {
		t.Fatal(err)
	}
	text, err := document.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Paths map[string]map[string]json.RawMessage
	}
	var components struct {
		Components struct{ Responses, Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &components); err != nil {
		t.Fatal(err)
	}
	const (
		errors  = `"400":{"$ref":"#/components/responses/Bad"},"401":{"$ref":"#/components/responses/Who"}`
		headers = `"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"RateLimit-Limit":{"$ref":"#/components/headers/Limit"}`
		tag     = `,"ETag":{"$ref":"#/components/headers/ETag"}`
		thing   = `"content":{"application/json":{"schema":{"$ref":"#/components/schemas/ThingAnswer"}}},"headers":{` + headers + tag + `}`
		patch   = `{"schema":{"$ref":"#/components/schemas/ThingPatch"}}`
		failure = `"content":{"application/json":{"schema":{"$ref":"#/components/schemas/ErrorAnswer"}}}`
	)
	for path, want := range map[string]string{
		"/things get": `{"operationId":"listThings",` +
			`"description":"All. | Event | What happened |\n|---|---|\n| ` + "`thing.made`" + ` | A thing was made. |",` +
			`"x-scope":"read","parameters":[{"$ref":"#/components/parameters/Kind"},` +
			`{"$ref":"#/components/parameters/Cursor"}],"responses":{"200":{"description":"A page.","content":{"application/json":` +
			`{"schema":{"$ref":"#/components/schemas/ThingList"}}},"headers":{` + headers + `}},` + errors +
			`},"tags":["Things"],"x-class":"read"}`,
		"/things/{id} get": `{"operationId":"getThing","x-scope":"any","responses":{"200":{"description":"It.",` + thing + `},` +
			`"304":{"$ref":"#/components/responses/Same"},` + errors + `},"tags":["Things"],"x-class":"read"}`,
		"/things/{id} patch": `{"operationId":"updateThing","x-scope":"write",` +
			`"requestBody":{"required":true,"content":{"application/json":` + patch +
			`,"application/merge-patch+json":` + patch + `}},"responses":{"200":{"description":"It.",` + thing + `},` + errors +
			`,"409":{"$ref":"#/components/responses/Taken"},"422":{"$ref":"#/components/responses/Wrong"}},"tags":["Things"],` +
			`"x-class":"write","parameters":[{"$ref":"#/components/parameters/IfMatch"}]}`,
		"/up get": `{"operationId":"up","security":[],"responses":{"200":{"$ref":"#/components/responses/Up"}},"tags":["Things"]}`,
	} {
		path, method, _ := strings.Cut(path, " ")
		if diff := cmp.Diff(want, string(got.Paths[path][method])); diff != "" {
			t.Errorf("%s %s: %s", method, path, diff)
		}
	}
	for name, want := range map[string]string{
		"Bad": `{"description":"- ` + "`invalid_json`: not JSON.\\n- `invalid_cursor`" + `: not of this list.\n",` +
			failure + `,"headers":{` + headers + `}}`,
		"Who": `{"description":"` + "`unauthorized`" + `: no token.\n",` +
			failure + `,"headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"}}}`,
	} {
		var compared [2]any
		for i, text := range []string{want, string(components.Components.Responses[name])} {
			if err := json.Unmarshal([]byte(text), &compared[i]); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(compared[0], compared[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, want := range map[string]string{
		"Error": `{"type":"object","properties":{"code":` +
			`{"type":"string","enum":["unauthorized","invalid_json","invalid_cursor","slug_in_use"]}}}`,
		"EventName":   `{"type":"string","enum":["test","thing.made"]}`,
		"Thing":       `{"type":"object","properties":{"id":{"type":"string"}}}`,
		"ThingAnswer": `{"type":"object","required":["data"],"properties":{"data":{"$ref":"#/components/schemas/Thing"}}}`,
		"ThingList": `{"type":"object","required":["data","page"],"properties":{"data":{"type":"array","items":` +
			`{"$ref":"#/components/schemas/Thing"}},"page":{"type":"object"}}}`,
	} {
		if diff := cmp.Diff(want, string(components.Components.Schemas[name])); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}

	models, err := document.RequestModels()
	if err != nil {
		t.Fatal(err)
	}
	if text := string(models); !strings.Contains(text, "ThingPatch:") || !strings.Contains(text, "x-go-type: string") ||
		strings.Contains(text, "ThingAnswer") || strings.Contains(text, "/things") {
		t.Errorf("the models of requests are\n%s", models)
	}
}

func TestADocumentSuitsGenerators(t *testing.T) {
	t.Parallel()
	const parts = `
paths:
  /parts:
    get: {operationId: listParts, x-scope: read, parameters: [Part, Size], responses: {"200": {description: All., page: Part}}}
components:
  parameters:
    Part: {name: part, in: query, schema: {$ref: "#/components/schemas/Part"}}
    Size: {name: size, in: query, schema: {type: integer, default: 1}}
  schemas:
    Part: {type: string}
    PartDraft:
      type: object
      properties:
        count: {type: integer, default: 1, minimum: 1, description: How many., deprecated: true, example: 2, x-go-type: int64,
          x-deprecated-since: 2026-01-01, x-sunset: 2027-01-01}
        kind: {description: Which., allOf: [{$ref: "#/components/schemas/Part"}], default: a}
        more: {type: array, items: {type: object, properties: {default: {type: string, default: b}}}}
`
	document, err := assemble(t, map[string]string{"common.yaml": common, "parts.yaml": parts})
	if err != nil {
		t.Fatal(err)
	}
	text, err := document.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Paths      map[string]map[string]struct{ Parameters json.RawMessage }
		Components struct{ Parameters, Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	components := got.Components
	for want, got := range map[string]json.RawMessage{
		`[{"$ref":"#/components/parameters/PartParameter"},{"$ref":"#/components/parameters/Size"},` +
			`{"$ref":"#/components/parameters/Cursor"}]`: got.Paths["/parts"]["get"].Parameters,
		`{"name":"part","in":"query","schema":{"$ref":"#/components/schemas/Part"}}`: components.Parameters["PartParameter"],
		`{"name":"size","in":"query","schema":{"type":"integer","default":1}}`:       components.Parameters["Size"],
		`{"type":"object","properties":{` +
			`"count":{"description":"How many. Default: '1'.","deprecated":true,"example":2,"x-deprecated-since":"2026-01-01",` +
			`"x-sunset":"2027-01-01","allOf":[{"type":"integer","default":1,"minimum":1}]},` +
			`"kind":{"description":"Which. Default: 'a'.","allOf":[{"$ref":"#/components/schemas/Part"},{"default":"a"}]},` +
			`"more":{"type":"array","items":{"type":"object","properties":` +
			`{"default":{"allOf":[{"type":"string","default":"b"}],"description":"Default: 'b'."}}}}}}`: components.Schemas["PartDraft"],
	} {
		if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "`", "'")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestADocumentThatCannotBeAssembledIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"defined twice": {"components: {schemas: {Error: {type: string}}}",
			"twice.yaml: .components.schemas.Error.type is in another file already"},
		"no object":    {"[]", "twice.yaml: it must be one YAML object"},
		"no YAML":      {"a: [", "twice.yaml: yaml"},
		"unknown code": {"x-codes: {out_of_luck: never.}", "x-codes.out_of_luck: no error has this code"},
		"names of types": {"components: {schemas: {bad: {type: string}}}",
			"components.responses.Bad: components.schemas has this name too"},
		"unknown status": {"x-codes: {rate_limited: wait.}", "x-shared has no response with the status 429"},
	} {
		if _, err := assemble(t, map[string]string{"common.yaml": common, "twice.yaml": c.file}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for schema, want := range map[string]string{
		"Error:":                         "x-codes: components.schemas.Error.properties.code.enum must be a list",
		"code:":                          "x-codes: components.schemas.Error.properties.code.enum must be a list",
		"EventName: {type: string, enum": "x-events: components.schemas.EventName.enum must be a list",
	} {
		without := strings.Replace(common, schema, "Other"+schema, 1)
		if _, err := assemble(t, map[string]string{
			"common.yaml": without, "things.yaml": "x-events: {thing.made: A thing was made.}",
		}); err == nil || err.Error() != want {
			t.Errorf("without %s: %v", schema, err)
		}
	}
}

func TestAnOperationWithoutScopeOrClassStopsTheStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"x-scope: read", "x-scope: everything", "GET /things: x-scope must be"},
		{"      x-scope: any\n", "", "POST /things/{id}/act: x-scope must be"},
		{"x-class: write", "x-class: dear", "x-class must be"},
		{"      x-class: read\n", "", "x-class must be"},
		{"minimum: 1, maximum: 200", "", "limit has no bounds"},
	} {
		assembled, err := assemble(t, map[string]string{"common.yaml": strings.ReplaceAll(document, c.from, c.to)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := assembled.Table(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q: %v, want %q", c.to, c.from, err, c.want)
		}
	}
}
