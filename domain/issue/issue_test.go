package issue_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
)

const (
	acme    = id.Company("cmp_01h455vb4pex5vsknk084sn02q")
	sales   = id.Team("tm_01h455vb4pex5vsknk084sn02q")
	support = id.Team("tm_01h455vb4pex5vsknk084sn02r")
	ada     = id.Agent("agt_01h455vb4pex5vsknk084sn02q") // of sales
	eve     = id.Agent("agt_01h455vb4pex5vsknk084sn02r") // of support
	callID  = id.Issue("iss_01h455vb4pex5vsknk084sn02q")
)

var (
	noon  = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	later = noon.Add(time.Hour)
)

// numbered makes the nth id of a kind.
func numbered[I id.ID](n int) I {
	return id.New[I]([16]byte{13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)})
}

// call is an issue in the given state, with a value in every field, that is kept for ada.
func call(status issue.Status) issue.Issue {
	i := issue.Issue{
		ID: callID, Company: acme, Number: 7, Title: "Call", Description: "*Now*", Status: status, Priority: issue.High,
		Parent: numbered[id.Issue](1), Project: numbered[id.Project](1), Goal: numbered[id.Goal](1),
		Agent: ada, AgentTeam: sales, Binding: issue.Kept, Team: sales,
		BlockedBy: []id.Issue{numbered[id.Issue](2), numbered[id.Issue](3)}, OpenBlockers: 1, FailedBlockers: 1, Labels: []string{"b", "a"},
		PerTask: budget.Of(2_500_000), Spent: 3 * money.Dollar, Attempt: 2, MaxAttempts: 3, RequiresReview: true,
		Result: `{"n":1e3}`, Error: `{"code":"x"}`, DueAt: noon.Add(24 * time.Hour), NotBefore: noon.Add(-time.Hour), StartedAt: noon,
		RetryOf: numbered[id.Issue](4), CreatedBy: "token:tok_1", FencingToken: 5, CreatedAt: noon.Add(-2 * time.Hour), UpdatedAt: noon,
		Version: 7,
	}
	if status.IsFinal() {
		i.FinishedAt = noon
	}
	return i
}

// least is an issue with nothing that is optional.
func least() issue.Issue {
	return issue.Issue{
		ID: callID, Company: acme, Title: "Call", Status: issue.Queued, Priority: issue.Normal, Attempt: 1, MaxAttempts: 3,
		RequiresReview: true, CreatedBy: "token:tok_1", CreatedAt: noon, UpdatedAt: noon, Version: 1,
	}
}

func TestAnIssueIsShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	const full = `{"id":"iss_01h455vb4pex5vsknk084sn02q","number":7,"companyId":"cmp_01h455vb4pex5vsknk084sn02q","title":"Call",` +
		`"description":"*Now*","status":"done","priority":"high","parentId":"iss_00000000000000000000000001",` +
		`"projectId":"prj_00000000000000000000000001","goalId":"gl_00000000000000000000000001",` +
		`"assignedAgentId":"agt_01h455vb4pex5vsknk084sn02q","assignedTeamId":"tm_01h455vb4pex5vsknk084sn02q",` +
		`"workflowId":null,"workflowVersion":null,"step":null,` +
		`"blockedBy":["iss_00000000000000000000000002","iss_00000000000000000000000003"],"openBlockers":1,` +
		`"failedBlockers":1,"labels":["b","a"],` +
		`"budget":{"perTaskUsd":2.5,"spentUsd":3},"attempt":2,"maxAttempts":3,"requiresReview":true,"result":{"n":1e3},` +
		`"error":{"code":"x"},"waitingFor":null,"dueAt":"2026-04-12T12:00:00.000Z","notBefore":"2026-04-11T11:00:00.000Z",` +
		`"startedAt":"2026-04-11T12:00:00.000Z","finishedAt":"2026-04-11T12:00:00.000Z","retryOf":"iss_00000000000000000000000004",` +
		`"createdBy":"token:tok_1","createdAt":"2026-04-11T10:00:00.000Z","updatedAt":"2026-04-11T12:00:00.000Z"}`
	const bare = `{"id":"iss_01h455vb4pex5vsknk084sn02q","number":0,"companyId":"cmp_01h455vb4pex5vsknk084sn02q","title":"Call",` +
		`"description":"","status":"queued","priority":"normal","parentId":null,"projectId":null,"goalId":null,` +
		`"assignedAgentId":null,"assignedTeamId":null,` +
		`"workflowId":null,"workflowVersion":null,"step":null,"blockedBy":[],"openBlockers":0,"failedBlockers":0,"labels":[],` +
		`"budget":{"perTaskUsd":null,"spentUsd":0},"attempt":1,"maxAttempts":3,` +
		`"requiresReview":true,"result":null,"error":null,"waitingFor":null,"dueAt":null,"notBefore":null,"startedAt":null,` +
		`"finishedAt":null,"retryOf":null,"createdBy":"token:tok_1","createdAt":"2026-04-11T12:00:00.000Z",` +
		`"updatedAt":"2026-04-11T12:00:00.000Z"}`
	for want, i := range map[string]issue.Issue{full: call(issue.Done), bare: least()} {
		if diff := cmp.Diff(want, shown(i.Fields())); diff != "" {
			t.Error(diff)
		}
	}
	if i := call(issue.Done); i.Owner() != acme || i.CurrentVersion() != 7 {
		t.Errorf("%s, %d", i.Owner(), i.CurrentVersion())
	}
}

