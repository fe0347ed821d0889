package wiring_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

// prompted waits for the end of the run that has a fencing token, and returns what its program, which repeats it, was told.
func (s *instance) prompted(t *testing.T, of apiIssue, token int64) string {
	t.Helper()
	var run apiRun
	await(t, fmt.Sprintf("the end of run %d", token), func() bool {
		runs := resttest.Data[[]apiRun](t, s.In(t).Get(of.path()+"/runs"))
		if len(runs) > 0 {
			run = runs[0]
		}
		return run.FencingToken == token && run.Status != "running"
	})
	return s.logOf(t, of, run)
}

// says fails the test unless a prompt has parts.
func says(t *testing.T, prompt string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(prompt, part) {
			t.Errorf("the prompt does not say %q:\n%s", part, prompt)
		}
	}
}

func TestAProgramIsToldWhatWasDecidedWhileItsIssueWasParked(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		boss := s.hire(t, sales, "")
		s.In(t).Patch(acme.path()+"/agents/"+boss.ID, `{"name":"Eve","role":"Head of sales"}`).Is(t, 200, "")
		s.In(t).Patch(sales.path(), `{"managerAgentId":"`+boss.ID+`"}`).Is(t, 200, "")
		const park = `cat; test -e parked && exit 0; touch parked
			ask POST "/gateway/v1/leases/$HOLDCO_LEASE_ID/approval" \
				"{\"fencingToken\":$HOLDCO_FENCING_TOKEN,\"actionName\":\"send\",\"action\":\"Send it\",\"park\":true}"
			sleep 100`
		ada := s.runs(t, sales, shell(park, "")+`,"instructions":"Short *sentences*.","approvalPolicy":{"requires":["send"]}`)
		task := s.named(t, acme, ada, `,"budget":{"perTaskUsd":4.75}`)
		says(t, s.prompted(t, task, 1), "You are Ada (Engineer), an agent of the company "+acme.Name+", in the team Sales. "+
			"Your manager is Eve (Head of sales).", "## Your instructions\n\n```markdown\nShort *sentences*.\n```",
			"Ask before you do one of these: send.", "You may spend 4.75 US dollars.")
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			written, err := os.ReadFile(filepath.Join(s.workspace(acme), "issues", task.ID, name))
			if err != nil || string(written) != "Short *sentences*." {
				t.Errorf("%s: %q, %v", name, written, err)
			}
		}

		asked := resttest.Data[[]apiApproval](t, s.In(t).Get(acme.path()+"/approvals"))[0]
		s.decided(t, asked, "approve", `{"note":"Only at night."}`)
		prompt := s.prompted(t, task, 2)
		says(t, prompt, "- send ("+asked.ID+`), "Send it": approved by `+s.nameOfRoot(t)+"; you may do it now.", "Only at night.")
		if strings.Contains(prompt, "token:tok_") {
			t.Errorf("the prompt names a token by its id:\n%s", prompt)
		}
	})
}

func TestAProgramIsToldWhyItsResultWasRejected(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 1)
		ada := s.runs(t, sales, shell(`cat; echo "\"Result $HOLDCO_ATTEMPT\"" >"$HOLDCO_RESULT_FILE"`, ""))
		task := s.named(t, acme, ada, "")
		if prompt := s.prompted(t, task, 1); strings.Contains(prompt, "rejected") {
			t.Error(prompt)
		}
		for attempt := int64(1); attempt <= 2; attempt++ {
			s.reaches(t, task, "review")
			s.moved(t, task, "reject", fmt.Sprintf(`{"note":"Too short, %d."}`, attempt))
			says(t, s.prompted(t, task, attempt+1), "The last result was rejected by "+s.nameOfRoot(t)+", for this reason:",
				fmt.Sprintf("```markdown\nToo short, %d.\n```\n\nThe rejected result:\n\n```markdown\nResult %d\n```", attempt, attempt))
		}

		// What waited for it gets its result.
		s.reaches(t, task, "review")
		s.moved(t, task, "accept", "")
		after := s.named(t, acme, ada, `,"blockedBy":["`+task.ID+`"]`)
		says(t, s.prompted(t, after, 1),
			fmt.Sprintf("- %d: Write (done, %s). Its result:\n\n```markdown\nResult 3\n```", task.Number, task.ID))
	})
}

func TestAContextHasTheResultsOfChildrenAndBlockers(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		done := func(members, result string) apiIssue {
			t.Helper()
			i := s.file(t, acme, `,"requiresReview":false`+members)
			ada.call(t, ada.claim(t, ""), "complete", `"result":`+result).Is(t, 200, "")
			return i
		}
		blocker := done("", `{"n":1e0}`)
		parent := s.file(t, acme, `,"blockedBy":["`+blocker.ID+`"],"assignedAgentId":"`+ada.ID+`","notBefore":"`+s.ahead(t, time.Hour)+`"`)
		long := strings.Repeat("ä", 10<<10)
		child := done(`,"parentId":"`+parent.ID+`"`, `"`+long+`"`)
		s.Patch(parent.path(), `{"notBefore":null}`).Is(t, 200, "")
		answer := ada.In(t).Post(leases, "")
		claimed := resttest.Data[struct {
			LeaseID string
			Context apiPrompted
		}](t, answer)
		path := leases + "/" + claimed.LeaseID + "/context"
		for name, shown := range map[string]apiPrompted{
			"the claim":   claimed.Context,
			"the context": resttest.Data[apiPrompted](t, ada.In(t).Get(path)),
		} {
			want := apiPrompted{
				Blockers: []apiRelated{{ID: blocker.ID, Result: []byte(`{"n":1e0}`)}},
				Children: []apiRelated{{ID: child.ID, Result: []byte(`"` + long[:16<<10] + `"`), ResultCut: true}},
			}
			if diff := cmp.Diff(want, shown); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

// apiRelated is an issue in a context.
type apiRelated struct {
	ID        string
	Result    json.RawMessage
	ResultCut bool
}

type apiPrompted struct{ Blockers, Children []apiRelated }

// nameOfRoot is the name of the token with which the tests call.
func (s *instance) nameOfRoot(t *testing.T) string {
	t.Helper()
	all := resttest.Data[[]struct{ Name string }](t, s.In(t).Get("/v1/tokens"))
	return all[len(all)-1].Name
}
