package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// standardInput stands for the standard input where the name of a file is wanted.
const standardInput = "-"

// oneFile asks for one argument.
func oneFile(command *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%q needs one argument, a file, or - for standard input", command.CommandPath())
	}
	return nil
}

// Formats are those of files of leads and campaigns.
func Formats() []string { return []string{"ndjson", "csv", "json"} }

// checkFormat refuses a value of --format; empty: it was not given.
func checkFormat(asked string) error {
	if asked != "" && !slices.Contains(Formats(), asked) {
		return fmt.Errorf("--format must be ndjson, csv or json; it is %q", asked)
	}
	return nil
}

// formatOf is the format that the name of a file ends with.
func formatOf(path string) (string, error) {
	switch extension := strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz"))); {
	case extension == ".xlsx", extension == ".xls":
		return "", fmt.Errorf("%q is an Excel workbook; save its sheet as \"CSV UTF-8\", and import that", path)
	case path == standardInput, extension == ".jsonl":
		return "ndjson", nil
	case extension != "" && slices.Contains(Formats(), extension[1:]):
		return extension[1:], nil
	}
	return "", fmt.Errorf("the name of %q does not say its format; pass --format ndjson, csv or json", path)
}

// input is what is imported.
type input struct {
	io.Reader
	name string
	file *os.File // nil: not a file
	size int64    // in bytes; -1: unknown
}

func openInput(path string, stdin io.Reader) (*input, error) {
	if path == standardInput {
		return &input{Reader: stdin, name: "standard input", size: -1}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	about, err := file.Stat()
	if err == nil && about.IsDir() {
		err = fmt.Errorf("%s is a directory", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	opened := &input{Reader: file, name: path, file: file, size: -1}
	if about.Mode().IsRegular() {
		opened.size = about.Size()
	}
	return opened, nil
}

// mustExist fails before the store is opened when a file does not exist or is a directory, which is no wrong usage. It does
// not open the file, because the writer of a named pipe would take the close for the end of its reader.
func (a *app) mustExist(path string) error {
	if path == standardInput {
		return nil
	}
	about, err := os.Stat(path)
	switch {
	case err != nil:
		err = fmt.Errorf("open %s: %w", path, errors.Unwrap(err))
	case about.IsDir():
		err = fmt.Errorf("%s is a directory", path)
	}
	a.started = err != nil
	return err
}

// readObject reads the file that a flag names, which holds a JSON object.
func readObject(flag, path string, stdin io.Reader) (json.RawMessage, error) {
	object, err := readText(path, stdin)
	if err == nil && (!json.Valid([]byte(object)) || !strings.HasPrefix(strings.TrimSpace(object), "{")) {
		err = WrongUsage(fmt.Errorf("%s must name a file that holds a JSON object; it is %q", flag, path))
	}
	return json.RawMessage(object), err
}

// readText reads all of a file; - is standard input.
func readText(path string, stdin io.Reader) (string, error) {
	file, err := openInput(path, stdin)
	if err != nil {
		return "", err
	}
	defer file.close()
	text, err := io.ReadAll(file)
	return string(text), err
}

func (i *input) close() {
	if i.file != nil {
		_ = i.file.Close()
	}
}

// makeSeekable copies what can be read only once to a temporary file, which has no name and ends with the process.
func (i *input) makeSeekable(ctx context.Context) error {
	if i.size >= 0 {
		return nil
	}
	spool, err := os.CreateTemp("", "holdco-import-*")
	if err != nil {
		return err
	}
	if err := os.Remove(spool.Name()); err != nil { // at once: it ends with the process, however that ends
		return errors.Join(err, spool.Close())
	}
	from := i.Reader
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(spool, from)
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(err, spool.Close())
	}
	i.close()
	i.Reader, i.file = spool, spool
	if i.size, err = spool.Seek(0, io.SeekCurrent); err != nil {
		return err
	}
	return i.rewind()
}

func (i *input) rewind() error {
	_, err := i.file.Seek(0, io.SeekStart)
	return err
}
