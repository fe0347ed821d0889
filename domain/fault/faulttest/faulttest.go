// Package faulttest checks refusals in tests.
package faulttest

import (
	"strings"
	"testing"

	"holdco/domain/fault"
)

// Check checks a refusal: its code, then the path and the code of each of its fields, and its reason if it has one, such as
// "validation_failed name:required slug:too_long" or "invalid_transition issue_is_running". Empty: there is none. Each message of a
// field has to name the field.
func Check(t *testing.T, name string, err error, want string) {
	t.Helper()
	got := string(fault.CodeOf(err))
	if refusal := fault.Of(err); refusal != nil {
		for _, field := range refusal.Fields {
			got += " " + field.Path + ":" + field.Code
			if !strings.Contains(field.Message, field.Path) {
				t.Errorf("%s: %q does not name the field", name, field.Message)
			}
		}
		if reason, ok := refusal.Details["reason"].(string); ok {
			got += " " + reason
		}
	}
	if got != want {
		t.Errorf("%s: %s; want %s", name, got, want)
	}
}
