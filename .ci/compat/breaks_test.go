package compat

import (
	"strings"
	"testing"
)

const (
	past   = `deprecated: true, x-sunset: "2026-01-31"`
	future = `deprecated: true, x-sunset: "2999-01-31"`

	properties = "      properties:\n"
	draft      = "required: [name]\n" + properties
	size       = "        size: {type: integer}\n"
	q          = "        - {name: q, in: query, schema: {type: string}}\n"
)

// released is a document with everything that the cases change.
const released = `
openapi: 3.0.3
info: {title: Things, version: "1"}
paths:
  /things:
    get:
      operationId: listThings
      parameters:
        - {name: state, in: query, schema: {type: string, enum: [any, open]}}
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 200, default: 50}}
        - {name: sort, in: query, ` + past + `, schema: {type: string}}
        - {name: order, in: query, ` + future + `, schema: {type: string}}
      responses:
        "200":
          description: All.
          headers: {ETag: {schema: {type: string}}}
          content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Thing"}}}}
    post:
      operationId: createThing
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/ThingDraft"}}}
      responses:
        "201": {description: It., content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}
      callbacks:
        made:
          "{$request.body#/url}":
            post:
              requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Message"}}}}
              responses: {"204": {description: Received.}}
  /old:
    get:
      operationId: old
      deprecated: true
      x-sunset: "2026-01-31"
      responses: {"204": {description: Nothing.}}
  /ageing:
    get:
      operationId: ageing
      deprecated: true
      x-sunset: "2999-01-31"
      responses: {"204": {description: Nothing.}}
components:
  schemas:
    Kind: {type: string, enum: [big, small]}
    Thing:
      type: object
      required: [id, state, former]
      properties:
        id: {type: string}
        state: {type: string, enum: [open, done]}
        note: {type: string, maxLength: 100}
        former: {type: string, ` + past + `}
        part: {type: object, properties: {once: {type: string, ` + past + `}}}
        later: {type: string, ` + future + `}
    ThingDraft:
      type: object
      required: [name]
      properties:
        name: {type: string, maxLength: 80}
        url: {type: string, maxLength: 100}
        kind: {$ref: "#/components/schemas/Kind"}
        legacy: {type: string, ` + past + `}
        ageing: {type: string, ` + future + `}
    Message:
      type: object
      required: [type]
      properties: {type: {type: string, enum: [made]}, seq: {type: integer}}
`

func TestWhatClientsRelyOnDoesNotChange(t *testing.T) {
	earlier := strings.Replace(line("ageing:"), "2999", "2998", 1)
	for name, c := range map[string]struct{ old, new, rule string }{
		"an operation is removed":         {between("    post:", "  /old:"), "", "api-removed-without-deprecation"},
		"a path is renamed":               {"  /things:", "  /stuff:", "api-path-removed-without-deprecation"},
		"an operation is named otherwise": {"listThings", "getThings", "api-operation-id-removed"},
		"an operation before its sunset":  {between("  /ageing:", "components:"), "", "api-path-removed-before-sunset"},

		"a field of answers is removed":              {line("id:"), "", "response-required-property-removed"},
		"a field that answers may have, is":          {line("note:"), "", "response-optional-property-removed"},
		"a field of answers before its sunset":       {line("later:"), "", "response-optional-property-removed"},
		"a field of answers may be missing":          {"[id, state, former]", "[id, former]", "response-property-became-optional"},
		"a field of answers may be null":             {"id: {", "id: {nullable: true, ", "response-property-became-nullable"},
		"a field of answers has another type":        {"id: {type: string}", "id: {type: integer}", "response-property-type-changed"},
		"a field of messages to webhooks is removed": {", seq: {type: integer}", "", "response-optional-property-removed"},
		"a header of answers is removed":             {line("headers:"), "", "optional-response-header-removed"},
		"a success has another status":               {`"201": {`, `"202": {`, "response-success-status-removed"},

		"a field of requests is removed":         {line("url:"), "", "request-property-removed"},
		"a field of requests before its sunset":  {line("ageing:"), "", "request-property-removed-before-sunset"},
		"a sunset comes earlier":                 {line("ageing:"), earlier, "request-property-sunset-date-changed-earlier"},
		"a field of requests is needed":          {"required: [name]", "required: [name, url]", "request-property-became-required"},
		"a new field of requests is needed":      {draft, "required: [name, size]\n" + properties + size, "new-required-request-property"},
		"an enumeration of requests has less":    {"[big, small]", "[big]", "request-property-enum-value-removed"},
		"a bound of requests is closer":          {"maxLength: 80", "maxLength: 79", "request-property-max-length-decreased"},
		"a parameter is removed":                 {line("- {name: state"), "", "request-parameter-removed"},
		"a parameter before its sunset":          {line("- {name: order"), "", "request-parameter-removed-before-sunset"},
		"a parameter is needed":                  {"{name: state, ", "{name: state, required: true, ", "request-parameter-became-required"},
		"an enumeration of a parameter has less": {"[any, open]", "[any]", "request-parameter-enum-value-removed"},
		"what a parameter means when left out":   {"default: 50", "default: 20", "request-parameter-default-value-changed"},
	} {
		lines := compare(t, c.old, c.new)
		if !strings.Contains(strings.Join(lines, "\n"), "["+c.rule+"]") {
			t.Errorf("%s: want %s, got %q", name, c.rule, lines)
		}
	}
}

