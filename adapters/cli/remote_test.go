package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"holdco/adapters/cli"
	"holdco/domain/access"
)

func init() {
	added = append(added,
		func(*fake) cli.Command { return cli.TeamCommand }, func(*fake) cli.Command { return cli.AgentCommand })
}

const (
	companyFlag = " --company cmp_00000000000000000000000001"
	agentID     = "agt_00000000000000000000000001"
	teamID      = "tm_00000000000000000000000001"
)

var token = access.NewAPIToken([32]byte{1})

// answering is a program that asks a server which answers to requests such as "GET /v1/companies", each with the next of its
// bodies. An empty body closes the connection.
func answering(t *testing.T, answers map[string][]string) (f *fake, requests *[]string) {
	t.Helper()
	requests = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/v1/companies/cmp_00000000000000000000000001")
		*requests = append(*requests, request)
		next := answers[request]
		if len(next) == 0 {
			t.Errorf("%s is a request too many", request)
			return
		}
		answers[request] = next[1:]
		if next[0] == "" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, next[0])
	}))
	t.Cleanup(server.Close)
	return &fake{variables: map[string]string{"HOLDCO_URL": server.URL + "/", "HOLDCO_TOKEN": string(token)}}, requests
}

func refused(code, details string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"It is so.","details":%s},"meta":{"requestId":"req_1"}}`, code, details)
}

func agent(more string) string {
	return `{"data":{"id":"` + agentID + `","name":"Ada"` + more + `},"meta":{"requestId":"req_1"}}`
}

func TestWrongUsageOfTeamsAndAgentsIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	checkMisuse(t, []misuse{
		{"team", "team", `"holdco team" needs a command: create, delete, list, show, update`},
		{"agent", "agent", `"holdco agent" needs a command: ` +
			`check, hire, list, pause, release-hold, resume, retire, rotate-token, show, update`},
		{"team create --name a", "team create", `required flag(s) "headcount" not set`},
		{"team show", "team show", `"holdco team show" needs one argument, the id or slug of a team; "holdco team list" shows them`},
		{"team delete A_B", "team delete", `"A_B" is not the id or slug of a team; "holdco team list" shows them`},
		{"team update a", "team update",
			`at least one of the flags in the group [name headcount description manager budget] is required`},
		{"team update a --headcount many", "team update",
			`invalid argument "many" for "--headcount" flag: strconv.ParseInt: parsing "many": invalid syntax`},
		{"team update a --budget true", "team update",
			`invalid argument "true" for "--budget" flag: it must be US dollars such as 12.50, or none for no limit`},
		{"team update a --budget=", "team update",
			`invalid argument "" for "--budget" flag: it must be US dollars such as 12.50, or none for no limit`},
		{"agent hire --team a", "agent hire", `required flag(s) "name", "role" not set`},
		{"agent retire", "agent retire",
			`"holdco agent retire" needs one argument, the id or name of an agent; "holdco agent list" shows them`},
	})
	got := new(fake).runArgs("agent", "show", " ")
	if got.code != cli.Misuse || !strings.HasPrefix(got.stderr, `holdco: " " is not the id or name of an agent; `) {
		t.Errorf("%+v", got)
	}
}

func TestEveryCommandOnAServerHasAShortHelpAndEveryActionAnExample(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"team create", "team list", "team show", "team update", "team delete",
		"agent hire", "agent list", "agent show", "agent pause", "agent resume", "agent retire", "agent rotate-token", "agent update",
	} {
		got := new(fake).run(line + " --help").stdout
		if !strings.Contains(got, "Examples:\n  ") || !strings.Contains(got, "holdco "+line) || !strings.Contains(got, "HOLDCO_URL") {
			t.Errorf("%s:\n%s", line, got)
		}
	}
}

func TestWhereTheServerIsAndWhichTokenItGetsIsChecked(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad, empty := file("good", string(token)+"\n"), file("bad", "hunter2"), file("empty", "\n")
	notURL := " must be a URL such as http://127.0.0.1:3100, without user name, query and fragment\n"
	for _, c := range []struct{ url, token, flags, want string }{
		{"127.0.0.1:3100", "", "", "HOLDCO_URL" + notURL},
		{"", "", "--url ftp://a.example", "--url" + notURL},
		{"http://a.example", "", "--url http://me:hunter2@a.example", "--url" + notURL},
		{"", "", "--url https://", "--url" + notURL},
		{"", "", "--url http://a.example?b", "--url" + notURL},
		{"", "hunter2", "", "HOLDCO_TOKEN must hold the value of a token: hco_ and 49 letters and digits, the last 6 of them a checksum\n"},
		{"", string(token), "--token-file " + bad, bad + " must hold the value of a token: "},
		{"", string(token), "--token-file " + empty, empty + " holds no token: set HOLDCO_TOKEN, or name a file with --token-file; "},
		{"", "", "--token-file " + folder + "/none", "--token-file names a file that cannot be read: open "},
	} {
		f := fake{variables: map[string]string{"HOLDCO_URL": c.url, "HOLDCO_TOKEN": c.token}}
		got := f.run("team list " + c.flags)
		if got.code != cli.Misuse || !strings.HasPrefix(got.stderr, "holdco: "+c.want) || strings.Contains(got.stderr, "hunter2") {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	f, _ := answering(t, map[string][]string{"GET /teams?limit=200": {`{"data":[],"meta":{"page":{"cursor":null}}}`}})
	f.variables["HOLDCO_TOKEN"] = "hunter2"
	if got := f.run("team list --json --token-file " + good + companyFlag); got != (result{cli.Done, "[]\n", ""}) {
		t.Errorf("%+v", got)
	}
}

func TestWhatAServerRefusesIsSaidWithItsCodeAndWhatHelps(t *testing.T) {
	t.Parallel()
	fields := `{"fields":[{"field":"budget.usd","code":"x","message":"budget.usd must be more"},
		{"field":"","code":"x","message":"All of it is wrong"}]}`
	for _, c := range []struct {
		answer string
		code   int
		want   string
	}{
		{refused("team_not_empty", `{"agentCount":1}`), cli.Failed, "It is so (team_not_empty)"},
		{refused("validation_failed", fields), cli.Misuse, "--budget must be more; All of it is wrong (validation_failed)"},
		{refused("unauthorized", "{}"), cli.Failed, "It is so (unauthorized); HOLDCO_TOKEN must hold a token of URL"},
		{refused("insufficient_scope", `{"required":"write"}`), cli.Failed,
			"It is so (insufficient_scope); HOLDCO_TOKEN must hold a token with the scope write"},
		{refused("internal", "{}"), cli.Failed, "It is so (internal, req_1)"},
		{"<html>", cli.Failed, "URL answered 200 OK, and not as the API of Holdco does"},
	} {
		f, _ := answering(t, map[string][]string{"PATCH /teams/" + teamID: {c.answer}})
		got := f.run("team update " + teamID + " --budget 1" + companyFlag)
		want := strings.ReplaceAll(c.want, "URL", strings.TrimSuffix(f.variables["HOLDCO_URL"], "/"))
		if got != (result{c.code, "", "holdco: " + want + "\n"}) {
			t.Errorf("%s:\n got %+v\nwant %s", c.answer, got, want)
		}
	}
}

// The server repeats an answer without the secret that it showed the first time.
func TestAnAgentWhoseTokenWasLostOnTheWayGetsAnotherOne(t *testing.T) {
	t.Parallel()
	const rotate = "POST /agents/" + agentID + "/rotate-token"
	hire := "agent hire --team " + teamID + " --name Ada --role Engineer" + companyFlag
	f, requests := answering(t, map[string][]string{"POST /agents": {"", agent("")}, rotate: {agent(`,"token":"hca_1"`)}})
	got := f.run(hire)
	if got.code != cli.Done || got.stdout != "hca_1\n" ||
		!slices.Equal(*requests, []string{"POST /agents", "POST /agents", rotate}) {
		t.Errorf("%v, %+v", *requests, got)
	}
	if first, _, _ := strings.Cut(got.stderr, "\n"); !strings.HasPrefix(first, "holdco: the connection was lost before the answer came") ||
		!strings.HasSuffix(first, "; trying again in 1s") {
		t.Error(first)
	}
	lost := "the token of the agent " + agentID + " was lost on the way; \"holdco agent rotate-token " + agentID + "\" makes another one"
	f, _ = answering(t, map[string][]string{"POST /agents": {agent("")}, rotate: {agent(""), agent("")}})
	if got := f.run(hire + " --json"); got != (result{cli.Failed, "", "holdco: " + lost + "\n"}) {
		t.Errorf("%+v", got)
	}
	f, _ = answering(t, map[string][]string{"POST /agents": {agent("")}, rotate: {refused("headcount_limit", "{}")}})
	if got := f.run(hire); got != (result{cli.Failed, "", "holdco: " + lost + ": It is so (headcount_limit)\n"}) {
		t.Errorf("%+v", got)
	}
}

func TestCompletionOfWhatAServerKnowsIsQuietWithoutOne(t *testing.T) {
	t.Parallel()
	lines := []string{
		"team show ", "agent pause ", "team list --company ", "agent hire --team ", "team create --manager ", "agent list --team ",
	}
	away := map[string]string{"HOLDCO_URL": "http://127.0.0.1:1", "HOLDCO_TOKEN": string(token)}
	for _, variables := range []map[string]string{nil, away} {
		for _, line := range lines {
			f := fake{variables: variables}
			got := f.runArgs(append([]string{"__complete"}, strings.Split(line, " ")...)...)
			if got.code != cli.Done || got.stdout != ":4\n" || strings.Contains(got.stderr, "HOLDCO") {
				t.Errorf("%q with %v: %+v", line, variables, got)
			}
		}
	}
	f, requests := answering(t, map[string][]string{
		"GET /agents?status=active": {`{"data":[{"id":"a","name":"Ada","role":"Engineer"}],"meta":{}}`},
		"GET /teams":                {refused("unavailable", "{}")},
	})
	for line, want := range map[string]string{
		"agent pause ": "a\tAda, Engineer\n:4\n", "agent pause a ": ":4\n", "agent hire --team ": ":4\n",
		"agent list --status ": "active\npaused\nretired\nactive,paused\n:4\n", "agent hire --adapter-config ": ":0\n",
	} {
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		if got := f.runArgs(slices.Insert(args, 3, strings.Fields(companyFlag)...)...); got.stdout != want {
			t.Errorf("%q: %+v", line, got)
		}
	}
	if len(*requests) != 2 {
		t.Errorf("%v", *requests)
	}
}
