package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/fault"
)

// Work is what the command "work" is to do.
type Work struct {
	URL          string // of the gateway, without a slash at its end
	Token        access.Value
	Directory    string // of workspaces, logs, and notes of what runs
	Duty         agent.Duty
	Model        string // of the agent's charges that name none
	LeaseSeconds int    // 0: as the server is set
	IsOnce       bool   // one issue at most

	Say  func(line string)
	Warn func(err error)
}

const usualGatewayURL = "http://127.0.0.1:3103"

// WorkCommand makes the command that works for an agent, which run does until ctx ends.
func WorkCommand(run func(ctx context.Context, work Work) error) Command {
	return func(a *app) *cobra.Command {
		w := worker{app: a, do: run}
		command := &cobra.Command{
			Use:   "work [flags] -- COMMAND [ARGS...]",
			Short: "Work on the issues of an agent with a program, on any machine",
			Long: "Work on the issues of an agent: for each one a program is started on this machine, as the server does for agents\n" +
				"of the adapter process. It gets the issue on its standard input, and how it ends becomes the result. It goes on until\n" +
				"SIGTERM or SIGINT: then the programs are stopped and their issues given back.\n\n" +
				"The token is that of an agent which the server does not run itself.",
			Example: "  holdco work --agent-token-file ada.token -- ./do-it.sh\n" +
				"  holdco work --agent-token-file ada.token --usage claude-json --env ANTHROPIC_API_KEY -- \\\n" +
				"    claude -p --output-format json",
			Args: func(command *cobra.Command, args []string) error {
				if len(args) == 0 {
					return fmt.Errorf("%q needs a program to run, after --", command.CommandPath())
				}
				return nil
			},
			RunE:              a.run(w.run),
			ValidArgsFunction: cobra.NoFileCompletions,
		}
		w.flags(command)
		return command
	}
}

// worker is the command "work".
type worker struct {
	*app
	do func(ctx context.Context, work Work) error

	tokenFile, url, directory, model string
	environ                          []string
	leaseSeconds                     int
	isOnce                           bool
}

// configured are the flags that are members of the configuration of the adapter process.
var configured = map[string]string{
	"cwd": "cwd", "stdin": "stdin", "usage": "usage", "timeout": "timeoutSeconds", "grace": "graceSeconds",
	"grace-after-end": "graceAfterEnd", "concurrent": "maxConcurrent", "env": "env",
}

func (w *worker) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.SetInterspersed(false) // what comes after the program is its own
	flags.StringVar(&w.tokenFile, "agent-token-file", "", "a file that holds the agent's token, - for standard input; instead of\n"+
		agentTokenVariable)
	flags.StringVar(&w.url, "gateway-url", "", "where the server's gateway is\n"+gatewayURLVariable+" (default "+usualGatewayURL+")")
	flags.StringVar(&w.directory, "workspaces", "holdco-work", "the directory of workspaces and logs; not the data directory of a server")
	flags.String("cwd", "", "where in the workspace of the issue the program runs")
	flags.String("stdin", string(agent.Prompt), "what the program reads: prompt, json or none")
	flags.String("usage", "none", "how the program says what it costs: none, claude-json, codex-json,\n"+
		"gemini-json, opencode-json or holdco-json")
	flags.StringVar(&w.model, "model", "", "the model of costs that name none")
	flags.StringArrayVar(&w.environ, "env", nil, "a variable of the program: NAME=VALUE, or NAME with the value that it has here;\n"+
		"may be repeated")
	flags.Int("timeout", 0, "how many seconds the program may take (default 3600)")
	flags.Int("grace", 0, "how many seconds it has to end after SIGTERM (default 10)")
	flags.Int("grace-after-end", 0, "how many seconds it may run on after its work is done, to say what it cost (default 60)")
	flags.Int("concurrent", 0, "how many issues are worked on at once (default 1)")
	flags.IntVar(&w.leaseSeconds, "lease-time", 0, "how many seconds a lease lasts without a sign of life (default that of the server)")
	flags.BoolVar(&w.isOnce, "once", false, "work on one issue, if there is one, and end")
	for flag, member := range configured {
		setsField(flags, flag, "adapterConfig."+member)
	}
	setsField(flags, "lease-time", "leaseSeconds")
}

