package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"holdco/domain/event"
	"holdco/domain/instant"
	"holdco/domain/retention"
	"holdco/ports/inbound"
)

const pruneText = `Remove what is older than it has to be kept, as a server does by itself every day: entries of the activity log
(activity, and those that an audit shows: audit), checkpoints and logs of runs that have ended and whose issues are closed (runs),
and what partners read of leads that were removed (removed). How long each is kept is set by HOLDCO_KEEP_ACTIVITY, _AUDIT, _RUNS
and _REMOVED. Whole days count, in UTC. Costs, and the runs themselves, are always kept.

It works directly on the store, so it needs no token; servers may be running. Whatever is removed takes many small steps, and can
be interrupted: what was removed stays removed, and the next pass goes on. What webhooks have still to send is kept. Logs are those
on this host.

A signed stub takes the place of entries, so that "holdco audit verify" still tells whether anything else was changed or removed.
Each pass is an entry in the activity log, store.pruned.`

// PruneCommand is the command that removes what is old enough.
func PruneCommand(open Opener[inbound.Retention]) Command {
	return func(a *app) *cobra.Command {
		var wanted inbound.Pruning
		var olderThan string
		var asJSON bool
		command := &cobra.Command{
			Use:     "prune",
			Short:   "Remove what is older than it has to be kept",
			Long:    pruneText,
			Example: "  holdco prune --dry-run\n  holdco prune --only activity --older-than 180d",
			Args:    noArgs,
			PreRunE: func(command *cobra.Command, _ []string) error {
				wanted.Only = trimmed(wanted.Only)
				if command.Flags().Changed("only") && len(wanted.Only) == 0 {
					return fmt.Errorf("--only must name a kind")
				}
				if _, err := retention.ParseKinds(wanted.Only); err != nil {
					return fmt.Errorf("--only: %w", err)
				}
				var ok bool
				wanted.OlderThan, ok = retention.ParsePeriod(olderThan, 1)
				if olderThan != "" && (!ok || wanted.OlderThan == retention.Off) {
					return fmt.Errorf("--older-than must be whole days, such as 90d or 2160h")
				}
				return nil
			},
			RunE: on(a, open, func(command *cobra.Command, port inbound.Retention, _ []string) error {
				found, err := port.Prune(command.Context(), a.caller, wanted)
				if err != nil {
					return err
				}
				if asJSON {
					kinds := make([]event.Fields, len(found))
					for n, one := range found {
						kinds[n] = one.Fields()
					}
					return printJSON(command.OutOrStdout(), event.Fields{event.F("dryRun", wanted.DryRun), event.F("kinds", kinds)})
				}
				rows := [][]string{{"KIND", "ROWS", "BYTES", "BEFORE"}}
				for _, one := range found {
					rows = append(rows, pruned(one))
				}
				return printTable(command.OutOrStdout(), rows)
			}),
		}
		flags := command.Flags()
		flags.BoolVar(&wanted.DryRun, "dry-run", false, "remove nothing, but print what would be")
		flags.StringSliceVar(&wanted.Only, "only", nil, "these kinds alone, separated by commas")
		flags.StringVar(&olderThan, "older-than", "", "remove what is older than so many `DAYS`, such as 180d, instead of what is set")
		jsonFlag(flags, &asJSON)
		a.program.StoreFlags(flags)
		return command
	}
}

// pruned is a line about a kind.
func pruned(one retention.Result) []string {
	if one.Before.IsZero() {
		return []string{string(one.Kind), "-", "-", "kept for ever"}
	}
	bytes := "-"
	if one.Bytes > 0 {
		bytes = strconv.FormatInt(one.Bytes, 10)
	}
	return []string{string(one.Kind), strconv.FormatInt(one.Rows, 10), bytes, instant.Format(one.Before)}
}
