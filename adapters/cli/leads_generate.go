package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// Samples writes the parts of a set of sample data.
type Samples interface {
	Taxonomy(to io.Writer) error
	Campaigns(to io.Writer) error
	Leads(to io.Writer) error
}

func (a leadCommands) generate() *cobra.Command {
	var count int
	var seed uint64
	var dir string
	var force bool
	command := &cobra.Command{
		Use:   "generate",
		Short: "Make sample data to import",
		Long: "Make sample data to import: taxonomy.json, campaigns.ndjson and leads.ndjson. They look real but are invented. The same\n" +
			"count and seed give the same files.",
		Example: "  holdco leads generate\n  holdco leads generate --count 1000000 --seed 7 --out samples --force",
		Args:    noArgs,
		RunE: a.run(func(command *cobra.Command, _ []string) error {
			set := a.Samples(count, seed)
			parts := []struct {
				path  string
				write func(to io.Writer) error
			}{
				{filepath.Join(dir, "taxonomy.json"), set.Taxonomy},
				{filepath.Join(dir, "campaigns.ndjson"), set.Campaigns},
				{filepath.Join(dir, "leads.ndjson"), set.Leads},
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			for _, part := range parts {
				if _, err := os.Lstat(part.path); err == nil && !force {
					return fmt.Errorf("%s already exists; pass --force to overwrite it", part.path)
				}
			}
			for _, part := range parts {
				if err := writeFile(command.Context(), part.path, part.write); err != nil {
					return err
				}
			}
			_, err := fmt.Fprintf(command.OutOrStdout(), "Now import them, in this order:\n\n  holdco taxonomy import %s\n"+
				"  holdco campaigns import %s\n  holdco leads import %s\n", parts[0].path, parts[1].path, parts[2].path)
			return err
		}),
	}
	flags := command.Flags()
	flags.IntVar(&count, "count", 1000, "how many leads")
	flags.Uint64Var(&seed, "seed", 1, "the seed of the random numbers")
	flags.StringVar(&dir, "out", "samples", "the directory of the files, created if it does not exist")
	flags.BoolVar(&force, "force", false, "overwrite existing files")
	command.PreRunE = func(*cobra.Command, []string) error {
		const most = 100_000_000
		if count < 1 || count > most {
			return fmt.Errorf("--count must be from 1 to %d; it is %d", most, count)
		}
		return nil
	}
	_ = command.MarkFlagDirname("out")
	return command
}

// writeFile writes a file whole, or leaves what was there.
func writeFile(ctx context.Context, path string, write func(to io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(interruptible{ctx, file}), file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// interruptible fails when ctx ends.
type interruptible struct {
	ctx context.Context
	to  io.Writer
}

func (i interruptible) Write(text []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.to.Write(text)
}
