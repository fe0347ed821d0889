package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"holdco/adapters/cli"
	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// fake is a program whose store fails. What commands do on a working store is in testdata/script.
type fake struct {
	tokens  failingTokens
	dataDir string // of the flags
	migrate bool
	closed  int
	fails   error // of opening the store, and of serving

	variables map[string]string // of the environment
}

type result struct {
	code           int
	stdout, stderr string
}

// run runs a command line, split at spaces.
func (f *fake) run(line string) result { return f.runArgs(strings.Fields(line)...) }

func (f *fake) runArgs(args ...string) result {
	var stdout, stderr strings.Builder
	flags := func(flags *pflag.FlagSet) { flags.String("data-dir", "./data", "where the data is") }
	open := func(flags *pflag.FlagSet) { f.dataDir, _ = flags.GetString("data-dir") }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	code := cli.Run(ctx, cli.Program{
		Version:    cli.Version{Number: "v1.2.3", Commit: "abc"},
		Clock:      clock{},
		Flags:      flags,
		StoreFlags: flags,
		Serve: func(_ context.Context, flags *pflag.FlagSet, stdout, _ io.Writer, migrate bool) error {
			open(flags)
			f.migrate = migrate
			fmt.Fprintln(stdout, "serving")
			return f.fails
		},
		Commands: append(f.commands(), cli.LeadCommands(cli.LeadTools{
			Imports: opener[inbound.Imports](f, interruptedImports{interrupt: cancel}),
			Keyed:   opener[inbound.Imports](f, interruptedImports{interrupt: cancel}), Files: func(string) cli.Files { return noFiles{} },
			Samples: func(int, uint64) cli.Samples { return struct{ cli.Samples }{} },
		})...),
		Migrator:  opener[outbound.Migrator](f, failingMigrator{f.tokens.fails}),
		Variables: func(io.Writer) map[string]string { return f.variables },
	}, args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// commands are made by those that tests have added.
func (f *fake) commands() []cli.Command {
	all := []cli.Command{cli.TokenCommand(opener[inbound.Tokens](f, &f.tokens))}
	for _, command := range added {
		all = append(all, command(f))
	}
	return all
}

var added []func(f *fake) cli.Command

// opener opens a port of the fake.
func opener[P any](f *fake, port P) cli.Opener[P] {
	return func(_ context.Context, flags *pflag.FlagSet, _ io.Writer) (P, func(), error) {
		f.dataDir, _ = flags.GetString("data-dir")
		return port, func() { f.closed++ }, f.fails
	}
}

type clock struct{}

func (clock) Now() time.Time { return now }

const tokenID = "tok_00000000000000000000000001"

// failingTokens cannot list tokens.
type failingTokens struct {
	inbound.Tokens
	caller access.Caller
	fails  error
}

func (f *failingTokens) List(_ context.Context, caller access.Caller, _ page.Position, _ int) (page.Page[access.Token], error) {
	f.caller = caller
	return page.Page[access.Token]{}, f.fails
}

// failingMigrator can do nothing.
type failingMigrator struct{ fails error }

func (f failingMigrator) Up(context.Context) ([]outbound.Migration, error) { return nil, f.fails }
func (f failingMigrator) Status(context.Context) (outbound.Schema, error) {
	return outbound.Schema{}, f.fails
}

// misuse is a wrong command line.
type misuse struct {
	line, command string // the command is the one whose help is named; empty: that of the program
	want          string
}

// checkMisuse checks that wrong command lines print one line and exit with Misuse before the store is opened.
func checkMisuse(t *testing.T, lines []misuse) {
	t.Helper()
	for _, wrong := range lines {
		var f fake
		got := f.run(wrong.line)
		help := strings.Join(append(strings.Fields("holdco "+wrong.command), "--help"), " ")
		if want := (result{cli.Misuse, "", fmt.Sprintf("holdco: %s; see %q\n", wrong.want, help)}); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", wrong.line, got, want)
		}
		if f.closed > 0 || f.dataDir != "" {
			t.Errorf("%s: the store was opened", wrong.line)
		}
	}
}

const notATime = "--expires must be a duration such as 720h, a date such as 2027-04-11 or a time such as 2027-04-11T10:42:17Z; "

func TestWrongUsageIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	checkMisuse(t, []misuse{
		{"serv", "", `"holdco" has no command "serv", did you mean "serve"?`},
		{"serv --no-migrate", "", `"holdco" has no command "serv", did you mean "serve"?`},
		{"frobnicate", "", `"holdco" has no command "frobnicate"`},
		{"-- token list", "", `"holdco" has no command "token"`},
		{"frobnicate --help", "", `"holdco" has no command "frobnicate"`},
		{"token creat --help", "token", `"holdco token" has no command "creat", did you mean "create"?`},
		{"help frobnicate", "help", `"holdco" has no command "frobnicate"`},
		{"token", "token", `"holdco token" needs a command: create, list, revoke, rotate`},
		{"token creat --name x", "token", `"holdco token" has no command "creat", did you mean "create"?`},
		{"token --json creat", "token", `"holdco token" has no command "creat", did you mean "create"?`},
		{"migrate", "migrate", `"holdco migrate" needs a command: status, up`},
		{"migrate down", "migrate", `"holdco migrate" has no command "down"`},
		{"completion tcsh", "completion", `"holdco completion" has no command "tcsh", did you mean "bash"?`},
		{"--frob", "", `unknown flag: --frob`},
		{"serve --prot 1", "serve", `unknown flag: --prot`},
		{"serve --data-dir", "serve", `flag needs an argument: --data-dir`},
		{"healthcheck now", "healthcheck", `"holdco healthcheck" takes no argument, and got "now"`},
		{"man", "man", `"holdco man" needs one argument, the directory for the pages`},
		{"serve now", "serve", `"holdco serve" takes no argument, and got "now"`},
		{"version 1", "version", `"holdco version" takes no argument, and got "1"`},
		{"token list all", "token list", `"holdco token list" takes no argument, and got "all"`},
		{"token create", "token create", `required flag(s) "name", "scopes" not set`},
		{"token create x --name a", "token create", `"holdco token create" takes no argument, and got "x"`},
		{"token rotate", "token rotate", `"holdco token rotate" needs one argument, the id of a token; "holdco token list" shows them`},
		{"token revoke a b", "token revoke", `"holdco token revoke" needs one argument, the id of a token; "holdco token list" shows them`},
		{"token revoke deploy", "token revoke", `"deploy" is not the id of a token; "holdco token list" shows them`},
		{rotate("--grace=1"), "token rotate", `invalid argument "1" for "--grace" flag: time: missing unit in duration "1"`},
		{create("--expires=soon"), "token create", notATime + `it is "soon"`},
		{create("--expires="), "token create", notATime + `it is ""`},
		{create("--expires=2027-02-30"), "token create", notATime + `it is "2027-02-30"`},
		{create("--expires=1h --expire=2"), "token create", `unknown flag: --expire`},
	})
}

