package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/adapters/client"
	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// The variables that commands read which ask a running server.
const (
	urlVariable     = "HOLDCO_URL"
	tokenVariable   = "HOLDCO_TOKEN"
	companyVariable = "HOLDCO_COMPANY"

	agentTokenVariable = "HOLDCO_AGENT_TOKEN"
	gatewayURLVariable = "HOLDCO_GATEWAY_URL" // a setting of the server too
)

// RemoteVariables are the variables that commands read which ask a running server, and no other command.
func RemoteVariables() []string {
	return []string{urlVariable, tokenVariable, companyVariable, agentTokenVariable}
}

const (
	usualURL  = "http://127.0.0.1:3100"
	patience  = 90 * time.Second // more than the minute of a rate limit
	mostNamed = 10               // in an error that lists what there is
)

// remote is what the commands of a resource have in common that ask a running server.
type remote struct {
	*app
	url, tokenFile, company string
	asJSON                  bool
}

// remoteGroup completes a group of commands, which needs its names and helps alone.
func (a *app) remoteGroup(group *cobra.Command) *remote {
	r := &remote{app: a}
	r.remoteFlags(group, "These commands ask")
	return r
}

// remoteFlags completes a command, or a group of them.
func (r *remote) remoteFlags(command *cobra.Command, who string) {
	command.Long += "\n\n" + who + " a running server, on this machine or another, with the token in " + tokenVariable + ". Its\n" +
		"scopes say what may be done: read to list and show, write to change, admin for everything."
	flags := command.PersistentFlags()
	r.serverFlags(flags)
	flags.StringVar(&r.company, "company", "", "the company: id or slug\n"+companyVariable+" (default the only one that the token can see)")
	jsonFlag(flags, &r.asJSON)
	_ = command.RegisterFlagCompletionFunc("company", r.complete(false, completeCompanies))
}

// serverFlags are those that say where the server is, and who asks.
func (r *remote) serverFlags(flags *pflag.FlagSet) {
	flags.StringVar(&r.url, "url", "", "where the server's API is\n"+urlVariable+" (default "+usualURL+")")
	flags.StringVar(&r.tokenFile, "token-file", "", "a file that holds the token, instead of "+tokenVariable)
}

// server is a running server as a command sees it.
type server struct {
	*client.Client
	credential string // where its token came from
	company    string // the id of the company that the command is about
}

// asking makes an action of one that asks a running server about a company.
func (r *remote) asking(action func(command *cobra.Command, s *server, args []string) error) func(*cobra.Command, []string) error {
	return r.run(func(command *cobra.Command, args []string) error {
		return r.reach(command, func(s *server, variables map[string]string) error {
			if err := s.findCompany(command.Context(), r.companyNamed(variables)); err != nil {
				return err
			}
			return action(command, s, args)
		})
	})
}

// askingAll makes an action of one that asks a running server about a company, or about all when none is named.
func (r *remote) askingAll(action func(command *cobra.Command, s *server) error) func(*cobra.Command, []string) error {
	return r.run(func(command *cobra.Command, _ []string) error {
		return r.reach(command, func(s *server, variables map[string]string) error {
			if named := r.companyNamed(variables); named != "" {
				if err := s.findCompany(command.Context(), named); err != nil {
					return err
				}
			}
			return action(command, s)
		})
	})
}

// ofAll says that a command is about all companies unless one is named.
func (r *remote) ofAll(command *cobra.Command) {
	flag := command.PersistentFlags().Lookup("company")
	flag.Usage = "the company: id or slug\n" + companyVariable + " (default all that the token can see)"
}

// reach does something with a running server.
func (r *remote) reach(command *cobra.Command, do func(s *server, variables map[string]string) error) error {
	variables := r.program.Variables(command.ErrOrStderr())
	s, err := r.connect(variables)
	if err != nil {
		return WrongUsage(err)
	}
	s.Patience = patience
	s.Wait = func(ctx context.Context, d time.Duration, why error) error {
		fmt.Fprintf(command.ErrOrStderr(), "holdco: %s; trying again in %s\n", explain(command, why), d)
		return client.Sleep(ctx, d)
	}
	if err = do(s, variables); err != nil && command.Context().Err() != nil {
		return errors.New("interrupted; what was asked for may have been done")
	}
	return s.advise(err)
}

