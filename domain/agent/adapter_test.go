package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/agent"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/usage"
)

func TestAnAgentIsRunAsItsConfigurationSays(t *testing.T) {
	t.Parallel()
	usual := agent.Program{
		Command: []string{"sh"}, Stdin: agent.Prompt, Usage: usage.None, Timeout: time.Hour, Grace: 10 * time.Second,
		GraceAfterEnd: time.Minute,
	}
	for _, c := range []struct {
		adapter string
		config  agent.Config
		want    *agent.Duty // nil: it is not run
	}{
		{"process", `{"command":["sh"]}`, &agent.Duty{Program: &usual, Concurrent: 1}},
		{"process", `{"command":["sh","-c",""],"cwd":"./a/../b/","env":{"A":"","_b1":"x y"},"stdin":"json","usage":"claude-json",` +
			`"timeoutSeconds":10,"graceSeconds":0,"graceAfterEnd":0,"maxConcurrent":50,"color":{"deep":1}}`,
			&agent.Duty{Program: &agent.Program{
				Command: []string{"sh", "-c", ""}, Directory: "b", Env: map[string]string{"A": "", "_b1": "x y"}, Stdin: agent.JSON,
				Usage: usage.ClaudeJSON, Timeout: 10 * time.Second,
			}, Concurrent: 50}},
		{"process", `{"command":["sh"],"cwd":"."}`, &agent.Duty{Program: &usual, Concurrent: 1}},
		{"http", `{"url":"https://a.example/x","maxConcurrent":3}`, &agent.Duty{URL: "https://a.example/x", Concurrent: 3}},
		{"process", `{}`, nil},
		{"process", `{"url":"https://a.example/x"}`, nil},
		{"http", `{"command":["sh"]}`, nil},
		{"other", `{"command":["sh"],"url":"https://a.example/x"}`, nil},
	} {
		got, isRun := agent.Agent{Adapter: c.adapter, AdapterConfig: c.config}.Duty()
		if isRun != (c.want != nil) {
			t.Errorf("%s %s: is run: %t", c.adapter, c.config, isRun)
		}
		if c.want != nil {
			if diff := cmp.Diff(*c.want, got); diff != "" {
				t.Errorf("%s %s: %s", c.adapter, c.config, diff)
			}
		}
	}
}

func TestTheConfigurationOfAnAdapterIsChecked(t *testing.T) {
	t.Parallel()
	process := map[string]string{
		`{"command":"ls"}`:        "command:wrong_type",
		`{"command":[]}`:          "command:required",
		`{"command":[" "]}`:       "command:required",
		`{"command":["a",null]}`:  "command:wrong_type",
		`{"command":["a",1]}`:     "command:wrong_type",
		`{"command":["a\u0000"]}`: "command:invalid_characters",
		`{"command":[` + strings.Repeat(`"x",`, agent.MostArguments) + `"x"]}`: "command:too_many",
		`{"cwd":"/tmp"}`:    "cwd:invalid_format",
		`{"cwd":"a/../.."}`: "cwd:invalid_format",
		`{"cwd":"a\\b"}`:    "cwd:invalid_characters",
		`{"cwd":1}`:         "cwd:wrong_type",
		`{"cwd":"` + strings.Repeat("x", 1001) + `"}`: "cwd:too_long",
		`{"env":[]}`:                           "env:wrong_type",
		`{"env":{"A":1}}`:                      "env:wrong_type",
		`{"env":{"A":null}}`:                   "",
		`{"env":{"A":{"secret":"a","b":"c"}}}`: "env:wrong_type",
		`{"env":{"A":{"secret":1}}}`:           "env:wrong_type",
		`{"env":{"a-b":""}}`:                   "env:invalid_format",
		`{"env":{"HOLDCO_X":""}}`:              "env:invalid_format",
		`{"env":{"A":"\u0000"}}`:               "env:invalid_characters",
		`{"stdin":"text"}`:                     "stdin:unknown_value",
		`{"stdin":1}`:                          "stdin:wrong_type",
		`{"usage":"gemini"}`:                   "usage:unknown_value",
		`{"timeoutSeconds":9}`:                 "timeoutSeconds:out_of_range",
		`{"timeoutSeconds":86401}`:             "timeoutSeconds:out_of_range",
		`{"timeoutSeconds":1.5}`:               "timeoutSeconds:wrong_type",
		`{"graceSeconds":-1}`:                  "graceSeconds:out_of_range",
		`{"graceSeconds":301}`:                 "graceSeconds:out_of_range",
		`{"graceAfterEnd":-1}`:                 "graceAfterEnd:out_of_range",
		`{"graceAfterEnd":601}`:                "graceAfterEnd:out_of_range",
		`{"maxConcurrent":0}`:                  "maxConcurrent:out_of_range",
		`{"maxConcurrent":51}`:                 "maxConcurrent:out_of_range",
		`{"maxConcurrent":"1"}`:                "maxConcurrent:wrong_type",
	}
	url := map[string]string{
		`{"url":1}`:                      "url:wrong_type",
		`{"url":""}`:                     "url:required",
		`{"url":"ftp://a.example"}`:      "url:invalid_format",
		`{"url":"http://u:p@a.example"}`: "url:invalid_format",
		`{"url":"http://a.example/#x"}`:  "url:invalid_format",
		`{"maxConcurrent":51}`:           "maxConcurrent:out_of_range",
	}
	for adapter, configs := range map[string]map[string]string{"process": process, "http": url, "other": {}} {
		rules := agent.Rules{Adapters: []string{"process", "http", "other"}, MayRunOnHost: true}
		for config, want := range configs {
			_, err := hire(draft(agent.Settings{Adapter: &adapter, AdapterConfig: new([]byte(config))}), rules)
			path, code, _ := strings.Cut(want, ":")
			faulttest.Check(t, adapter+" "+config, err, refused("adapterConfig."+path, code))
			if _, err := hire(draft(agent.Settings{Adapter: new("other"), AdapterConfig: new([]byte(config))}), rules); err != nil {
				t.Errorf("of another adapter, %s: %v", config, err)
			}
		}
	}
	// What was set before there was a rule may stay.
	old := ada(agent.Active)
	old.Adapter, old.AdapterConfig = "process", `{"command":"ls"}`
	if _, _, err := old.Apply(agent.Patch{Settings: agent.Settings{Name: new("Eve")}}, admin, later); err != nil {
		t.Error(err)
	}
	change := agent.Settings{Adapter: new("process"), AdapterConfig: new([]byte(`{"env":[]}`))}
	_, _, err := ada(agent.Active).Apply(agent.Patch{Settings: change}, admin, later)
	if fault.CodeOf(err) != fault.ValidationFailed {
		t.Error(err)
	}
}

