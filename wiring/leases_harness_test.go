package wiring_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

const leases = "/gateway/v1/leases"

// apiRun is a run as the APIs show it.
type apiRun struct {
	ID, CompanyID, IssueID, AgentID, Status, StartedAt string

	Attempt, CheckpointCount int
	FencingToken             int64
	CostUsd                  json.Number
	CostReported             bool
	Tokens                   struct{ Input, Output, CacheRead, CacheWrite int }

	LeaseExpiresAt, FinishedAt *string
	Error                      *struct{ Code, Message string }
	Checkpoints                []apiCheckpoint
}

// apiCheckpoint is a checkpoint as the APIs show it.
type apiCheckpoint struct {
	At, Note string
	Data     json.RawMessage
}

// apiLease is a lease as the gateway shows it.
type apiLease struct {
	LeaseID, ExpiresAt, WorkspacePath string

	FencingToken int64
	LeaseSeconds int
	Issue        apiIssue
	Run          apiRun
	Requires     []string
	Context      apiContext

	EndedAt, Reason *string
}

func (l apiLease) path() string { return leases + "/" + l.LeaseID }

// apiContext is what an agent is told of an issue.
type apiContext struct {
	Goal, Project     *struct{ ID, Title, Description string }
	Parents, Children []apiIssue
	Comments          []apiComment
	Checkpoints       []apiCheckpoint
	LastError         *struct{ Code, Message string }
	FormerResult      json.RawMessage
	Rejection         *struct{ Note string }
	Instructions      string
}

// apiState is what calls on a lease return.
type apiState struct {
	Lease struct {
		ID, ExpiresAt string
		FencingToken  int64
	}
	PendingComments int
	Entries         []struct {
		ID, Key             string
		Usd                 json.Number
		Unpriced, Duplicate bool
	}
	Late bool
}

// worker is an agent of a company, and a client with its token.
type worker struct {
	*resttest.Client
	apiAgent

	s *instance
}

// workers makes a company with a team, and hires agents into it.
func (s *instance) workers(t *testing.T, count int) (in company, of team, all []worker) {
	t.Helper()
	in = s.create(t, draft(t, ""))
	of = s.found(t, in, fmt.Sprintf(`{"name":"Sales","headcount":%d}`, count))
	for range count {
		hired := s.hire(t, of, "")
		all = append(all, worker{s.agent(t, hired.Token), hired, s})
	}
	return in, of, all
}

// claim claims an issue, which there must be.
func (w worker) claim(t *testing.T, body string) apiLease {
	t.Helper()
	answer := w.In(t).Post(leases, body)
	answer.Is(t, 200, "")
	return resttest.Data[apiLease](t, answer)
}

// idles fails the test if there is something to claim.
func (w worker) idles(t *testing.T) {
	t.Helper()
	answer := w.In(t).Post(leases, "")
	if answer.Status != 204 || len(answer.Body) > 0 || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("there is work: %d %s", answer.Status, answer.Body)
	}
}

// call makes a call on a lease, with its token.
func (w worker) call(t *testing.T, on apiLease, action, members string) resttest.Answer {
	t.Helper()
	return w.In(t).Post(on.path()+"/"+action, on.body(members))
}

func (l apiLease) body(members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"fencingToken":%d%s}`, l.FencingToken, members)
}

// ends ends a lease, and returns what became of the issue and the run.
func (w worker) ends(t *testing.T, on apiLease, action, members string) (apiIssue, apiRun) {
	t.Helper()
	answer := w.call(t, on, action, members)
	answer.Is(t, 200, "")
	ended := resttest.Data[struct {
		Issue apiIssue
		Run   apiRun
	}](t, answer)
	return ended.Issue, ended.Run
}

// state is the state of a lease after a call.
func (w worker) state(t *testing.T, on apiLease, action, members string) apiState {
	t.Helper()
	answer := w.call(t, on, action, members)
	answer.Is(t, 200, "")
	return resttest.Data[apiState](t, answer)
}

// finds reads a lease.
func (w worker) finds(t *testing.T, lease apiLease) apiLease {
	t.Helper()
	answer := w.In(t).Get(lease.path())
	answer.Is(t, 200, "")
	return resttest.Data[apiLease](t, answer)
}

// stale fails the test unless an answer says that a lease is stale, for a reason and with a status of the issue.
func stale(t *testing.T, answer resttest.Answer, reason, status string) {
	t.Helper()
	answer.Is(t, 409, "stale_lease")
	got := details(t, answer)
	if got["reason"] != reason || got["issueStatus"] != status {
		t.Errorf("%s, and not %s with the issue %s", answer.Body, reason, status)
	}
}

// lasting are calls that a live lease takes, and that leave it live.
var lasting = map[string]string{
	"renew": "", "checkpoint": `"note":"half"`, "costs": `"costs":[{"key":"k","kind":"tools","usd":1}]`, "comment": `"body":"Well"`,
}

// ending are calls that end a live lease.
var ending = map[string]string{
	"complete": "", "fail": `"error":{"code":"c","message":"m"},"retryAfter":0`, "handoff": `"note":"n"`, "release": "",
}

// dead fails the test unless every call on a lease but costs is stale, and changes nothing.
func (w worker) dead(t *testing.T, lease apiLease, reason string) {
	t.Helper()
	before := w.s.look(t, lease.Issue)
	events := len(w.s.events(t, w.CompanyID))
	for _, calls := range []map[string]string{lasting, ending} {
		for action, members := range calls {
			if action != "costs" {
				stale(t, w.call(t, lease, action, members), reason, before.Status)
			}
		}
	}
	w.In(t).Post("/gateway/v1/issues", lease.body(`"title":"More","leaseId":"`+lease.LeaseID+`"`)).Is(t, 409, "stale_lease")
	if after := w.s.look(t, lease.Issue); after.UpdatedAt != before.UpdatedAt || after.Status != before.Status {
		t.Errorf("a call on a stale lease made %+v of %+v", after, before)
	}
	if got := len(w.s.events(t, w.CompanyID)); got != events {
		t.Errorf("calls on a stale lease recorded %d events", got-events)
	}
}

// run reads a run with its checkpoints.
func (s *instance) runOf(t *testing.T, lease apiLease) apiRun {
	t.Helper()
	answer := s.In(t).Get(lease.Issue.path() + "/runs/" + lease.Run.ID)
	answer.Is(t, 200, "")
	return resttest.Data[apiRun](t, answer)
}

// becomes waits until an issue has a status.
func (s *instance) becomes(t *testing.T, which apiIssue, status string) {
	t.Helper()
	await(t, which.Title+" becomes "+status, func() bool { return s.look(t, which).Status == status })
}

// shows fails the test unless an issue is in a state: "status, attempt, agent".
func (s *instance) shows(t *testing.T, which apiIssue, want string) {
	t.Helper()
	now := s.look(t, which)
	if got := now.where(); got != want {
		t.Errorf("the issue is %q, want %q", got, want)
	}
}

func (i apiIssue) where() string {
	who := "nobody"
	if i.AssignedAgentID != nil {
		who = "agent"
	}
	return strings.Join([]string{i.Status, fmt.Sprint(i.Attempt), who}, ", ")
}
