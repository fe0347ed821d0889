package approval_test

import (
	"testing"

	"holdco/domain/approval"
	"holdco/domain/event"
	"holdco/domain/issue"
	"holdco/domain/run"
)

func TestTheGateOfAStepAsks(t *testing.T) {
	t.Parallel()
	by := run.Run{ID: "run_1", Company: "cmp_1", Issue: "iss_1", Agent: "agt_1"}
	a, requested := approval.OfStep("apr_1", issue.Issue{Title: "Write it"}, by, "tm_1", noon)
	if a.ActionName != approval.StepAction || a.Action != `Finish the step "Write it".` || a.Run != "run_1" || a.Issue != "iss_1" ||
		a.Agent != "agt_1" || a.Team != "tm_1" || a.Status != approval.Pending || !a.ExpiresAt.After(noon) || !a.IsAwaited() || a.Parked ||
		requested.Type != event.ApprovalRequested {
		t.Errorf("%+v, %+v", a, requested)
	}
	for _, c := range []struct {
		of   approval.Approval
		want string
	}{
		{approval.Approval{Status: approval.Denied, Note: "No."}, "No."},
		{approval.Approval{Status: approval.Denied}, "The approval was denied."}, // by a rule
		{approval.Approval{Status: approval.Expired}, "Nobody decided in time."},
	} {
		if got := *c.of.Rejection().Body; got != c.want {
			t.Errorf("%+v: %s", c.of, got)
		}
	}
	for _, c := range []struct {
		of   approval.Approval
		want bool
	}{{approval.Approval{Parked: true}, true}, {approval.Approval{ActionName: "deploy"}, false}} {
		if c.of.IsAwaited() != c.want {
			t.Errorf("%+v", c.of)
		}
	}
}

func TestOnlyAPersonHasAStepDoneAgainBeyondItsAttempts(t *testing.T) {
	t.Parallel()
	pending := asked(t, approval.Pending)
	denied, _, err := pending.Decide(approval.Verdict{Action: approval.Deny, Note: new("No")}, person, noon)
	if err != nil {
		t.Fatal(err)
	}
	byRule, _, fits := pending.Apply([]approval.Rule{{ID: "apl_1", ActionName: "*", Decision: approval.Deny}}, noon)
	if !fits {
		t.Fatal("no rule fits")
	}
	expired, _ := pending.Expire(noon)
	for _, c := range []struct {
		by      approval.Approval
		attempt int
		want    issue.Status
	}{
		{denied, 1, issue.Assigned},
		{denied, 2, issue.Assigned},
		{denied, 3, issue.Assigned},
		{byRule, 1, issue.Assigned},
		{byRule, 2, issue.Handoff},
		{byRule, 3, issue.Handoff},
		{expired, 1, issue.Assigned},
		{expired, 2, issue.Handoff},
		{expired, 3, issue.Handoff},
	} {
		step := issue.Issue{Status: issue.Review, WaitingFor: pending.ID, Agent: "agt_1", Attempt: c.attempt, MaxAttempts: 2}
		next, _, err := c.by.Reject(step, true)
		if err != nil || next.Status != c.want || next.WaitingFor != "" || !next.UpdatedAt.Equal(noon) {
			t.Errorf("%s by %q at attempt %d: %+v, %v", c.by.Status, c.by.DecidedBy, c.attempt, next, err)
		}
	}
}
