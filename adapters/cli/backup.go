package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"holdco/domain/backup"
	"holdco/ports/inbound"
)

// BackupCommand is the command that copies the store.
func BackupCommand(open Opener[inbound.Backups]) Command {
	return func(a *app) *cobra.Command {
		wanted := inbound.BackupWanted{Version: a.program.Version.Number}
		var asJSON bool
		command := &cobra.Command{
			Use:   "backup FILE|-",
			Short: "Copy the store into a file, beside a running server",
			Long: "Copy the store at one instant into a file, or to standard output (-). Servers may be running: all that they\n" +
				"acknowledged before is in it. A backup is a tar, compressed by zstd. The file gets its name when it is complete\n" +
				"and was read back; what goes to standard output is not read back.\n\n" +
				"The key file is never in a backup: keep it elsewhere. Secrets in a backup are encrypted with it, everything else\n" +
				"can be read by who has the file, unless it is encrypted with --encrypt-to. With --workspaces the directories in\n" +
				"which agents work are copied after the store.",
			Example: "  holdco backup /backup/holdco.tar.zst\n" +
				"  holdco backup --encrypt-to age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p /backup/holdco.tar.zst\n" +
				"  holdco backup - | ssh elsewhere 'cat >holdco.tar.zst'",
			Args: oneTarget,
			PreRunE: func(command *cobra.Command, args []string) error {
				if out, isFile := command.OutOrStdout().(*os.File); args[0] == "-" && isFile && term.IsTerminal(int(out.Fd())) {
					return errors.New("standard output is a terminal; name a file, or pipe it on")
				}
				if args[0] == "-" && asJSON {
					return errors.New("--json does not go with -, which prints the backup")
				}
				return nil
			},
			RunE: on(a, open, func(command *cobra.Command, port inbound.Backups, args []string) error {
				if args[0] == "-" {
					written, err := port.Stream(command.Context(), a.caller, command.OutOrStdout(), wanted)
					if err == nil {
						sayWritten(command.ErrOrStderr(), "the backup", written)
					}
					return err
				}
				wanted.File = args[0]
				written, err := port.Write(command.Context(), a.caller, wanted)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(command.OutOrStdout(), written.Fields())
				}
				sayWritten(command.OutOrStdout(), wanted.File, written)
				return nil
			}),
		}
		flags := command.Flags()
		flags.StringArrayVar(&wanted.Recipients, "encrypt-to", nil,
			"a public key of age, for which it is encrypted; may be given several times")
		flags.BoolVar(&wanted.Replaces, "force", false, "replace a file of that name")
		flags.BoolVar(&wanted.Unverified, "no-verify", false, "do not read the backup back")
		flags.BoolVar(&wanted.Workspaces, "workspaces", false, "with the workspaces of companies")
		jsonFlag(flags, &asJSON)
		a.program.StoreFlags(flags)
		return command
	}
}

func sayWritten(out io.Writer, file string, written backup.Written) {
	state := "not verified"
	if written.Verified {
		state = "verified"
	}
	fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("wrote %s: %s; %s. %s", file, written.Summary(), state, written.KeyNote())))
}

