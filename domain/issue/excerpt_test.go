package issue_test

import (
	"strings"
	"testing"

	"holdco/domain/issue"
)

func TestAnExcerptIsTheBeginningOfAResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		result, want string
		isCut        bool
	}{
		{"", "", false},
		{`{"n":1e400}`, `{"n":1e400}`, false},
		{`"` + strings.Repeat("x", 18) + `"`, `"` + strings.Repeat("x", 18) + `"`, false},
		{`"` + strings.Repeat("x", 20) + `"`, `"` + strings.Repeat("x", 20) + `"`, false}, // the text itself is not too long
		{`"` + strings.Repeat("x", 21) + `"`, `"` + strings.Repeat("x", 20) + `"`, true},
		{`"` + strings.Repeat("ö", 11) + `"`, `"` + strings.Repeat("ö", 10) + `"`, true},
		{`"x` + strings.Repeat("ö", 11) + `"`, `"x` + strings.Repeat("ö", 9) + `"`, true},
		{`["one","two","three","four"]`, `"[\"one\",\"two\",\"three\""`, true},
	} {
		got, isCut := issue.Excerpt(c.result, 20)
		if got != c.want || isCut != c.isCut {
			t.Errorf("%s: %s, %t; want %s", c.result, got, isCut, c.want)
		}
	}
}