// connect makes a client from flags and variables. An error is wrong usage.
func (r *remote) connect(variables map[string]string) (*server, error) {
	at, origin := usualURL, ""
	if variables[urlVariable] != "" {
		at, origin = variables[urlVariable], urlVariable
	}
	if r.url != "" {
		at, origin = r.url, "--url"
	}
	if !isServerURL(at) {
		return nil, fmt.Errorf("%s must be a URL such as %s, without user name, query and fragment", origin, usualURL)
	}
	text, credential := variables[tokenVariable], tokenVariable
	if r.tokenFile != "" {
		content, err := os.ReadFile(r.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("--token-file names a file that cannot be read: %w", err)
		}
		text, credential = string(content), r.tokenFile
	}
	text = strings.TrimSpace(text)
	token, ok := access.ParseAPIToken(text)
	switch {
	case text == "":
		return nil, fmt.Errorf("%s holds no token: set %s, or name a file with --token-file; \"holdco token create\", run beside "+
			"the server, makes a token", credential, tokenVariable)
	case !ok:
		return nil, fmt.Errorf("%s must hold the value of a token: hco_ and 49 letters and digits, the last 6 of them a checksum",
			credential)
	}
	return &server{Client: &client.Client{URL: strings.TrimRight(at, "/"), Token: token}, credential: credential}, nil
}

func isServerURL(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && parsed.Host != "" &&
		parsed.User == nil && parsed.RawQuery == "" && parsed.Fragment == ""
}

// companyNamed is what a flag or a variable names the company by; empty: nothing.
func (r *remote) companyNamed(variables map[string]string) string {
	if r.company != "" {
		return r.company
	}
	return variables[companyVariable]
}

// findCompany finds the company by its id or slug, or the only one when none is named.
func (s *server) findCompany(ctx context.Context, named string) error {
	if _, ok := id.Parse[id.Company](named); ok {
		s.company = named
		return nil
	}
	call := client.ListCompanies.In().With("limit", fmt.Sprint(mostNamed+1))
	if named != "" {
		call = call.With("slug", named)
	}
	data, err := s.Do(ctx, call)
	if err != nil {
		return err
	}
	found, err := client.Read[[]client.Company](data)
	switch {
	case err != nil:
		return err
	case len(found) == 1:
		s.company = found[0].ID
		return nil
	case named != "":
		return fmt.Errorf("there is no company %q, or the token cannot see it", named)
	case len(found) == 0:
		return errors.New("there is no company that the token can see")
	}
	slugs := make([]string, min(len(found), mostNamed))
	for i := range slugs {
		slugs[i] = found[i].Slug
	}
	if len(found) > len(slugs) {
		slugs = append(slugs, "...")
	}
	return WrongUsage(fmt.Errorf("there are several companies; name one with --company or %s: %s",
		companyVariable, strings.Join(slugs, ", ")))
}

// advise completes an error of a call with what a person can do about it.
func (s *server) advise(err error) error {
	code := fault.Code("")
	if refused, ok := errors.AsType[*client.Refusal](err); ok {
		code = refused.Fault.Code
	}
	switch {
	case errors.As(err, new(*client.Unreachable)):
		return fmt.Errorf("%w; \"holdco serve\" starts a server, and --url or %s says where it is", err, urlVariable)
	case code == fault.Unauthorized:
		return fmt.Errorf("%w; %s must hold a token of %s", err, s.credential, s.URL)
	case code == fault.InsufficientScope:
		scope, _ := fault.Of(err).Details["required"].(string)
		return fmt.Errorf("%w; %s must hold a token with the scope %s", err, s.credential, scope)
	}
	return err
}

// sent is the body of an operation: the fields whose flags are given.
func sent(command *cobra.Command, o client.Operation) map[string]any {
	body := map[string]any{}
	for _, field := range o.Fields {
		flag := flagOf(command.Flags(), field)
		if flag == nil || !flag.Changed {
			continue
		}
		path := strings.Split(field, ".")
		at := body
		for _, name := range path[:len(path)-1] {
			if at[name] == nil {
				at[name] = map[string]any{}
			}
			at = at[name].(map[string]any)
		}
		at[path[len(path)-1]] = valueOf(flag)
	}
	return body
}