// RestoreCommand is the command that brings a backup back.
func RestoreCommand(open Opener[inbound.Backups]) Command {
	return func(a *app) *cobra.Command {
		var wanted inbound.RestoreWanted
		var asJSON bool
		command := &cobra.Command{
			Use:   "restore FILE|-",
			Short: "Put a backup in the place of the store",
			Long: "Put a backup, from a file or from standard input (-), in the place of the store, which must be empty and have no\n" +
				"server. With --replace it may hold something, which is kept under another name. It happens at once or not at all.\n" +
				"The schema is migrated to what this program needs, unless --no-migrate leaves that to \"holdco migrate up\".\n\n" +
				"An older state must not act on the world twice. So leases are ended, and issues wait in the queue; what webhooks\n" +
				"have still to send is held until \"holdco webhook resume\"; answers that are kept for retries of requests are\n" +
				"dropped. The restoration is an entry in the activity log, store.restored.\n\n" +
				"With --check it is restored beside the store and checked as by \"holdco doctor\", but for settings, key, workspaces,\n" +
				"disk, backup and replicas, which are not in it. Then it is dropped: a drill.",
			Example: "  holdco restore /backup/holdco.tar.zst\n  holdco restore --replace --identity key.txt /backup/holdco.tar.zst\n" +
				"  holdco restore --check /backup/holdco.tar.zst",
			Args: oneFile,
			PreRunE: func(*cobra.Command, []string) error {
				if wanted.TriesOnly && wanted.Replaces {
					return errors.New("--check does not go with --replace: it replaces nothing")
				}
				if wanted.TriesOnly && wanted.AsItIs {
					return errors.New("--check does not go with --no-migrate: what is checked is a migrated store")
				}
				if wanted.Timeout <= 0 {
					return errors.New("--timeout must be more than 0")
				}
				return nil
			},
			RunE: on(a, open, func(command *cobra.Command, port inbound.Backups, args []string) error {
				if args[0] == "-" {
					wanted.From = command.InOrStdin()
				} else {
					wanted.File = args[0]
				}
				restored, err := port.Restore(command.Context(), a.caller, wanted)
				if err != nil {
					return err
				}
				if asJSON {
					err = printJSON(command.OutOrStdout(), restored.Fields())
				} else {
					sayRestored(command.OutOrStdout(), restored, wanted.TriesOnly)
				}
				if restored.Lacks != "" {
					fmt.Fprintf(command.ErrOrStderr(), "holdco: warning: the server will not start: HOLDCO_KEY_FILE: %s\n", restored.Lacks)
				}
				if len(restored.Problems) > 0 {
					err = errors.Join(err, fmt.Errorf("the backup can be restored, but not all is well in it: %s",
						strings.Join(restored.Problems, "; ")))
				}
				return err
			}),
		}
		flags := command.Flags()
		flags.StringVar(&wanted.Identities, "identity", "", "a file with an identity of age, for an encrypted backup")
		flags.BoolVar(&wanted.Replaces, "replace", false, "keep what the store holds under another name, and take its place")
		flags.DurationVar(&wanted.Timeout, "timeout", 10*time.Minute, "for how long each check of --check may run")
		flags.BoolVar(&wanted.TriesOnly, "check", false, "only try: restore beside the store, check that, and drop it")
		flags.BoolVar(&wanted.AsItIs, noMigration, false, "leave an older schema as it is; nothing works on it until it is migrated")
		jsonFlag(flags, &asJSON)
		a.program.StoreFlags(flags)
		return command
	}
}

func sayRestored(out io.Writer, restored backup.Restored, isTrial bool) {
	if isTrial {
		fmt.Fprintf(out, "the backup can be restored: %s. %s\n", restored.Summary(), restored.KeyNote())
		return
	}
	fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("restored: %s. %s", restored.Summary(), restored.KeyNote())))
	if restored.Kept != "" {
		fmt.Fprintf(out, "The former store is kept: %s\n", restored.Kept)
	}
	if restored.Spaces != "" {
		fmt.Fprintf(out, "The former workspaces are kept: %s\n", restored.Spaces)
	}
	if restored.Newer > 0 {
		fmt.Fprintf(out, "What was done after the backup is there alone; entries of its activity log: %d\n", restored.Newer)
	}
	if !restored.Settled {
		fmt.Fprintf(out, "The schema was left as it is. Before a server starts run \"holdco migrate up\", which also ends leases and "+
			"holds webhooks\n")
	}
	if restored.Leases > 0 {
		fmt.Fprintf(out, "Leases were ended, and their issues are in the queue: %d\n", restored.Leases)
	}
	if restored.Webhooks > 0 {
		fmt.Fprintf(out, "Webhooks are held, until you run \"holdco webhook resume\": %d\n", restored.Webhooks)
	}
}

// oneTarget asks for one argument.
func oneTarget(command *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return fmt.Errorf("%q needs one argument, a file, or - for standard output", command.CommandPath())
	}
	return nil
}
