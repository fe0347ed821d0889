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
		Commands: append([]cli.Command{
			cli.TokenCommand(opener[inbound.Tokens](f, &f.tokens)),
			cli.WebhookCommand(opener[inbound.Webhooks](f, nil)),
			cli.PartnerCommand(opener[inbound.Partners](f, nil)),
		}, cli.LeadCommands(cli.LeadTools{
			Imports: opener[inbound.Imports](f, interruptedImports{interrupt: cancel}), Files: noFiles{},
			Samples: func(int, uint64) cli.Samples { return struct{ cli.Samples }{} },
		})...),
		Migrator: opener[outbound.Migrator](f, failingMigrator{f.tokens.fails}),
	}, args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

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

func (f failingMigrator) Up(context.Context) ([]outbound.Migration, error)     { return nil, f.fails }
func (f failingMigrator) Status(context.Context) ([]outbound.Migration, error) { return nil, f.fails }

func TestWrongUsageIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"serv":                            `holdco: "holdco" has no command "serv", did you mean "serve"?; see "holdco --help"`,
		"serv --no-migrate":               `holdco: "holdco" has no command "serv", did you mean "serve"?; see "holdco --help"`,
		"frobnicate":                      `holdco: "holdco" has no command "frobnicate"; see "holdco --help"`,
		"-- token list":                   `holdco: "holdco" has no command "token"; see "holdco --help"`,
		"frobnicate --help":               `holdco: "holdco" has no command "frobnicate"; see "holdco --help"`,
		"token creat --help":              `holdco: "holdco token" has no command "creat", did you mean "create"?; see "holdco token --help"`,
		"help frobnicate":                 `holdco: "holdco" has no command "frobnicate"; see "holdco help --help"`,
		"token":                           `holdco: "holdco token" needs a command: create, list, revoke, rotate; see "holdco token --help"`,
		"token creat --name x":            `holdco: "holdco token" has no command "creat", did you mean "create"?; see "holdco token --help"`,
		"token --json creat":              `holdco: "holdco token" has no command "creat", did you mean "create"?; see "holdco token --help"`,
		"migrate":                         `holdco: "holdco migrate" needs a command: status, up; see "holdco migrate --help"`,
		"migrate down":                    `holdco: "holdco migrate" has no command "down"; see "holdco migrate --help"`,
		"completion tcsh":                 `holdco: "holdco completion" has no command "tcsh", did you mean "bash"?; see "holdco completion --help"`,
		"--frob":                          `holdco: unknown flag: --frob; see "holdco --help"`,
		"serve --prot 1":                  `holdco: unknown flag: --prot; see "holdco serve --help"`,
		"serve --data-dir":                `holdco: flag needs an argument: --data-dir; see "holdco serve --help"`,
		"serve now":                       `holdco: "holdco serve" takes no argument, and got "now"; see "holdco serve --help"`,
		"version 1":                       `holdco: "holdco version" takes no argument, and got "1"; see "holdco version --help"`,
		"token list all":                  `holdco: "holdco token list" takes no argument, and got "all"; see "holdco token list --help"`,
		"token create":                    `holdco: required flag(s) "name", "scopes" not set; see "holdco token create --help"`,
		"token create x --name a":         `holdco: "holdco token create" takes no argument, and got "x"; see "holdco token create --help"`,
		"token rotate":                    `holdco: "holdco token rotate" needs one argument, the id of a token; "holdco token list" shows them; see "holdco token rotate --help"`,
		"token revoke a b":                `holdco: "holdco token revoke" needs one argument, the id of a token; "holdco token list" shows them; see "holdco token revoke --help"`,
		"token revoke deploy":             `holdco: "deploy" is not the id of a token; "holdco token list" shows them; see "holdco token revoke --help"`,
		rotate("--grace=1"):               `holdco: invalid argument "1" for "--grace" flag: time: missing unit in duration "1"; see "holdco token rotate --help"`,
		rotate("--grace=-1s"):             `holdco: --grace must be from 0s to 720h; it is -1s; see "holdco token rotate --help"`,
		rotate("--grace=720h1ms"):         `holdco: --grace must be from 0s to 720h; it is 720h0m0.001s; see "holdco token rotate --help"`,
		create("--expires=soon"):          `holdco: --expires must be a duration such as 720h, a date such as 2027-04-11 or a time such as 2027-04-11T10:42:17Z; it is "soon"; see "holdco token create --help"`,
		create("--expires="):              `holdco: --expires must be a duration such as 720h, a date such as 2027-04-11 or a time such as 2027-04-11T10:42:17Z; it is ""; see "holdco token create --help"`,
		create("--expires=0s"):            `holdco: --expires must lie in the future; it is "0s"; see "holdco token create --help"`,
		create("--expires=2026-11-21"):    `holdco: --expires must lie in the future; it is "2026-11-21"; see "holdco token create --help"`,
		create("--expires=2027-02-30"):    `holdco: --expires must be a duration such as 720h, a date such as 2027-04-11 or a time such as 2027-04-11T10:42:17Z; it is "2027-02-30"; see "holdco token create --help"`,
		create("--expires=1h --expire=2"): `holdco: unknown flag: --expire; see "holdco token create --help"`,
	} {
		var f fake
		got := f.run(line)
		if want := (result{cli.Misuse, "", want + "\n"}); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", line, got, want)
		}
		if f.closed > 0 || f.dataDir != "" {
			t.Errorf("%s: the store was opened", line)
		}
	}
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
		{fault.New(fault.NotFound, "There is no such token."), cli.Failed, "holdco: There is no such token\n"},
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
			"webhook create --url http://a.b", "webhook list", update("--enable"), "webhook rotate-secret " + webhookID, "webhook rm " + webhookID,
			"webhook test " + webhookID, "webhook deliveries " + webhookID, redeliver("--json"),
			admit(""), "partner list", change("--name=a"), "partner rotate " + partnerID, "partner revoke " + partnerID,
			"leads import ../../testdata/leads/leads.ndjson", "campaigns import ../../testdata/leads/campaigns.ndjson --json", "leads rm cmp_1",
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
		"webhook create", "webhook list", "webhook update", "webhook rotate-secret", "webhook rm", "webhook test", "webhook deliveries", "webhook redeliver",
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
		"token create --name x --scopes read -": "--expires\twhen it ends",
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
