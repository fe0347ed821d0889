package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"holdco/app/runner"
	"holdco/domain/agent"
	"holdco/domain/issue"
	"holdco/domain/usage"
	"holdco/ports/outbound"
)

// Output of Claude Code: that it succeeded, and that it failed.
const (
	succeeded = `{"type":"result","subtype":"success","is_error":false,"result":%q,"total_cost_usd":0.5,"usage":{}}` + "\n"
	hasFailed = `{"type":"result","subtype":"success","is_error":true,"result":"There is no such model.","total_cost_usd":0,` +
		`"usage":{}}` + "\n"
)

// ending runs a program that writes something and ends, and returns how its lease ended: the action, and the result or the failure.
func ending(t *testing.T, kind usage.Kind, exit outbound.Exit) string {
	t.Helper()
	gateway := &calls{}
	_, err := work(t.Context(), t, gateway, func(p *program) {
		p.Output([]byte(exit.Output))
		p.ends(exit)
	}, func(_ *runner.Worker, p *agent.Program) { p.Usage = kind })
	must(t, err)
	said := fmt.Sprint(gateway.ended.Action, " ", string(gateway.ended.Result))
	if failure := gateway.ended.Failure; failure.Code != nil {
		said += *failure.Code + " " + *failure.Message
	}
	if note := gateway.ended.Note.Body; note != nil {
		said += " / " + *note
	}
	return said
}

func TestALeaseEndsAsItsProgramEnded(t *testing.T) {
	t.Parallel()
	noise := strings.Repeat("noise ", 1000)
	for name, c := range map[string]struct {
		kind usage.Kind
		exit outbound.Exit
		want string
	}{
		"its result":              {"", outbound.Exit{Output: "said", Result: []byte(`{"a": 1}`)}, `complete {"a":1}`},
		"the token in it":         {"", outbound.Exit{Result: []byte(`"hcr_secret"`)}, `complete "[run token]"`},
		"the token in its output": {"", outbound.Exit{Output: "a hcr_secret\n"}, `complete "a [run token]"`},
		"nothing":                 {"", outbound.Exit{Output: " \n"}, `complete `},
		"a byte order mark":       {"", outbound.Exit{Result: []byte("\ufeff{}\r\n")}, `complete {}`},
		"an empty result file":    {"", outbound.Exit{Output: "said", Result: []byte(" \n")}, `complete "said"`},

		"a final message":  {usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, "All\ndone.")}, `complete "All\ndone."`},
		"one that is JSON": {usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, `{"n": 1}`)}, `complete {"n":1}`},
		"JSON in a fence":  {usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, "```json\n[1, 2]\n```")}, `complete [1,2]`},
		"null":             {usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, `null`)}, `complete "null"`},
		"the token in one": {usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, "It is hcr_secret.")},
			`complete "It is [run token]."`},
		"no final message": {usage.ClaudeJSON, outbound.Exit{Output: `{"type":"system","subtype":"init","session_id":"a"}`},
			`complete `},
		"a result file, too": {usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, "Done."), Result: []byte("1")},
			`complete 1 / Done.`},
		"a signal after that": {usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, "Done."), Signal: 15}, `complete "Done."`},
		"the code of a signal": {
			usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, "Done."), Code: 143}, `complete "Done."`,
		},
		"an error after it": {
			usage.ClaudeJSON, outbound.Exit{Output: fmt.Sprintf(succeeded, "Done."), Errors: "The tests fail.\n", Code: 1},
			"fail exit_1 The program ended with exit code 1. It wrote:\nThe tests fail.",
		},

		"a reported error": {usage.ClaudeJSON, outbound.Exit{Output: hasFailed}, "fail reported_error There is no such model."},
		"one with an exit code": {
			usage.ClaudeJSON, outbound.Exit{Output: hasFailed, Errors: "noise", Code: 1}, "fail reported_error There is no such model.",
		},
		"an exit code": {
			"", outbound.Exit{Output: "half of it", Errors: "no such file\n", Code: 3},
			"fail exit_3 The program ended with exit code 3. It wrote:\nno such file",
		},
		"with output alone": {"", outbound.Exit{Output: "because\x00", Code: 3},
			"fail exit_3 The program ended with exit code 3. It wrote:\nbecause\ufffd"},
		"with JSON": {
			"", outbound.Exit{Output: `cut":"off"}` + "\n" + `{"type":"error"}` + "\nit broke\n[1]\n", Code: 3},
			"fail exit_3 The program ended with exit code 3. It wrote:\nit broke",
		},
		"with JSON alone": {"", outbound.Exit{Errors: "{\n  \"error\": \"no\"\n}\n", Code: 3},
			"fail exit_3 The program ended with exit code 3."},
		"with much": {
			"", outbound.Exit{Errors: noise + "end", Code: 3},
			"fail exit_3 The program ended with exit code 3. It wrote:\n... " + (noise + "end")[len(noise)+3-1996:],
		},
		"a signal": {"", outbound.Exit{Signal: 9}, "fail signal_9 The signal 9 ended the program."},
		"failure before the result file": {"", outbound.Exit{Code: 1, ResultIsTooLarge: true},
			"fail exit_1 The program ended with exit code 1."},
	} {
		if got := ending(t, c.kind, c.exit); got != c.want {
			t.Errorf("%s: %q; want %q", name, got, c.want)
		}
	}
	// Each of these characters takes six bytes as JSON.
	got := ending(t, "", outbound.Exit{Output: "begin" + strings.Repeat("\x01", outbound.MostOutput-10) + "end"})
	if len(got) > issue.ResultSize+len("complete ") || len(got) < issue.ResultSize/2 || !strings.HasSuffix(got, `end"`) {
		t.Errorf("a result of %d bytes", len(got))
	}
}

// What a request could not have is no result either, and nobody may take other output for it.
func TestAResultFileThatCannotBeReadFailsTheRun(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for file, problem := range map[string]string{
		`{"a":1}`: "", `[]`: "", nested(31): "",
		nested(32): "31 levels", `{"a":1,"a":2}`: "31 levels", `{"a":"\ud800"}`: "31 levels",
		`{} {}`: "invalid character", `{`: "unexpected end", "\xff\xfe{\x00}\x00": "UTF-16", "\"\xe4\"": "not UTF-8",
	} {
		got := ending(t, "", outbound.Exit{Output: "said", Result: []byte(file)})
		want, isFailure := "complete "+file, problem != ""
		if isFailure {
			want = "fail result_unreadable The result file does not hold JSON that Holdco can read: "
		}
		if !strings.HasPrefix(got, want) || !strings.Contains(got, problem) || isFailure && !strings.HasSuffix(got, ".") {
			t.Errorf("%.40q: %s", file, got)
		}
	}
	if got := ending(t, "", outbound.Exit{Output: "said", ResultProblem: "It is a link."}); got != "fail result_unreadable It is a link." {
		t.Error(got)
	}
	if got := ending(t, "", outbound.Exit{Output: "said", ResultIsTooLarge: true}); !strings.HasPrefix(got, "fail result_too_large ") {
		t.Error(got)
	}
}
