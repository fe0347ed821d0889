package wiring_test

import (
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"holdco/adapters/client"
	"holdco/app/runner"
)

// What commands ask a running server for, what they send and what they read must be in the documents of the APIs.
func TestTheClientKeepsToTheDocumentsOfTheAPIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		declared []client.Operation
		least    int
		takesKey func(o client.Operation) bool
	}{
		"openapi.json": {client.Operations(), 13, func(o client.Operation) bool { return o.Method == http.MethodPost }},
		"gateway_openapi.json": {client.GatewayOperations(), 9, func(o client.Operation) bool {
			return slices.Contains([]string{"claimLease", "checkpointLease", "requestApproval", "answerQuestion"}, o.ID)
		}},
	} {
		document, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, "testdata", "golden", name))
		must(t, err)
		if len(c.declared) < c.least {
			t.Errorf("there are %d operations", len(c.declared))
		}
		for _, o := range c.declared {
			path := document.Paths.Value(o.Path)
			if path == nil || path.GetOperation(o.Method) == nil {
				t.Errorf("%s: the document has no %s %s", o.ID, o.Method, o.Path)
				continue
			}
			checkOperation(t, o, path.GetOperation(o.Method), c.takesKey(o))
		}
	}
}

func checkOperation(t *testing.T, o client.Operation, described *openapi3.Operation, wantsKey bool) {
	t.Helper()
	if described.OperationID != o.ID {
		t.Errorf("%s %s is %s, not %s", o.Method, o.Path, described.OperationID, o.ID)
	}
	for _, name := range o.Query {
		if described.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			t.Errorf("%s has no parameter %s", o.ID, name)
		}
	}
	if takesKey := described.Parameters.GetByInAndName(openapi3.ParameterInHeader, "Idempotency-Key") != nil; takesKey != wantsKey {
		t.Errorf("%s takes an idempotency key: %t", o.ID, takesKey)
	}
	checkBody(t, o, described)
	checkAnswer(t, o, described)
}

// checkBody checks that the fields which are sent are there, and that those which are required can be sent.
func checkBody(t *testing.T, o client.Operation, described *openapi3.Operation) {
	t.Helper()
	if described.RequestBody == nil {
		if o.Fields != nil {
			t.Errorf("%s takes no body", o.ID)
		}
		return
	}
	body := described.RequestBody.Value.Content.Get("application/json").Schema
	for _, field := range o.Fields {
		if fieldOf(body, strings.Split(field, ".")) == nil {
			t.Errorf("%s has no field %s", o.ID, field)
		}
	}
	for _, required := range body.Value.Required {
		if !slices.Contains(o.Fields, required) {
			t.Errorf("%s requires the field %s", o.ID, required)
		}
	}
}

// checkAnswer checks that the fields which are read are there.
func checkAnswer(t *testing.T, o client.Operation, described *openapi3.Operation) {
	t.Helper()
	for status, answer := range described.Responses.Map() {
		if !strings.HasPrefix(status, "2") || answer.Value.Content == nil {
			continue
		}
		if answer.Value.Content.Get("application/json") == nil {
			continue // a stream
		}
		data := fieldOf(answer.Value.Content.Get("application/json").Schema, []string{"data"})
		if lists := slices.Contains(o.Query, "cursor"); lists != (data.Value.Items != nil) {
			t.Errorf("%s answers with a list: %t", o.ID, !lists)
		} else if lists {
			data = data.Value.Items
		}
		switch {
		case o.Shows != nil:
			checkRead(t, o, data, reflect.TypeOf(o.Shows))
		case o.ID == "claimLease": // who works on it reads it
			checkRead(t, o, data, reflect.TypeFor[runner.Lease]())
		}
	}
}

func checkRead(t *testing.T, o client.Operation, schema *openapi3.SchemaRef, into reflect.Type) {
	t.Helper()
	for field := range into.Fields() {
		if field.Anonymous {
			checkRead(t, o, schema, field.Type)
			continue
		}
		if !field.IsExported() {
			continue
		}
		name := field.Tag.Get("json")
		found := fieldOf(schema, []string{name})
		if found == nil {
			t.Errorf("%s answers without the field %s", o.ID, name)
		} else if field.Type.Kind() == reflect.Struct {
			checkRead(t, o, found, field.Type)
		}
	}
}

// fieldOf finds the schema of a field by its path, or nil.
func fieldOf(schema *openapi3.SchemaRef, path []string) *openapi3.SchemaRef {
	if len(path) == 0 {
		return schema
	}
	if found := schema.Value.Properties[path[0]]; found != nil {
		return fieldOf(found, path[1:])
	}
	for _, part := range schema.Value.AllOf {
		if found := fieldOf(part, path); found != nil {
			return found
		}
	}
	return nil
}
