package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func (a *app) man() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory",
		Long: "Write a manual page for each command into a directory, which is made if it is missing. Files of the same names are\n" +
			"replaced. With SOURCE_DATE_EPOCH, in seconds since 1970, the pages carry that date instead of today's.",
		Example: "  holdco man /usr/local/share/man/man1",
		Args: func(command *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fmt.Errorf("%q needs one argument, the directory for the pages", command.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: a.run(func(command *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := command.Root()
			root.InitDefaultVersionFlag()
			root.DisableAutoGenTag = true
			escape(root)
			header := &doc.GenManHeader{Section: "1", Source: "Holdco " + a.program.Version.Number, Manual: "Holdco"}
			return doc.GenManTree(root, header, args[0])
		}),
	}
}

// escape makes the help of a command, and of those below it, Markdown that says the same: it would drop <data dir> as a tag.
func escape(command *cobra.Command) {
	marks := strings.NewReplacer("<", `\<`, "*", `\*`, "`", "\\`", `\`, `\\`)
	command.Short, command.Long = marks.Replace(command.Short), unfold(marks.Replace(command.Long))
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) { flag.Usage = marks.Replace(flag.Usage) })
	for _, below := range command.Commands() {
		escape(below)
	}
}

// item is one of a list in a help: its name on a line, and below it what is said of it, further in.
var item = regexp.MustCompile(`(?m)^  (\S+)\n((?:` + indent + `.+\n?)+)`)

// unfold makes a paragraph of each item of a list. A page of the manual breaks lines where its reader's terminal ends, and breaks those
// again that were broken before.
func unfold(text string) string {
	return item.ReplaceAllStringFunc(text, func(found string) string {
		parts := item.FindStringSubmatch(found)
		return "**" + parts[1] + "**: " + strings.Join(strings.Fields(parts[2]), " ") + "\n"
	})
}