func TestThreeStatesAreFinal(t *testing.T) {
	t.Parallel()
	want := []issue.Status{issue.Done, issue.Failed, issue.Cancelled}
	var final []issue.Status
	for _, status := range issue.Statuses {
		if status.IsFinal() {
			final = append(final, status)
		}
	}
	if diff := cmp.Diff(want, final) + cmp.Diff(issue.Statuses, append(issue.Open[:len(issue.Open):len(issue.Open)], want...)); diff != "" {
		t.Error(diff)
	}
}

func TestUrgentIssuesRankHighest(t *testing.T) {
	t.Parallel()
	for rank, priority := range []issue.Priority{issue.Low, issue.Normal, issue.High, issue.Urgent} {
		if priority.Rank() != rank {
			t.Errorf("%s: %d", priority, priority.Rank())
		}
	}
}

func TestAnIssueIsClaimableWhileNothingOfItsOwnHoldsItUp(t *testing.T) {
	t.Parallel()
	for _, status := range issue.Statuses {
		free := call(status)
		free.OpenBlockers, free.Spent = 0, 2_499_999
		blocked, waiting, dear := free, free, free
		blocked.OpenBlockers, waiting.Waiting, dear.Spent = 1, true, 2_500_000
		if got, want := free.IsClaimable(), status == issue.Queued || status == issue.Assigned; got != want {
			t.Errorf("%s: %t", status, got)
		}
		if blocked.IsClaimable() || waiting.IsClaimable() || dear.IsClaimable() {
			t.Errorf("%s: blocked %t, waiting %t, dear %t", status, blocked.IsClaimable(), waiting.IsClaimable(), dear.IsClaimable())
		}
	}
}

func TestWhoMayTakeAnIssueIsItsClaimKey(t *testing.T) {
	t.Parallel()
	const toAda, toSales, toAll = "a:" + string(ada), "t:" + string(sales), "c"
	for _, c := range []struct {
		binding issue.Binding
		agent   id.Agent
		team    id.Team
		want    string
	}{
		{issue.Loose, "", "", toAll},
		{issue.Loose, "", sales, toSales},
		{issue.Loose, ada, sales, toSales}, // a pick is a wish
		{issue.Kept, ada, sales, toAda},
		{issue.Kept, ada, "", toAda},
		{issue.Named, ada, sales, toAda},
		{issue.Named, ada, "", toAda},
	} {
		i := issue.Issue{Agent: c.agent, Team: c.team, Binding: c.binding}
		if got := i.ClaimKey(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if diff := cmp.Diff([3]string{toAda, toSales, toAll}, issue.ClaimKeys(ada, sales)); diff != "" {
		t.Error(diff)
	}
}

func TestTheTeamInChargeIsThatOfTheAgentElseTheAssignedOne(t *testing.T) {
	t.Parallel()
	for want, i := range map[id.Team]issue.Issue{
		"": {}, sales: {Team: sales}, support: {Team: sales, Agent: eve, AgentTeam: support},
	} {
		if got := i.TeamInCharge(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestCountsAreShownForEveryState(t *testing.T) {
	t.Parallel()
	counts := issue.Counts{Of: map[issue.Status]int64{
		issue.Queued: 1, issue.Assigned: 2, issue.Running: 4, issue.Review: 8, issue.Handoff: 16, issue.Done: 32, issue.Cancelled: 64,
	}, Truncated: true}
	const want = `{"byStatus":{"queued":1,"assigned":2,"running":4,"review":8,"handoff":16,"done":32,"failed":0,"cancelled":64},` +
		`"total":127,"truncated":true}`
	if diff := cmp.Diff(want, shown(counts.Fields())); diff != "" || counts.Open() != 31 {
		t.Errorf("%d open\n%s", counts.Open(), diff)
	}
	const none = `{"byStatus":{"queued":0,"assigned":0,"running":0,"review":0,"handoff":0,"done":0,"failed":0,"cancelled":0},` +
		`"total":0,"truncated":false}`
	if diff := cmp.Diff(none, shown(issue.Counts{}.Fields())); diff != "" || (issue.Counts{}).Open() != 0 {
		t.Error(diff)
	}
}

func shown(fields event.Fields) string { return string(fields.Append(nil)) }

// checkEvent checks an event of the issue callID, without previous values. More are the fields besides the issue, as JSON.
func checkEvent(t *testing.T, name string, got event.Event, what event.Type, i issue.Issue, more string) {
	t.Helper()
	data := shown(i.Fields())
	if more != "" {
		data = strings.TrimSuffix(data, "}") + "," + more + "}"
	}
	if diff := cmp.Diff(data, shown(got.Data)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
	got.Data = nil
	want := event.Event{Company: acme, Type: what, Subject: event.Subject{Type: "issue", ID: string(callID)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}
