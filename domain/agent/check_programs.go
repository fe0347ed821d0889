package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"holdco/domain/usage"
)

// knownProgram is what a check knows of a coding program: how it must be started so that it works unattended, uses the tools of Holdco,
// and says what it costs. GATEWAY.md has a recipe for each.
type knownProgram struct {
	name  string // in messages
	usage usage.Kind

	unattended  []string // any of them makes it work through a prompt and end; none: it does
	output      []string // any of them makes it print its usage
	permissions []string // any of them lets it work without questions
	workspace   []string // any of them, an argument or a variable, lets it work in a directory that is no repository; none: it does
	tools       []string // any of them tells it of the tools; none: a file in its home does
	file        string   // that file
	namesModel  bool     // it prints which model it used
}

// knownPrograms are those with a recipe, by the name of the program.
var knownPrograms = map[string]*knownProgram{
	"claude": {
		name: "Claude Code", usage: usage.ClaudeJSON, unattended: []string{"-p", "--print"},
		output: []string{"--output-format json", "--output-format stream-json"},
		permissions: []string{
			"--allowedTools", "--allowed-tools", "--dangerously-skip-permissions", "--permission-mode bypassPermissions",
		},
		tools: []string{"--mcp-config"}, file: "~/.claude.json", namesModel: true,
	},
	"codex": {
		name: "Codex", usage: usage.CodexJSON, unattended: []string{"exec"}, output: []string{"--json"},
		permissions: []string{"--dangerously-bypass-approvals-and-sandbox", "--full-auto", "--sandbox", "-s"},
		workspace:   []string{"--skip-git-repo-check"}, tools: []string{"mcp_servers.holdco"}, file: "~/.codex/config.toml",
	},
	"gemini": {
		name: "Gemini CLI", usage: usage.GeminiJSON, output: []string{"--output-format stream-json", "--output-format json"},
		permissions: []string{"-y", "--yolo", "--approval-mode yolo"},
		workspace:   []string{"--skip-trust", "GEMINI_CLI_TRUST_WORKSPACE=true"}, file: "~/.gemini/settings.json", namesModel: true,
	},
	"opencode": {
		name: "opencode", usage: usage.OpencodeJSON, unattended: []string{"run"}, output: []string{"--format json"},
		permissions: []string{"--auto"},
		tools:       []string{"OPENCODE_CONFIG_CONTENT=", "OPENCODE_CONFIG="}, file: "~/.config/opencode/opencode.json",
	},
}

// known returns what is known of the program, or nil.
func (p Program) known() *knownProgram { return knownPrograms[path.Base(p.Command[0])] }

// check adds what is found in the way a program is started.
func (k *knownProgram) check(c *checking, p Program) {
	const recipe = " GATEWAY.md has the whole recipe."
	has := func(wanted ...string) bool { return slices.ContainsFunc(wanted, p.has) }
	if len(k.unattended) > 0 {
		c.when("unattended", has(k.unattended...), k.name+" works through a prompt and ends.",
			k.name+" waits for a person without "+k.unattended[0]+".", "Add "+k.unattended[0]+" to command."+recipe)
	}
	c.when("permissions", has(k.permissions...), k.name+" may work without questions.",
		k.name+" refuses what it would have to ask for, the tools of Holdco too.", "Add "+k.permissions[0]+" to command."+recipe)
	if k == knownPrograms["claude"] && has("--dangerously-skip-permissions", "--permission-mode bypassPermissions") {
		c.when("root", !c.around.IsRoot || has("IS_SANDBOX=1"), k.name+" may skip its permissions for this user.",
			"The server runs as root, for which "+k.name+" refuses to skip its permissions.",
			"Use --allowedTools instead, run the server as another user, or set IS_SANDBOX=1 in env inside a container.")
	}
	if len(k.workspace) > 0 {
		c.when("workspace", has(k.workspace...), k.name+" works in a directory that is no repository.",
			k.name+" does not trust a new workspace: it refuses to work, or drops the tools.",
			"Add "+k.workspace[len(k.workspace)-1]+" to command or env."+recipe)
	}
	if has(k.tools...) {
		c.add("tools", true, k.name+" is told of the tools of Holdco.", "")
	} else {
		c.add("tools", len(k.tools) == 0,
			fmt.Sprintf("%s knows the tools of Holdco only if %s of the server's user names them.", k.name, k.file),
			"Add "+strings.TrimSuffix(strings.Join(k.tools, " or "), "=")+" to command or env."+recipe)
	}
	c.when("usage", p.Usage == k.usage && has(k.output...), fmt.Sprintf("Its costs are read as %s.", p.Usage),
		k.name+" does not print its costs, or they are not read: they count as 0.",
		fmt.Sprintf("Set usage to %s and add %s to command.%s", k.usage, k.output[0], recipe))
	k.checkModel(c)
}

func (k *knownProgram) checkModel(c *checking) {
	switch model := c.agent.KnownModel(); {
	case model == "" && k.namesModel:
		c.add("model", true, k.name+" prints which model it used.", "")
	case model == "":
		c.add("model", false, k.name+" does not print which model it used, so it is charged at the fallback price.",
			"Name the model in command or as the model of the agent.")
	default:
		c.when("model", c.around.IsPriced, fmt.Sprintf("The price table has the model %s.", model),
			fmt.Sprintf("The price table does not have the model %s, so it is charged at the fallback price.", model),
			"Set its price with \"holdco prices set\", or correct the name.")
	}
}

// has reports whether the program is started with an argument, or with two in a row, or with one that contains a setting, or with a
// variable that begins so.
func (p Program) has(wanted string) bool {
	if name, value, isVariable := strings.Cut(wanted, "="); isVariable {
		given, isSet := p.Env[name]
		return isSet && (value == "" || given == value)
	}
	if flag, value, isPair := strings.Cut(wanted, " "); isPair {
		at := slices.Index(p.Command, flag)
		return at >= 0 && at+1 < len(p.Command) && p.Command[at+1] == value || slices.Contains(p.Command, flag+"="+value)
	}
	return slices.ContainsFunc(p.Command[1:], func(argument string) bool {
		return argument == wanted || strings.HasPrefix(argument, wanted+"=") ||
			strings.Contains(wanted, ".") && strings.Contains(argument, wanted)
	})
}
