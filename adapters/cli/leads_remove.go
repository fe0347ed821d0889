package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/ports/inbound"
)

func (a leadCommands) removeLeads() *cobra.Command {
	var asJSON, forget bool
	command := &cobra.Command{
		Use:   "rm ID...|FILE",
		Short: "Remove leads permanently",
		Long: "Remove leads permanently, with all their data. Partners can list the ids of removed leads, to remove their copies.\n" +
			"A FILE holds one id per line; - is standard input. A malformed id stops the command before anything is removed;\n" +
			"unknown ids do not.\n\n" +
			"An import whose file still has a removed lead brings it back. With --forget none does: a keyed hash of the id, and of the\n" +
			"website, the email and the phone with the name, is kept, and imports skip lines that have one of them. Ids that are\n" +
			"unknown are kept from coming back too. The key is sealed with that of the instance, which has to be there.",
		Example: "  holdco leads rm cmp_01jqvb2k3e8m0t9c5x7a4n6p1r\n  holdco leads rm ids.txt --forget",
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%q needs ids of leads, or a file of them", command.CommandPath())
			}
			return nil
		},
		RunE: on(a.app, func(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Imports, func(), error) {
			if forget {
				return a.Keyed(ctx, flags, stderr)
			}
			return a.Imports(ctx, flags, stderr)
		}, func(command *cobra.Command, port inbound.Imports, args []string) error {
			ids, err := gatherIDs(args, command.InOrStdin())
			if err != nil {
				return err
			}
			removed, err := port.RemoveLeads(command.Context(), a.caller, each(ids), forget)
			if command.Context().Err() != nil {
				err = fmt.Errorf("interrupted; %d leads were removed", removed)
			}
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(command.OutOrStdout(), event.Fields{event.F("removed", removed), event.F("absent", len(ids)-removed)})
			}
			then := "An import that has them brings them back; --forget keeps it from that."
			if forget {
				then = "Imports will not bring them back."
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "Removed %d leads; %d did not exist. %s\n", removed, len(ids)-removed, then)
			return err
		}),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	command.Flags().BoolVar(&forget, "forget", false, "keep imports from bringing them back")
	jsonFlag(command.Flags(), &asJSON)
	a.program.StoreFlags(command.Flags())
	return command
}

// gatherIDs reads ids and files of ids, and drops duplicates.
func gatherIDs(args []string, stdin io.Reader) ([]id.Lead, error) {
	var ids []id.Lead
	seen := map[id.Lead]bool{}
	add := func(text string) bool {
		which, ok := id.ParseForeign[id.Lead](text)
		if ok && !seen[which] {
			seen[which] = true
			ids = append(ids, which)
		}
		return ok
	}
	for _, arg := range args {
		if add(arg) {
			continue
		}
		file, err := openInput(arg, stdin)
		if absent, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("%q is neither the id of a lead nor a file: %w", arg, absent.Err)
		}
		if err != nil {
			return nil, err
		}
		defer file.close()
		number := 0
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			number++
			text := lines.Text()
			if number == 1 {
				text = strings.TrimPrefix(text, "\ufeff") // a byte order mark, as editors and spreadsheets write it
			}
			if line := strings.TrimSpace(text); line != "" && !add(line) {
				return nil, fmt.Errorf("%s: line %d is not the id of a lead; nothing was removed", arg, number)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
	}
	return ids, nil
}

func each(ids []id.Lead) iter.Seq2[id.Lead, error] {
	return func(yield func(id.Lead, error) bool) {
		for _, which := range ids {
			if !yield(which, nil) {
				return
			}
		}
	}
}