func rotate(flags string) string { return "token rotate " + tokenID + " " + flags }
func create(flags string) string { return "token create --name a --scopes read " + flags }

func TestErrorsAreClearAndSetTheExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		code   int
		stderr string
	}{
		{errors.New("no route"), cli.Failed, "holdco: no route\n"},
		{cli.WrongUsage(errors.Join(errors.New("A must be 1"), errors.New("B must be 2"))), cli.Misuse,
			"holdco: A must be 1\nholdco: B must be 2\n"},
		{fmt.Errorf("at start: %w", cli.WrongUsage(errors.New("A must be 1"))), cli.Misuse, "holdco: at start: A must be 1\n"},
		{fault.New(fault.InvalidTransition, "The webhook is disabled."), cli.Failed, "holdco: The webhook is disabled\n"},
		{fault.New(fault.InvalidParameter, "There is no status foo."), cli.Misuse, "holdco: There is no status foo\n"},
		{
			fault.New(fault.Unavailable, "The store cannot be used.").Because(errors.New("the disk is full")), cli.Failed,
			"holdco: The store cannot be used: the disk is full\n",
		},
		{
			fmt.Errorf("%w; try later", fault.New(fault.Unavailable, "The store is busy.")), cli.Failed,
			"holdco: The store is busy; try later\n",
		},
		{
			fault.Validation([]fault.Field{fault.Fieldf("a", fault.Required, "a must not be blank"),
				fault.Fieldf("b.0", fault.UnknownValue, "b.0 must be read")}),
			cli.Misuse, "holdco: a must not be blank; b.0 must be read\n",
		},
	} {
		opening, asking := fake{fails: c.err}, fake{tokens: failingTokens{fails: c.err}}
		want := result{c.code, "", c.stderr}
		lines := []string{
			create(""), rotate(""), "token list --json", "token revoke " + tokenID, "migrate up", "migrate status --json",
			"webhook create --url http://a.b", "webhook list", update("--enable"),
			"webhook rotate-secret " + webhookID, "webhook rm " + webhookID,
			"webhook test " + webhookID, "webhook deliveries " + webhookID, redeliver("--json"),
			admit(""), "partner list", change("--name=a"), "partner rotate " + partnerID, "partner revoke " + partnerID,
			"leads import ../../testdata/leads/leads.ndjson", "leads rm cmp_1",
			"campaigns import ../../testdata/leads/campaigns.ndjson --json",
		}
		for _, line := range lines {
			if got := opening.run(line); got != want {
				t.Errorf("%s when opening fails:\n got %+v\nwant %+v", line, got, want)
			}
		}
		lines = []string{"token list --data-dir here", "migrate up", "migrate status --json"}
		for _, line := range lines {
			if got := asking.run(line); got != want {
				t.Errorf("%s when the store fails:\n got %+v\nwant %+v", line, got, want)
			}
		}
		if asking.tokens.caller.Actor != access.System("cli").Actor {
			t.Errorf("the caller is %+v", asking.tokens.caller)
		}
		if opening.closed != 0 || asking.closed != len(lines) {
			t.Errorf("closed %d and %d stores", opening.closed, asking.closed)
		}
	}
}

