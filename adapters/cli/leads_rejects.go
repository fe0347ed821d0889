package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"holdco/domain/lead"
)

// rejects lists lines that were not imported as they stand in a file, which exists only if there are any.
type rejects struct {
	path  string
	file  *os.File
	out   *bufio.Writer
	first map[lead.LineOutcome][]string // the first of them, for people
}

// newRejects removes the file of an earlier import.
func newRejects(path string, from *input) (*rejects, error) {
	old, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &rejects{path: path}, nil
	case err != nil:
		return nil, err
	case old.IsDir():
		return nil, fmt.Errorf("--errors names a directory, %s", path)
	case !old.Mode().IsRegular(): // such as /dev/null
		return &rejects{path: path}, nil
	}
	if from.file != nil {
		if imported, err := from.file.Stat(); err != nil || os.SameFile(old, imported) {
			return nil, errors.Join(err, fmt.Errorf("--errors names the file that is imported, %s", path))
		}
	}
	return &rejects{path: path}, os.Remove(path)
}

func (r *rejects) add(line lead.ReportedLine) error {
	if r.file == nil {
		file, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600) // it quotes people
		if err != nil {
			return err
		}
		r.file, r.out = file, bufio.NewWriter(file)
	}
	words := make([]string, len(line.Problems))
	for i, field := range line.Problems {
		words[i] = field.Message
	}
	encoder := json.NewEncoder(r.out)
	encoder.SetEscapeHTML(false)
	const shown = 5
	if r.first == nil {
		r.first = map[lead.LineOutcome][]string{}
	}
	if first := r.first[line.Outcome]; len(first) < shown {
		r.first[line.Outcome] = append(first, fmt.Sprintf("%s: %s", line.Place(), printable(strings.Join(words, "; "))))
	}
	return encoder.Encode(line.Fields())
}

func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.out.Flush(), r.file.Close())
}

// verdict returns an error if lines were rejected, or merged where they must not be; else it warns of those that were merged.
func (r *rejects) verdict(stderr io.Writer, summary lead.ImportCount, strict bool) error {
	nothing := ""
	if strict {
		nothing = ". Nothing was imported"
	}
	merged := fmt.Sprintf("%s a later line with the same id that differs, and %s not count; %s lists them",
		counted(summary.Merged, "line has", "lines have"), verb(summary.Merged, "does", "do"), r.path)
	switch {
	case summary.Rejected > 0:
		invalid := fmt.Sprintf("%d of %s invalid; %s lists all of them", summary.Rejected,
			counted(summary.Read, "line is", "lines are"), r.path)
		return errors.New(strings.Join(append([]string{invalid + nothing}, r.first[lead.LineRejected]...), "\n"))
	case summary.Merged > 0 && strict:
		return errors.New(strings.Join(append([]string{merged + nothing}, r.first[lead.LineMerged]...), "\n"))
	case summary.Merged > 0:
		_, err := fmt.Fprintln(stderr, strings.Join(append([]string{merged + "."}, r.first[lead.LineMerged]...), "\n"))
		return err
	}
	return nil
}

// counted is a number with the words for one or for several.
func counted(n int64, one, several string) string { return fmt.Sprint(n, " ", verb(n, one, several)) }

func verb(n int64, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// printable replaces control characters and truncates: the text comes from a file and goes to a terminal.
func printable(text string) string {
	const longest = 500
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text[:min(len(text), longest)])
}