func TestAdditionsAndWhatHasHadItsSunsetAreAccepted(t *testing.T) {
	const kind = `{$ref: "#/components/schemas/Kind"}`
	const another = "  /new: {get: {operationId: new, responses: {\"204\": {description: Nothing.}}}}\n"
	for name, c := range map[string]struct{ old, new string }{
		"nothing":                       {"", ""},
		"an operation":                  {"  /old:", another + "  /old:"},
		"an operation after its sunset": {between("  /old:", "  /ageing:"), ""},

		"a field of answers":                  {line("note:"), line("note:") + size},
		"a field that all answers have":       {"[id, state, former]\n" + properties, "[id, state, former, size]\n" + properties + size},
		"a value of a field of answers":       {"[open, done]", "[open, done, late]"},
		"a value of messages to webhooks":     {"enum: [made]", "enum: [made, gone]"},
		"a field of answers after its sunset": {line("former:"), ""},
		"one that answers may have, too":      {", properties: {once: {type: string, " + past + "}}", ""},

		"an optional field of requests":        {line("url:"), line("url:") + size},
		"a field of requests is not needed":    {"required: [name]\n", "\n"},
		"a value of a field of requests":       {"[big, small]", "[big, small, tiny]"},
		"a wider bound of requests":            {"maxLength: 80", "maxLength: 90"},
		"a deprecation":                        {"url: {type: string", "url: {type: string, " + future},
		"a deprecation of a reference":         {line("kind:"), "        kind: {allOf: [" + kind + "], " + future + "}\n"},
		"a field of requests after its sunset": {line("legacy:"), ""},
		"an optional parameter":                {line("parameters:"), line("parameters:") + q},
		"a value of a parameter":               {"[any, open]", "[any, open, done]"},
		"a parameter after its sunset":         {line("- {name: sort"), ""},
	} {
		if lines := compare(t, c.old, c.new); len(lines) > 0 {
			t.Errorf("%s: refused %q", name, lines)
		}
	}
}

func TestAnExceptionNeedsAReasonAndALineThatItExcuses(t *testing.T) {
	for name, text := range map[string]string{
		"no reason":     `[{breaks: "x"}]`,
		"blank reason":  `[{breaks: "x", reason: " "}]`,
		"no expression": `[{breaks: "(", reason: "y"}]`,
		"another word":  `[{breaks: "x", reason: "y", until: "z"}]`,
	} {
		if _, err := parseExceptions([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	excused, err := parseExceptions([]byte(`[{breaks: 'openapi.json: GET /a: .* \[api-removed.*\]', reason: "It never worked."}]`))
	if err != nil {
		t.Fatal(err)
	}
	const line = "openapi.json: GET /a: api removed [api-removed-without-deprecation]"
	if isExcused(excused, "gateway_"+line) || excused[0].used || !isExcused(excused, line) || !excused[0].used {
		t.Errorf("%+v", *excused[0])
	}
}

// compare replaces a text of the released document once and returns what that breaks.
func compare(t *testing.T, old, replacement string) []string {
	t.Helper()
	today := strings.Replace(released, old, replacement, 1)
	if today == released && old != replacement {
		t.Fatalf("the document does not have %q", old)
	}
	lines, err := Breaks([]byte(released), []byte(today))
	if err != nil {
		t.Fatalf("%q: %v", replacement, err)
	}
	return lines
}

// between is the part of the document from one text up to another.
func between(from, to string) string {
	_, rest, _ := strings.Cut(released, from)
	within, _, _ := strings.Cut(rest, to)
	return from + within
}

// line is the line of the document that begins with a text, after blanks.
func line(start string) string {
	for text := range strings.Lines(released) {
		if strings.HasPrefix(strings.TrimLeft(text, " "), start) {
			return text
		}
	}
	return "no line begins with " + start
}
