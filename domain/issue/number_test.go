package issue_test

import (
	"testing"

	"holdco/domain/issue"
)

func TestANumberIsReadAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1": 1, "42": 42, "9223372036854775807": 9223372036854775807} {
		if got, ok := issue.ParseNumber(text); got != want || !ok {
			t.Errorf("%q is read as %d, %t", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "0", "-1", "+1", "01", "1.0", " 1", "1 ", "#1", "9223372036854775808", "iss_01j5ze2c4tf0e9m8k2r6c3w7bd", "one",
	} {
		if _, ok := issue.ParseNumber(text); ok {
			t.Errorf("%q is read as a number", text)
		}
	}
}
