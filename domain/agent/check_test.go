package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/domain/fault"
)

// wanting is what a check of an agent finds missing, and what it says of it.
func wanting(a Agent, around Surroundings) map[string]string {
	missing := map[string]string{}
	for _, finding := range a.Check(around) {
		if !finding.OK {
			missing[finding.Check] = finding.Message + " " + finding.Fix
		}
	}
	return missing
}

const (
	goodClaude = `{"command":["claude","-p","--output-format","stream-json","--verbose","--mcp-config",".holdco/mcp.json",
		"--allowedTools","mcp__holdco,Bash"],"usage":"claude-json","env":{"ANTHROPIC_API_KEY":{"secret":"anthropic"}}}`
	goodCodex = `{"command":["/opt/codex","exec","--json","--skip-git-repo-check","--dangerously-bypass-approvals-and-sandbox",
		"-m","gpt-5.3-codex","-c","mcp_servers.holdco.url='http://127.0.0.1:3103/gateway/mcp'","-"],"usage":"codex-json"}`
)

func TestACheckFindsNothingWrongWithARecipe(t *testing.T) {
	t.Parallel()
	around := Surroundings{
		IsInstalled: true, Programs: true, HasGateway: true, IsRoot: true, Path: "/usr/bin/it", Version: "1.2.3", IsPriced: true,
		Secrets: []string{"anthropic"},
	}
	for config, model := range map[Config]string{goodClaude: "", goodCodex: "gpt-5.3-codex"} {
		a := Agent{Status: Active, Adapter: ProcessAdapter, AdapterConfig: config}
		if a.KnownModel() != model {
			t.Errorf("its model is %s, and not %s", a.KnownModel(), model)
		}
		if missing := wanting(a, around); len(missing) > 0 {
			t.Errorf("%s: %v", config, missing)
		}
	}
}

func TestACheckSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	good := Surroundings{IsInstalled: true, Programs: true, HasGateway: true, Path: "/usr/bin/it", IsPriced: true}
	for name, c := range map[string]struct {
		adapter, config, model string
		change                 func(a *Agent, around *Surroundings)
		want                   map[string]string // by checks, parts of the messages
	}{
		"a program that is not there": {"process", goodClaude, "", func(_ *Agent, around *Surroundings) {
			around.Path, around.Missing = "", "There is no program \"claude\" in PATH."
		}, map[string]string{"program": "There is no program", "secret": "no secret anthropic"}},
		"one that fails": {"process", goodCodex, "m", func(_ *Agent, around *Surroundings) { around.NoAnswer = "It failed." },
			map[string]string{"version": "It failed."}},
		"Claude Code without all of it": {"process", `{"command":["claude","--dangerously-skip-permissions"]}`, "dear",
			func(_ *Agent, around *Surroundings) { around.IsRoot, around.IsPriced = true, false },
			map[string]string{"unattended": "Add -p", "root": "IS_SANDBOX", "tools": "--mcp-config", "usage": "claude-json",
				"model": "model dear"}},
		"Codex without all of it": {"process", `{"command":["codex","exec"]}`, "", nil, map[string]string{
			"permissions": "--dangerously-bypass", "workspace": "--skip-git-repo-check", "tools": "config.toml", "usage": "--json",
			"model": "fallback price"}},
		"Gemini CLI without all of it": {"process", `{"command":["gemini"],"usage":"claude-json"}`, "", nil, map[string]string{
			"permissions": "Add -y", "workspace": "GEMINI_CLI_TRUST_WORKSPACE", "usage": "gemini-json"}},
		"another program": {"process", `{"command":["./count.sh"]}`, "", func(_ *Agent, around *Surroundings) { around.Path = "" },
			map[string]string{"usage": "usage is none"}},
		"a server without programs": {"process", `{"command":["a"],"usage":"holdco-json"}`, "", func(a *Agent, around *Surroundings) {
			a.Status, *around = Paused, Surroundings{Path: "/a"}
		}, map[string]string{"status": "paused", "gateway": "off", "adapter": "not installed", "processes": "no programs"}},
		"a URL": {"http", `{"url":"http://127.0.0.1:1/"}`, "", func(_ *Agent, around *Surroundings) { around.Refused = "it is private" },
			map[string]string{"url": "it is private"}},
		"one that never called": {"process", `{}`, "", nil, map[string]string{"calls": "never"}},
		"another adapter":       {"cursor", `{}`, "", nil, map[string]string{"calls": "never"}},
		"one that called": {"cursor", `{}`, "", func(a *Agent, _ *Surroundings) { a.Stats.LastActiveAt = time.Unix(1, 0) },
			map[string]string{}},
		"a configuration that is wrong": {"process", `{"command":[]}`, "", nil, map[string]string{"config": "must begin with a program"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, around := Agent{Status: Active, Adapter: c.adapter, AdapterConfig: Config(c.config), Model: c.model}, good
			if c.change != nil {
				c.change(&a, &around)
			}
			missing := wanting(a, around)
			if len(missing) != len(c.want) {
				t.Errorf("it finds %v", missing)
			}
			for check, part := range c.want {
				if !strings.Contains(missing[check], part) {
					t.Errorf("of %s it says %q, without %q", check, missing[check], part)
				}
			}
		})
	}
}

func TestOnlyKnownProgramsAreAskedForTheirVersion(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		`["/usr/bin/claude"]`: true, `["codex","exec"]`: true, `["opencode"]`: true, `["gemini"]`: true, `["./deploy.sh"]`: false,
	} {
		var problems fault.Problems
		duty, _ := Agent{Adapter: ProcessAdapter, AdapterConfig: Config(`{"command":` + command + `}`)}.duty(&problems)
		if len(problems) > 0 || duty.Program.AsksVersion() != want {
			t.Errorf("%s: %v %v", command, !want, problems)
		}
	}
}

func TestAFindingShowsWhatToDoOnlyWhereSomethingIsMissing(t *testing.T) {
	t.Parallel()
	for _, finding := range (Agent{Status: Active, Adapter: "cursor"}).Check(Surroundings{HasGateway: true}) {
		if finding.OK != (finding.Fix == "") || !slices.Contains([]string{"status", "gateway", "calls"}, finding.Check) {
			t.Errorf("%+v", finding)
		}
	}
}