func TestAnAdapterThatFailsIsTriedAgainLaterAndLater(t *testing.T) {
	t.Parallel()
	a := lucky()
	var pauses []int
	for n := range 9 {
		failed := agent.EndedRun{
			Issue: "iss_1", StartedAt: noon, Outcome: agent.Setbacked, Setback: &agent.Setback{Kind: agent.AdapterFailed},
		}
		var held *event.Event
		if a, held = a.RunEnded(failed, noon); held != nil || a.Stats.AdapterFailures != n+1 ||
			a.Version != ada(agent.Active).Version+int64(n)+1 {
			t.Errorf("%+v", a.Stats)
		}
		pauses = append(pauses, int(a.Stats.RetryAt.Sub(noon).Seconds()))
	}
	if diff := cmp.Diff([]int{5, 10, 20, 40, 80, 160, 300, 300, 300}, pauses); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeRunIsNoDuty(t *testing.T) {
	t.Parallel()
	duty, err := agent.ParseDuty(agent.ProcessAdapter, `{"command":["sh"],"maxConcurrent":2}`)
	if err != nil || duty.Concurrent != 2 || duty.Program.Command[0] != "sh" {
		t.Errorf("%+v, %v", duty, err)
	}
	for config, want := range map[agent.Config]string{
		`{}`:                                   "adapterConfig",
		`{"command":["sh"],"cwd":"/"}`:         "adapterConfig.cwd",
		`{"command":["sh"],"graceSeconds":-1}`: "adapterConfig.graceSeconds",
	} {
		_, err := agent.ParseDuty(agent.ProcessAdapter, config)
		if refused := fault.Of(err); refused == nil || len(refused.Fields) != 1 || refused.Fields[0].Path != want {
			t.Errorf("%s: %v", config, err)
		}
	}
}

func TestVariablesReferToSecrets(t *testing.T) {
	t.Parallel()
	config := `{"command":["sh"],"env":{"A":{"secret":"one.Two-3_"},"B":"text","C":{"secret":"one.Two-3_"}}}`
	made, err := hire(draft(agent.Settings{Adapter: new("process"), AdapterConfig: new([]byte(config))}), admin)
	duty, isRun := made.Duty()
	if err != nil || !isRun {
		t.Fatal(isRun, err)
	}
	if diff := cmp.Diff(map[string]string{"A": "one.Two-3_", "C": "one.Two-3_"}, duty.Program.Secrets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"B": "text"}, duty.Program.Env); diff != "" {
		t.Error(diff)
	}
	for config, want := range map[string]string{
		`{"env":{"A":{"secret":"1st"}}}`:        "adapterConfig.env.A.secret:invalid_format",
		`{"env":{"A":{"secret":""}}}`:           "adapterConfig.env.A.secret:invalid_format",
		`{"env":{"HOLDCO_X":{"secret":"a"}}}`:   "adapterConfig.env:invalid_format",
		`{"env":[{"secret":"a"}]}`:              "adapterConfig.env:wrong_type",
		`{"command":["sh",{"secret":"a"}]}`:     "adapterConfig:unknown_value",
		`{"headers":{"Token":{"secret":"a"}}}`:  "adapterConfig:unknown_value",
		`{"env":{"A":"x"},"b":[{"secret":""}]}`: "adapterConfig:unknown_value",
	} {
		_, err := hire(draft(agent.Settings{Adapter: new("process"), AdapterConfig: new([]byte(config))}), admin)
		path, code, _ := strings.Cut(want, ":")
		faulttest.Check(t, config, err, refused(path, code))
	}
	_, _, err = made.Apply(agent.Patch{Settings: agent.Settings{Adapter: new("http")}}, admin, later)
	faulttest.Check(t, "another adapter", err, refused("adapterConfig", fault.UnknownValue))
}
