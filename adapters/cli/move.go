package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"holdco/domain/move"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

const moveText = `Move the store to another one: from SQLite to PostgreSQL, back, or to another of the same engine. All servers are stopped
before, and both have the schema of this program. The target is empty or new; then it is made and migrated. The source is configured as
for a server, or named by --from.

All rows are copied, in batches, and then read again from both stores and compared. A move that is interrupted, however that is,
goes on where it was when it is run again. While it lasts, no server and no command that writes opens either store. In the end the
source is marked as moved, and opens no more: set HOLDCO_DATABASE_URL to the target, and keep the data directory and the key file.
With --keep-source it still opens, for a test: what is written to it then is not in the target.

With --abandon a move that did not end is undone: the source, which is configured or of --from, can be used again, and the target, of
--to, loses the tables that it got. A source that was moved can be used again too, if --from names it or --to is left out.

Other users of the machine see what follows --from and --to, with a password in it. PostgreSQL also takes it from PGPASSWORD or
~/.pgpass.`

// MoveTools are what the command move works with.
type MoveTools struct {
	inbound.Moves
	From    string                  // the URL of the configured store
	Setting func(url string) string // what HOLDCO_DATABASE_URL is to be set to, without a password
}

// MoveCommand is the command that moves the store to another one.
func MoveCommand(open Opener[MoveTools]) Command {
	return func(a *app) *cobra.Command {
		var wanted inbound.MoveWanted
		var abandons, asJSON bool
		command := &cobra.Command{
			Use:   "move --to URL",
			Short: "Move the store to another database, of SQLite or PostgreSQL",
			Long:  moveText,
			Example: "  holdco move --from sqlite:///var/lib/holdco/holdco.db --to postgres://holdco:secret@localhost/holdco\n" +
				"  holdco move --abandon --to postgres://holdco:secret@localhost/holdco",
			Args: noArgs,
			PreRunE: func(*cobra.Command, []string) error {
				switch {
				case wanted.To == "" && !abandons:
					return errors.New("--to must name the store to move to, such as postgres://holdco@localhost/holdco")
				case abandons && wanted.KeepSource:
					return errors.New("--abandon does not go with --keep-source")
				case abandons && asJSON:
					return errors.New("--abandon does not go with --json")
				}
				return nil
			},
			RunE: on(a, open, func(command *cobra.Command, tools MoveTools, _ []string) error {
				out := command.OutOrStdout()
				if wanted.From == "" {
					wanted.From, wanted.IsConfigured = tools.From, true
				}
				if abandons {
					done, err := tools.Abandon(command.Context(), a.caller, wanted)
					for _, one := range done {
						fmt.Fprintln(out, one)
					}
					return err
				}
				wanted.Progress = newMoveProgress(command.ErrOrStderr(), a.program.Clock).show
				moved, err := tools.Move(command.Context(), a.caller, wanted)
				switch {
				case err != nil:
					return err
				case asJSON:
					return printJSON(out, moved.Fields())
				case moved.Unmarked:
					_, err = fmt.Fprintf(out, "%s can be used again\n", moved.From)
					return err
				}
				_, err = fmt.Fprintf(out, "moved %d rows, verified; set HOLDCO_DATABASE_URL=%s\n", moved.Rows, tools.Setting(wanted.To))
				return err
			}),
		}
		flags := command.Flags()
		flags.StringVar(&wanted.From, "from", "", "the `URL` of the store to move; without it the one that is configured")
		flags.StringVar(&wanted.To, "to", "", "the `URL` of the store to move to")
		flags.BoolVar(&wanted.KeepSource, "keep-source", false, "let the store that was moved be used further, for a test")
		flags.BoolVar(&abandons, "abandon", false, "undo a move that did not end")
		jsonFlag(flags, &asJSON)
		a.program.StoreFlags(flags)
		return command
	}
}

// moveProgress shows a line each second.
type moveProgress struct {
	out   io.Writer
	clock outbound.Clock
	last  move.Progress
	at    time.Time // of that
}

func newMoveProgress(out io.Writer, clock outbound.Clock) *moveProgress {
	return &moveProgress{out: out, clock: clock, at: clock.Now()}
}

func (p *moveProgress) show(now move.Progress) {
	if now.Verifying != p.last.Verifying { // it begins anew
		p.last, p.at = move.Progress{Verifying: now.Verifying}, p.clock.Now()
	}
	at := p.clock.Now()
	passed := at.Sub(p.at)
	if passed < time.Second {
		return
	}
	doing := "copying"
	if now.Verifying {
		doing = "verifying"
	}
	fmt.Fprintf(p.out, "%s %s: %d rows, %.0f rows/s\n", doing, now.Table, now.Rows, float64(now.Rows-p.last.Rows)/passed.Seconds())
	p.last, p.at = now, at
}
