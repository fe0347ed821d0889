package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"holdco/domain/lead"
)

// rejects lists invalid lines in a file, which exists only if there are any.
type rejects struct {
	path  string
	file  *os.File
	out   *bufio.Writer
	first []string // the first of them, for people
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

func (r *rejects) add(line lead.RejectedLine) error {
	if r.file == nil {
		file, err := os.Create(r.path)
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
	if len(r.first) < shown {
		r.first = append(r.first, fmt.Sprintf("line %d: %s", line.Number, printable(strings.Join(words, "; "))))
	}
	return encoder.Encode(line.Fields())
}

func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.out.Flush(), r.file.Close())
}

// verdict returns an error if lines were rejected.
func (r *rejects) verdict(summary lead.ImportCount, strict bool) error {
	if summary.Rejected == 0 {
		return nil
	}
	what := fmt.Sprintf("%d of %d lines are invalid; %s lists all of them", summary.Rejected, summary.Read, r.path)
	if strict {
		what += ". Nothing was imported"
	}
	return errors.New(strings.Join(append([]string{what}, r.first...), "\n"))
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