// listing makes the command that lists all of a resource, in the company, as its flags say.
func listing[T any](r *remote, resource string, o client.Operation, head []string, row func(item T) []string) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   fmt.Sprintf("List the %ss of a company, newest first", resource),
		Example: fmt.Sprintf("  holdco %s list\n  holdco %[1]s list --company acme --json", resource),
		Args:    noArgs,
		RunE: r.asking(func(command *cobra.Command, s *server, _ []string) error {
			call := o.In(s.company)
			for _, name := range o.Query {
				if flag := flagOf(command.Flags(), name); flag != nil && flag.Changed {
					call = call.With(name, flag.Value.String())
				}
			}
			found, err := s.List(command.Context(), call)
			if err != nil {
				return err
			}
			if r.asJSON {
				return printJSON(command.OutOrStdout(), found)
			}
			rows := [][]string{head}
			for _, data := range found {
				item, err := client.Read[T](data)
				if err != nil {
					return err
				}
				rows = append(rows, row(item))
			}
			return printTable(command.OutOrStdout(), rows)
		}),
	}
}

// doing makes an action of a call, which prints the resource that the server answers with: as JSON, or by show.
func doing[T any](
	r *remote, call func(command *cobra.Command, s *server, args []string) (client.Call, error), show func(out io.Writer, item T) error,
) func(*cobra.Command, []string) error {
	return r.asking(func(command *cobra.Command, s *server, args []string) error {
		asked, err := call(command, s, args)
		if err != nil {
			return err
		}
		data, err := s.Do(command.Context(), asked)
		if err != nil {
			return err
		}
		return printed(command, r.asJSON, data, show)
	})
}

// printed prints what the server answered with.
func printed[T any](command *cobra.Command, asJSON bool, data json.RawMessage, show func(out io.Writer, item T) error) error {
	if asJSON {
		return printJSON(command.OutOrStdout(), data)
	}
	item, err := client.Read[T](data)
	if err != nil {
		return err
	}
	return show(command.OutOrStdout(), item)
}

// complete makes a completion of what a running server knows. It is quiet when there is none.
func (r *remote) complete(
	inCompany bool, find completer,
) cobra.CompletionFunc {
	const most = 2 * time.Second
	return func(command *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		variables := r.program.Variables(io.Discard)
		s, err := r.connect(variables)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(command.Context(), most)
		defer cancel()
		if inCompany {
			err = s.findCompany(ctx, r.companyNamed(variables))
		}
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, _ := find(ctx, s)
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeOne completes the only argument of a command.
func (r *remote) completeOne(find completer) cobra.CompletionFunc {
	complete := r.complete(true, find)
	return func(command *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(command, args, begun)
	}
}

func completeCompanies(ctx context.Context, s *server) ([]cobra.Completion, error) {
	return completions(ctx, s, client.ListCompanies.In(), func(c client.Company) cobra.Completion {
		return cobra.CompletionWithDesc(c.Slug, c.Name)
	})
}

// completions are those of the first page of a list: more are no help.
func completions[T any](
	ctx context.Context, s *server, list client.Call, one func(item T) cobra.Completion,
) (all []cobra.Completion, err error) {
	data, err := s.Do(ctx, list)
	if err != nil {
		return nil, err
	}
	found, err := client.Read[[]T](data)
	for _, item := range found {
		all = append(all, one(item))
	}
	return all, err
}

// oneNamed requires one argument by which the server finds a resource. The group of commands is called like the resource.
func oneNamed(resource, how string, fits func(text string) bool) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) != 1:
			return fmt.Errorf("%q needs one argument, the %s of a%s %s; \"holdco %[4]s list\" shows them",
				command.CommandPath(), how, article(resource), resource)
		case !fits(args[0]):
			return fmt.Errorf("%q is not the %s of a%s %s; \"holdco %[4]s list\" shows them", args[0], how, article(resource), resource)
		}
		return nil
	}
}

// article is what makes "a" right before a word.
func article(word string) string {
	if slices.Contains([]byte("aeiou"), word[0]) {
		return "n"
	}
	return ""
}
