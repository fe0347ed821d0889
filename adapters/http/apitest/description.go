package apitest

import (
	"errors"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Read returns a reader of a document that was assembled.
func Read[D interface{ JSON() ([]byte, error) }](assembled D, err error) func(t testing.TB) *openapi3.T {
	return func(t testing.TB) *openapi3.T {
		t.Helper()
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
}

// CheckDescription fails the test unless a document is valid, its examples are true, and every operation says what it is. Those
// that are not public have one of the classes and describe answers with all of the statuses, which report the rate limit,
// except where the caller is not known.
func CheckDescription(t testing.TB, document *openapi3.T, classes, statuses []string) {
	t.Helper()
	if err := document.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if err := checkOperation(operation, classes, statuses); err != nil {
				t.Errorf("%s %s: %v", method, path, err)
			}
		}
	}
}

func checkOperation(operation *openapi3.Operation, classes, statuses []string) error {
	if operation.OperationID == "" || operation.Summary == "" || len(operation.Tags) != 1 {
		return errors.New("it lacks an operationId, a summary or a tag")
	}
	if operation.Security != nil {
		return nil
	}
	if class, _ := operation.Extensions["x-class"].(string); !slices.Contains(classes, class) {
		return errors.New("its x-class is " + class)
	}
	for _, status := range statuses {
		if operation.Responses.Value(status) == nil {
			return errors.New("it does not describe " + status)
		}
	}
	for status, response := range operation.Responses.Map() {
		for _, header := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
			if (response.Value.Headers[header] == nil) != (status == "401") {
				return errors.New("it describes " + header + " of " + status + ", or should")
			}
		}
	}
	return nil
}
