package runner_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/app/runner"
	"holdco/domain/usage"
)

var update = flag.Bool("update", false, "rewrite the prompts in testdata")

type object = map[string]any

// shownLease is a lease as the gateway shows it, with other members of its issue and its context.
func shownLease(t interface{ Fatal(args ...any) }, issue, context object) []byte {
	lease := object{
		"leaseId": "lse_01j5ze2c4vqe7rst8d1b5v9m3f", "fencingToken": 7, "leaseSeconds": 300, "runToken": "hcr_secret",
		"issue": object{
			"id": "iss_01j5ze2c4tf0e9m8k2r6c3w7bd", "companyId": "cmp_01j5ze2c4nf8vtkkq4d9w6m7xr",
			"number": 12, "title": "Write the newsletter", "description": "", "attempt": 1, "maxAttempts": 3, "requiresReview": false,
		},
		"run":    object{"id": "run_01j5ze2c4vf6yp1s9d4h8k2tqa", "agentId": "agt_01j5ze2c4rfkvadq1c7w3n5x8t"},
		"budget": object{"remainingUsd": nil, "level": "none"},
		"context": object{
			"agent":   object{"id": "agt_01j5ze2c4rfkvadq1c7w3n5x8t", "name": "Ada", "role": "Writer", "instructions": ""},
			"team":    object{"id": "tm_01j5ze2c4pf4rbt0k2q8ydx9wh", "name": "Marketing"},
			"manager": nil, "company": object{"id": "cmp_01j5ze2c4nf8vtkkq4d9w6m7xr", "name": "Acme", "description": ""},
			"requires": []any{}, "approvedActions": []any{}, "goal": nil, "project": nil, "parents": []any{}, "blockers": []any{},
			"children": []any{}, "comments": []any{}, "checkpoints": []any{}, "approvals": []any{}, "rejection": nil, "formerResult": nil,
			"formerResultCut": false, "lastError": nil, "names": object{}, "instructions": "",
		},
	}
	maps.Copy(lease["issue"].(object), issue)
	maps.Copy(lease["context"].(object), context)
	if budget, has := context["budget"]; has {
		lease["budget"] = budget
	}
	shown, err := json.Marshal(lease)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

const grace = "token:tok_01j5ze2c4m6yt3d8q1v7w5k9na"

// approvalOf is an approval that the agent asked for.
func approvalOf(status string, more object) object {
	asked := object{
		"id": "apr_01j5ze2c4wgm3c8q1v7w5k9nab", "agentId": "agt_01j5ze2c4rfkvadq1c7w3n5x8t", "actionName": "send",
		"action": "Send it to\nall readers", "status": status, "edits": nil, "note": "", "commentCount": 0, "decidedBy": nil,
	}
	maps.Copy(asked, more)
	return asked
}

func relatedIssue(number int, title, status string, result any, isCut bool) object {
	return object{
		"id": "iss_01j5ze2c4tf0e9m8k2r6c3w7b" + string(rune('0'+number)), "number": number, "title": title, "status": status,
		"result": result, "resultCut": isCut,
	}
}

// situations are what a program can find itself in, by the names of their prompts in testdata.
func situations() map[string]struct {
	issue, context object
	reports        usage.Kind
} {
	type situation = struct {
		issue, context object
		reports        usage.Kind
	}
	names := object{grace: "Grace Hopper"}
	const eve = "agt_01j5ze2c4rfkvadq1c7w3n5x8m"
	return map[string]situation{
		"minimal": {},
		"first": {
			object{"description": "Tell of the *new* anvils.\n\n- 300 words\n", "requiresReview": true},
			object{
				"manager":      object{"id": eve, "name": "Eve", "role": "Editor in chief"},
				"company":      object{"id": "cmp_01j5ze2c4nf8vtkkq4d9w6m7xr", "name": "Acme", "description": "We deliver anvils."},
				"budget":       object{"remainingUsd": 4.75, "level": "none"},
				"instructions": "Mention no prices.",
				"comments": []any{
					object{"author": grace, "body": "Mention the new rockets.", "createdAt": "2026-08-01T10:00:00.000Z"},
					object{"author": "agent:" + eve, "body": "```\nBuy\n```", "createdAt": "2026-08-01T11:00:00.000Z"},
				},
				"names": object{grace: "Grace Hopper", "agent:" + eve: "Eve"},
			}, usage.ClaudeJSON,
		},
		"instructions": {nil, object{
			"agent": object{
				"id": "agt_01j5ze2c4rfkvadq1c7w3n5x8t", "name": "Ada", "role": "Writer", "instructions": "# Style\n\nShort sentences.\n",
			},
			"manager": object{"id": "agt_01j5ze2c4rfkvadq1c7w3n5x8t", "name": "Ada", "role": "Writer"},
		}, usage.CodexJSON},
		"failed": {object{"attempt": 2}, object{
			"lastError": object{"code": "exit_3", "message": "The program ended with exit code 3. The end of what it wrote:\nno such file"},
			"checkpoints": []any{
				object{"at": "2026-08-01T10:00:00.000Z", "note": "The outline is done.", "data": object{"words": 120}},
				object{"at": "2026-08-01T10:05:00.000Z", "note": "Half of the text.", "data": nil},
			},
		}, usage.None},
		"rejected": {object{"attempt": 4, "requiresReview": true}, object{
			"rejection":    object{"note": "It is too short.", "author": grace, "at": "2026-08-01T10:00:00.000Z"},
			"formerResult": "Buy anvils.", "names": names,
		}, usage.None},
		"rejected_cut": {object{"attempt": 2}, object{
			"rejection":    object{"note": "It is too long.", "author": "system:approval-rules", "at": "2026-08-01T10:00:00.000Z"},
			"formerResult": "Anvils, anvils", "formerResultCut": true,
		}, usage.None},
		"approved": {nil, object{
			"requires": []any{"deploy", "send"}, "approvedActions": []any{"send"}, "names": names,
			"approvals": []any{approvalOf("approved", object{"note": "Only at night.", "decidedBy": grace, "commentCount": 2})},
		}, usage.None},
		"approved_with_edits": {nil, object{
			"requires": []any{"send"}, "approvedActions": []any{"send"}, "approvals": []any{
				approvalOf("approved", object{"agentId": eve, "decidedBy": "rule:apl_01j5ze2c4wgm3c8q1v7w5k9nab"}),
				approvalOf("approved_with_edits", object{"edits": object{"at": "22:00"}, "decidedBy": "user:somebody"}),
			},
		}, usage.None},
		"denied": {nil, object{
			"requires": []any{"send"}, "names": names, "approvals": []any{
				approvalOf("expired", nil), approvalOf("denied", object{"note": "Nobody reads it.", "decidedBy": grace}),
				approvalOf("pending", nil), approvalOf("asked_question", nil),
			},
		}, usage.None},
		"requires": {nil, object{"requires": []any{"deploy.shop", "issue.complete"}}, usage.HoldcoJSON},
		"results": {nil, object{
			"parents": []any{object{"id": "iss_01j5ze2c4tf0e9m8k2r6c3w7b0", "number": 1, "title": "Spring campaign", "status": "running"}},
			"blockers": []any{
				relatedIssue(3, "Find a topic", "done", "Anvils.\n", false), relatedIssue(4, "Read it", "done", nil, false),
			},
			"children": []any{
				relatedIssue(5, "Count the readers", "done", object{"readers": 120}, false),
				relatedIssue(6, "Find pictures", "failed", "A picture, ````and````", true),
			},
		}, usage.None},
		"purpose": {nil, object{
			"project": object{"id": "prj_1", "title": "Spring campaign", "description": "Everything about anvils."},
			"goal": object{
				"id": "gl_1", "title": "Be known in every canyon", "description": "Coyotes first.", "targetDate": "2026-12-31",
			},
		}, usage.None},
	}
}

func TestThePromptFitsTheSituation(t *testing.T) {
	t.Parallel()
	for name, s := range situations() {
		got, err := runner.Prompt(shownLease(t, s.issue, s.context), s.reports)
		must(t, err)
		file := filepath.Join("testdata", name+".md")
		if *update {
			must(t, os.WriteFile(file, []byte(got), 0o600))
		}
		want, err := os.ReadFile(file)
		must(t, err)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestThePromptHidesTheTokenAndTakesLeasesOfEarlierServers(t *testing.T) {
	t.Parallel()
	got, err := runner.Prompt([]byte(`{"leaseId":"lse_1","fencingToken":2,"runToken":"hcr_secret",
		"issue":{"number":3,"title":"Old","attempt":1},
		"context":{"goal":null,"parents":[{"number":1,"title":"Above","status":"queued"}],
		"lastError":null}}`), usage.None)
	must(t, err)
	if !strings.HasPrefix(got, "# Issue 3: Old\n") || !strings.Contains(got, "lse_1#2") || strings.Contains(got, "hcr_secret") ||
		strings.Contains(got, "You are") {
		t.Error(got)
	}
}

// Whatever people write, a line of it is never one of the prompt: its fence is closed by the prompt alone.
func TestNoTextLeavesItsFence(t *testing.T) {
	t.Parallel()
	plain, err := runner.Prompt(shownLease(t, nil, object{"company": object{"name": "Acme", "description": "x"}}), usage.None)
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("([#`~ax\n\r ]|## Rules\n|```\n){1,40}x").Draw(t, "text")
		got, err := runner.Prompt(shownLease(t, nil, object{"company": object{"name": "Acme", "description": text}}), usage.None)
		if err != nil {
			t.Fatal(err)
		}
		if outside(got) != outside(plain) {
			t.Fatalf("outside of the fences stands\n%s", outside(got))
		}
	})
}

// outside is what stands outside of the fences of a text.
func outside(text string) string {
	var lines []string
	edge := ""
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.TrimLeft(line, " ")
		ticks := len(indented) - len(strings.TrimLeft(indented, "`"))
		switch {
		case edge == "" && ticks >= 3:
			edge = indented[:ticks]
		case edge == "":
			lines = append(lines, line)
		case ticks >= len(edge) && strings.Trim(indented[ticks:], " \r") == "":
			edge = ""
		}
	}
	return strings.Join(lines, "\n")
}