func TestServeMigratesUnlessToldNotTo(t *testing.T) {
	t.Parallel()
	var f fake
	if got := f.run("serve --data-dir elsewhere"); got != (result{cli.Done, "serving\n", ""}) || !f.migrate || f.dataDir != "elsewhere" {
		t.Errorf("%+v, %+v", got, f)
	}
	if got := f.run("serve --no-migrate"); got.code != cli.Done || f.migrate {
		t.Errorf("%+v, %+v", got, f)
	}
	f.fails = errors.New("the port is taken")
	if got := f.run("serve"); got != (result{cli.Failed, "serving\n", "holdco: the port is taken\n"}) {
		t.Errorf("%+v", got)
	}
}

func TestHelpGoesToStandardOutput(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                    "Available Commands:",
		"--help":              "Available Commands:",
		"help":                "Available Commands:",
		"help token create":   "--expires",
		"serve --help":        "--data-dir",
		"serve -h":            "--no-migrate",
		"token --help":        "rotate",
		"token create --help": "--data-dir",
		"completion --help":   "zsh",
	} {
		got := new(fake).run(line)
		if got.code != cli.Done || got.stderr != "" || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

func TestEveryCommandHasAShortHelpAndEveryActionAnExample(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"serve", "migrate up", "migrate status", "token create", "token list", "token rotate", "token revoke", "version",
		"healthcheck", "man",
		"webhook create", "webhook list", "webhook update", "webhook rotate-secret", "webhook rm",
		"webhook test", "webhook deliveries", "webhook redeliver",
		"partner create", "partner list", "partner update", "partner rotate", "partner revoke",
		"taxonomy import", "campaigns import", "leads import", "leads rm", "leads generate",
	} {
		if got := new(fake).run(line + " --help"); !strings.Contains(got.stdout, "Examples:\n  holdco "+line) {
			t.Errorf("%s:\n%s", line, got.stdout)
		}
	}
}

func TestShellCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := new(fake).run("completion " + shell); got.code != cli.Done || !strings.Contains(got.stdout, "holdco") ||
			got.stderr != "" {
			t.Errorf("%s: %d, %s", shell, got.code, got.stderr)
		}
	}
	for line, want := range map[string]string{
		"token ":                                "create\tIssue a token",
		"mig":                                   "migrate\tBring the store's schema",
		"token create --scopes ":                "admin\n",
		"token create --name x --scopes read -": "--expires\texpiry: a duration",
		"token list ":                           ":4\n", // no file names
		"webhook deliveries --status ":          "pending\n",
		"webhook create --events ":              "company.*\n",
		"leads import ":                         ":0\n", // names of files
		"leads import --format ":                "ndjson\n",
	} {
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		if got := new(fake).runArgs(args...); !strings.Contains(got.stdout, want) {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if got := new(fake).run("version"); !strings.HasPrefix(got.stdout, "holdco v1.2.3 (commit abc, go1.") || got.code != cli.Done {
		t.Errorf("%+v", got)
	}
	if got := new(fake).run("--version"); got != (result{cli.Done, "holdco v1.2.3\n", ""}) {
		t.Errorf("%+v", got)
	}
	got := new(fake).run("version --json")
	if !strings.HasPrefix(got.stdout, "{\n  \"version\": \"v1.2.3\",\n  \"commit\": \"abc\",\n  \"goVersion\": \"go1.") {
		t.Errorf("%+v", got)
	}
}
