package issue_test

import (
	"testing"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/issue"
)

// parked is a running issue whose agent waits for an approval.
func parked(t *testing.T) issue.Issue {
	t.Helper()
	i, isNew := least().Ask()
	if !isNew || !i.Asking || i.Version != 2 || !i.UpdatedAt.Equal(noon) {
		t.Fatalf("%+v", i)
	}
	if again, isNew := i.Ask(); isNew || again.Version != 2 {
		t.Fatalf("%+v", again)
	}
	i.Status, i.Agent, i.AgentTeam = issue.Running, ada, sales
	next, happened, err := i.ParkFor("apr_1", noon)
	if err != nil || next.Status != issue.Handoff || next.WaitingFor != "apr_1" || happened.Type != event.IssueHandedOff ||
		next.Attempt != i.Attempt || next.Agent != ada || i.EndsApprovals(next) {
		t.Fatalf("%+v, %v, %v", next, happened, err)
	}
	return next
}

func TestAParkedIssueComesBackToItsAgent(t *testing.T) {
	t.Parallel()
	i := parked(t)
	next, happened, err := i.ResumeAfter("apr_1", true, noon)
	if err != nil || next.Status != issue.Assigned || next.Agent != ada || next.Binding != issue.Kept || next.WaitingFor != "" ||
		happened.Type != event.IssueAssigned || i.EndsApprovals(next) {
		t.Errorf("%+v, %v, %v", next, happened, err)
	}
	next, _, err = i.ResumeAfter("apr_1", false, noon)
	if err != nil || next.Status != issue.Queued || next.Agent != "" || next.WaitingFor != "" || !i.EndsApprovals(next) {
		t.Errorf("%+v, %v", next, err)
	}
	for _, wrong := range []issue.Issue{least(), func() issue.Issue { i := parked(t); i.WaitingFor = "apr_2"; return i }()} {
		if _, _, err := wrong.ResumeAfter("apr_1", true, noon); fault.CodeOf(err) != fault.InvalidTransition {
			t.Error(err)
		}
	}
	for _, status := range issue.Statuses {
		i := least()
		i.Status = status
		if _, _, err := i.ParkFor("apr_1", noon); (fault.CodeOf(err) == fault.InvalidTransition) == (status == issue.Running) {
			t.Errorf("%s: %v", status, err)
		}
	}
}

func TestWhatTakesAnIssueFromItsAgentEndsItsApprovals(t *testing.T) {
	t.Parallel()
	waiting := parked(t)
	running, resumed := waiting, waiting
	running.Status, running.WaitingFor = issue.Running, ""
	resumed.Status, resumed.WaitingFor = issue.Assigned, ""
	for name, c := range map[string]struct {
		from issue.Issue
		move func(i issue.Issue) (issue.Issue, event.Event, error)
		ends bool
	}{
		"cancel while parked": {waiting, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Cancel(noon) }, true},
		"assign while parked": {waiting, func(i issue.Issue) (issue.Issue, event.Event, error) {
			return i.Assign(issue.Assignment{Agent: ada, AgentTeam: sales}, noon)
		}, true},
		"complete": {running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Complete("", noon) }, true},
		"fail": {running, func(i issue.Issue) (issue.Issue, event.Event, error) {
			return i.FailAttempt(issue.Failure{}, true, noon)
		}, true},
		"expiry":  {running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.ExpireLease(noon) }, true},
		"release": {running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.ReleaseLease(noon) }, true},
		"handoff": {running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.HandOff(noon) }, true},
		"archive": {running, func(i issue.Issue) (issue.Issue, event.Event, error) {
			return i.Revoke("company_archived", noon)
		}, true},
		"retire":           {running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Abandon(noon) }, true},
		"unassign":         {resumed, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Unassign(noon) }, true},
		"lease once again": {resumed, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Start(ada, sales, noon) }, false},
		"park once again":  {running, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.ParkFor("apr_2", noon) }, false},
	} {
		next, _, err := c.move(c.from)
		if err != nil || c.from.EndsApprovals(next) != c.ends || c.ends && next.WaitingFor != "" {
			t.Errorf("%s: %+v, %v", name, next, err)
		}
	}
	if waiting.Asking = false; waiting.EndsApprovals(waiting) {
		t.Error("nothing was asked for")
	}
}
