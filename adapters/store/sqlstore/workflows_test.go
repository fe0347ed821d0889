package sqlstore_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/issue"
)

func TestWhatIsKeptOfAStepIsReadOrRefused(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string]issue.Issue{
		"":                      {},
		"3 0":                   {WorkflowVersion: 3},
		"9 2 write-it approval": {WorkflowVersion: 9, Place: 2, StepKey: "write-it", Gate: issue.ApprovalGate},
	} {
		got, err := sqlstore.StepOf(kept)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", kept, err, diff)
		}
	}
	for _, kept := range []string{
		" ", "3", "3 1", "0 0", "x 0", "3 x", "3 1 write", "3 0 write none", "0 1 write none", "-1 1 write none", "3 -1 write none",
		"3 1 write none more", "3 1x write none", "3 0 write",
	} {
		if got, err := sqlstore.StepOf(kept); err == nil {
			t.Errorf("%q is read as %+v", kept, got)
		}
	}
}

// The names in what is kept do not follow those of the domain.
func TestTheStepsOfAWorkflowAreKeptUnderTheirNames(t *testing.T) {
	t.Parallel()
	const kept = `[{"Key":"write","Title":"Write","Instructions":"300 words.","Team":"tm_1","Gate":"review"},` +
		`{"Key":"send","Title":"Send","Instructions":"","Team":"","Gate":"none"}]`
	want := []issue.Step{
		{Key: "write", Title: "Write", Instructions: "300 words.", Team: "tm_1", Gate: issue.ReviewGate},
		{Key: "send", Title: "Send", Gate: issue.NoGate},
	}
	got, err := sqlstore.StepsOf(kept)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if diff := cmp.Diff(any(kept), sqlstore.KeptSteps(want)); diff != "" {
		t.Error(diff)
	}
	if got, err := sqlstore.StepsOf(`[{"Key":`); err == nil {
		t.Errorf("%+v", got)
	}
}
