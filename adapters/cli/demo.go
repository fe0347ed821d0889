package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"holdco/domain/demo"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/ports/inbound"
)

// DemoCommand makes the command demo. What it does to the past, it does on the store.
func DemoCommand(open Opener[inbound.Demo]) Command {
	return func(a *app) *cobra.Command {
		c := demoCommand{remote: &remote{app: a}}
		command := &cobra.Command{
			Use:   "demo",
			Short: "Run a company to look at, until it is stopped",
			Long: `Run a company to look at: three teams, six agents who call no model, goals, projects, a workflow, and issues
that keep coming until SIGINT or SIGTERM. It asks a running server, as people do, with the token in ` + tokenVariable + `,
which needs the scope admin: its agents are programs that the server starts. What people leave undecided for
--patience, it decides. Started again, it goes on with the company that is there. A company "demo" that it has not
made, it does not touch: it knows its own by the description.

With --history it founds the company in the past instead, with all that happened there until now, and ends. Then it
works directly on the store, and needs no token; a server may be running. With --remove it removes the company.`,
			Example: "  holdco demo\n  holdco demo --history 90d && holdco demo\n  holdco demo --remove",
			Args:    noArgs,
			PreRunE: func(command *cobra.Command, _ []string) error { return c.check(command) },
		}
		fill := on(a, open, func(command *cobra.Command, port inbound.Demo, _ []string) error { return c.fill(command, port) })
		command.RunE = func(command *cobra.Command, args []string) error {
			if command.Flags().Changed("history") {
				return fill(command, args)
			}
			return a.run(func(command *cobra.Command, _ []string) error {
				return c.reach(command, func(s *server, _ map[string]string) error {
					stage := newStage(command, s, c)
					if c.isRemoved {
						return stage.remove(command.Context())
					}
					return stage.run(command.Context())
				})
			})(command, args)
		}
		c.flags(command)
		a.program.StoreFlags(command.Flags())
		return command
	}
}

// demoCommand is the command "demo".
type demoCommand struct {
	*remote

	history        string
	days           int // of history
	seed           uint64
	isRemoved      bool
	pace, patience time.Duration
	worker         string
	thinking       int
}

func (c *demoCommand) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.history, "history", "", "found the company so many days ago, such as 90d, with all that has happened since")
	flags.Uint64Var(&c.seed, "seed", 1, "what issues and decisions follow from, and with --history the past")
	flags.BoolVar(&c.isRemoved, "remove", false, "remove the company, with everything in it")
	flags.DurationVar(&c.pace, "pace", 20*time.Second, "how often an issue is filed, unless enough are waiting") //nolint:mnd // the default
	flags.DurationVar(&c.patience, "patience", 2*time.Minute, "how long decisions are left to people; 0s: for ever")
	flags.IntVar(&c.thinking, "thinking", usualPace, "how long agents think, in percent of some seconds for each step")
	flags.StringVar(&c.worker, "worker", "", "the holdco that agents run, where the server is (default this one)")
	c.serverFlags(flags)
	command.MarkFlagsMutuallyExclusive("history", "remove")
}

func (c *demoCommand) check(command *cobra.Command) (err error) {
	days, isDays := strings.CutSuffix(c.history, "d")
	c.days, err = strconv.Atoi(days)
	switch isAsked := command.Flags().Changed("history"); {
	case isAsked && (!isDays || err != nil || !demo.IsPast(c.days)):
		return fmt.Errorf("--history must be a number of days from %dd to %dd, such as 90d", demo.FewestDays, demo.MostDays)
	case c.pace < 10*time.Millisecond:
		return errors.New("--pace must be 10ms or more")
	case c.patience < 0:
		return errors.New("--patience must not be negative")
	case c.thinking < 0 || c.thinking > 10_000:
		return errors.New("--thinking must be from 0 to 10000")
	}
	if c.worker == "" {
		if c.worker, err = os.Executable(); err != nil {
			return fmt.Errorf("name the program of the agents with --worker: %w", err)
		}
	}
	return nil
}

// fill gives the company a past.
func (c *demoCommand) fill(command *cobra.Command, port inbound.Demo) error {
	out, shown := command.ErrOrStderr(), 0
	filled, err := port.Fill(command.Context(), c.caller, inbound.DemoPast{
		Days: c.days, Until: c.program.Clock.Now(), Seed: c.seed,
		Progress: func(day, of int) {
			if tenth := 10 * day / of; tenth > shown { //nolint:mnd // tenths
				shown = tenth
				fmt.Fprintf(out, "%d of %d days\n", day, of)
			}
		},
	})
	switch {
	case fault.CodeOf(err) == fault.SlugInUse:
		return errors.New("there is a company \"demo\" already, and a past is only for a new one; \"holdco demo --remove\" removes one " +
			"that holdco demo has made")
	case err != nil && command.Context().Err() != nil:
		return errors.New("interrupted; the past ends early. \"holdco demo --remove\" removes the company")
	case err != nil:
		return err
	}
	of := filled.Issues.Of
	var all int64
	for _, n := range of {
		all += n
	}
	_, err = fmt.Fprintf(command.OutOrStdout(),
		"The company \"demo\" (%s) has a past of %d days: %d issues, %d of them done, %d failed, %d open.\n"+
			"\"holdco demo\" goes on with it, and \"holdco demo --remove\" removes it.\n",
		filled.Company, c.days, all, of[issue.Done], of[issue.Failed], filled.Issues.Open())
	return err
}
