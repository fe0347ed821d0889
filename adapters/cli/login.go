package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/ports/inbound"
)

// LoginTools are what the command login works with.
type LoginTools struct {
	Sessions inbound.Sessions
	URL      string // of the dashboard, as browsers on this machine reach it; empty: it is turned off
}

// LoginLink is a link that signs in with a code at the dashboard at a URL. The code stands behind #, so that it is in no log and
// no referrer.
func LoginLink(dashboard, code string) string { return dashboard + "/start#code=" + code }

// LoginCommand is the command login.
func LoginCommand(open Opener[LoginTools]) Command {
	return func(a *app) *cobra.Command {
		var token, at string
		command := &cobra.Command{
			Use:   "login",
			Short: "Print a link that signs a person in at the dashboard",
			Long: "Print a link that signs a person in at the dashboard: once, within 15 minutes, as a token. What that token may, the\n" +
				"person may. This command works directly on the store; the server may be running, and knows the link at once.",
			Example: "  holdco login\n" +
				"  holdco login --token tok_01jqvb2k3e8m0t9c5x7a4n6p1r --url https://holdco.example.com",
			Args: noArgs,
			RunE: on(a, open, func(command *cobra.Command, tools LoginTools, _ []string) error {
				to := tools.URL
				if command.Flags().Changed("url") {
					to = at
				}
				if to == "" {
					return errors.New("the dashboard is turned off by HOLDCO_DASHBOARD_ADDR; say with --url where another server has it")
				}
				code, err := tools.Sessions.Link(command.Context(), a.caller, id.Token(token))
				if fault.CodeOf(err) == fault.NotFound && token == "" {
					return errors.New("there is no live token with the scope admin: \"holdco token create --name admin --scopes admin\" makes one")
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(command.OutOrStdout(), LoginLink(to, string(code)))
				return err
			}),
		}
		command.PreRunE = func(command *cobra.Command, _ []string) error {
			if !command.Flags().Changed("token") {
				token = ""
			} else if _, isID := id.Parse[id.Token](token); !isID {
				return fmt.Errorf("--token must be the id of a token, not %q", token)
			}
			if !command.Flags().Changed("url") {
				return nil
			}
			parsed, err := url.Parse(at)
			if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.User != nil ||
				strings.Trim(parsed.Path, "/") != "" || parsed.RawQuery != "" || parsed.Fragment != "" {
				return errors.New("--url must be http://HOST:PORT or https://HOST")
			}
			at = parsed.Scheme + "://" + parsed.Host
			return nil
		}
		flags := command.Flags()
		flags.StringVar(&token, "token", "", "the id of the token to sign in as (default: the newest live one with the scope admin)")
		flags.StringVar(&at, "url", "", "the dashboard as browsers reach it (default: by HOLDCO_DASHBOARD_ADDR)")
		a.program.StoreFlags(flags)
		return command
	}
}
