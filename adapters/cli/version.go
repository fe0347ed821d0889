package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"holdco/domain/event"
)

// Version says which program this is.
type Version struct {
	Number string // such as v1.2.0; empty: not a release
	Commit string // empty: unknown
}

// BuiltVersion is the version that the build was given, completed with what the Go tool wrote into the program.
func BuiltVersion(number, commit string) Version {
	if info, ok := debug.ReadBuildInfo(); ok {
		if number == "" && info.Main.Version != "" {
			number = info.Main.Version
		}
		for _, setting := range info.Settings {
			if commit == "" && setting.Key == "vcs.revision" {
				commit = setting.Value
			}
		}
	}
	return Version{Number: number, Commit: commit}
}

func (a *app) version() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  holdco version\n  holdco version --json",
		Args:    noArgs,
		RunE: a.run(func(command *cobra.Command, _ []string) error {
			v := a.program.Version
			if asJSON {
				return printJSON(command.OutOrStdout(), event.Fields{
					event.F("version", v.Number), event.F("commit", v.Commit), event.F("goVersion", runtime.Version()),
				})
			}
			commit := v.Commit
			if commit == "" {
				commit = "unknown"
			}
			_, err := fmt.Fprintf(command.OutOrStdout(), "holdco %s (commit %s, %s)\n", v.Number, commit, runtime.Version())
			return err
		}),
	}
	jsonFlag(command.Flags(), &asJSON)
	return command
}
