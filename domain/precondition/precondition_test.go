package precondition_test

import (
	"testing"

	"holdco/domain/fault"
	"holdco/domain/precondition"
)

func TestAChangeGoesThroughOnAVersionThatTheClientHasSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		match precondition.Match
		want  fault.Code
	}{
		{"nothing demanded", precondition.Match{}, ""},
		{"any", precondition.Any(), ""},
		{"this one", precondition.OneOf(7), ""},
		{"one of several", precondition.OneOf(6, 7, 8), ""},
		{"an older one", precondition.OneOf(6), fault.PreconditionFailed},
		{"others", precondition.OneOf(6, 8), fault.PreconditionFailed},
		{"none", precondition.OneOf(), fault.PreconditionFailed},
	} {
		if err := c.match.Check(7); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