func (w *worker) run(command *cobra.Command, args []string) error {
	work := Work{Directory: w.directory, Model: w.model, LeaseSeconds: w.leaseSeconds, IsOnce: w.isOnce}
	variables := w.program.Variables(command.ErrOrStderr())
	var err error
	if work.URL, err = w.gateway(variables); err != nil {
		return WrongUsage(err)
	}
	if work.Duty, err = w.duty(command, args); err != nil {
		return err
	}
	if work.Token, err = w.token(variables, command.InOrStdin()); err != nil {
		return WrongUsage(err)
	}
	var mutex sync.Mutex
	printing := func(out io.Writer, line string) {
		mutex.Lock()
		defer mutex.Unlock()
		fmt.Fprintln(out, line)
	}
	work.Say = func(line string) { printing(command.OutOrStdout(), line) }
	work.Warn = func(err error) { printing(command.ErrOrStderr(), "holdco: "+explain(command, err)) }
	err = w.do(command.Context(), work)
	if fault.CodeOf(err) == fault.Unauthorized {
		err = fmt.Errorf("%w; %s must hold the token of an agent of %s", err, w.origin(), work.URL)
	}
	return err
}

// gateway is where the gateway is.
func (w *worker) gateway(variables map[string]string) (string, error) {
	at, origin := usualGatewayURL, ""
	if variables[gatewayURLVariable] != "" {
		at, origin = variables[gatewayURLVariable], gatewayURLVariable
	}
	if w.url != "" {
		at, origin = w.url, "--gateway-url"
	}
	if !isServerURL(at) {
		return "", fmt.Errorf("%s must be a URL such as %s, without user name, query and fragment", origin, usualGatewayURL)
	}
	return strings.TrimRight(at, "/"), nil
}

// duty is how the program is run, by the rules of the adapter process.
func (w *worker) duty(command *cobra.Command, args []string) (agent.Duty, error) {
	if filepath.Base(args[0]) != args[0] { // it is found from here, not from the workspace
		program, err := filepath.Abs(args[0])
		if err != nil {
			return agent.Duty{}, err
		}
		args = append([]string{program}, args[1:]...)
	}
	config := map[string]any{"command": args}
	for flag, member := range configured {
		if given := command.Flags().Lookup(flag); given.Changed {
			config[member] = valueOf(given)
		}
	}
	if len(w.environ) > 0 {
		env, err := environment(w.environ)
		if err != nil {
			return agent.Duty{}, WrongUsage(err)
		}
		config["env"] = env
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		return agent.Duty{}, err
	}
	return agent.ParseDuty(agent.ProcessAdapter, agent.Config(encoded))
}

// environment are the variables that --env names.
func environment(sent []string) (map[string]string, error) {
	env := map[string]string{}
	for _, one := range sent {
		name, value, isGiven := strings.Cut(one, "=")
		if !isGiven {
			if value, isGiven = os.LookupEnv(name); !isGiven {
				return nil, fmt.Errorf("--env names %q, which is not set here", name)
			}
		}
		env[name] = value
	}
	return env, nil
}

// origin is where the token comes from.
func (w *worker) origin() string {
	switch w.tokenFile {
	case "":
		return agentTokenVariable
	case standardInput:
		return "standard input"
	}
	return w.tokenFile
}

func (w *worker) token(variables map[string]string, stdin io.Reader) (access.Value, error) {
	text := variables[agentTokenVariable]
	if w.tokenFile != "" {
		var err error
		if text, err = readText(w.tokenFile, stdin); err != nil {
			return "", fmt.Errorf("--agent-token-file names a file that cannot be read: %w", err)
		}
	}
	text = strings.TrimSpace(text)
	token, ok := access.ParseAgentToken(text)
	switch {
	case text == "":
		return "", fmt.Errorf("%s holds no token: name a file with --agent-token-file, or set %s; \"holdco agent hire\" and "+
			"\"holdco agent rotate-token\" print one", w.origin(), agentTokenVariable)
	case !ok:
		return "", fmt.Errorf("%s must hold the token of an agent: hca_ and 49 letters and digits, the last 6 of them a checksum",
			w.origin())
	}
	return token, nil
}
