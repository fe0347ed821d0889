package compat

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	releases   = "../../testdata/released"
	exceptions = releases + "/exceptions.yaml"
	served     = "../../testdata/golden" // a test holds these against what a server answers
)

// mostLines bounds what is shown: what many operations share changes for all of them at once.
const mostLines = 20

// exception is a change that breaks clients, and is meant to.
type exception struct {
	Breaks string `yaml:"breaks"` // a regular expression for a whole line
	Reason string `yaml:"reason"`

	line *regexp.Regexp
	used bool
}

func TestTodaysDocumentsKeepWhatReleasesPromised(t *testing.T) {
	excused, err := readExceptions(exceptions)
	if err != nil {
		t.Fatalf("%s: %v", exceptions, err)
	}
	kept, err := filepath.Glob(releases + "/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documentsIn(t, served) {
		if !slices.ContainsFunc(kept, func(file string) bool { return filepath.Base(file) == document }) {
			t.Errorf("no release in %s has %s", releases, document)
		}
	}
	for _, file := range kept {
		version, document := filepath.Base(filepath.Dir(file)), filepath.Base(file)
		lines, err := Breaks(readFile(t, file), readFile(t, filepath.Join(served, document)))
		if err != nil {
			t.Errorf("%s of %s: %v", document, version, err)
		}
		lines = slices.DeleteFunc(lines, func(line string) bool { return isExcused(excused, document+": "+line) })
		if len(lines) > 0 {
			t.Errorf("What clients of release %s rely on has changed. Keep it, and mark it as deprecated; what is meant all the same is "+
				"excused in testdata/released/exceptions.yaml.\n%s", version, listed(document, lines))
		}
	}
	for _, one := range excused {
		if !one.used {
			t.Errorf("%s excuses what does not happen; remove it: %s", exceptions, one.Breaks)
		}
	}
}

func documentsIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*openapi.json")
	if err != nil || files == nil {
		t.Fatalf("%s has no documents: %v", folder, err)
	}
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	return names
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func listed(document string, lines []string) string {
	shown := lines[:min(len(lines), mostLines)]
	text := document + ": " + strings.Join(shown, "\n"+document+": ")
	if more := len(lines) - len(shown); more > 0 {
		text += "\n... and " + strconv.Itoa(more) + " more"
	}
	return text
}

func isExcused(excused []*exception, line string) bool {
	is := false
	for _, one := range excused {
		if one.line.MatchString(line) {
			one.used, is = true, true
		}
	}
	return is
}

func readExceptions(file string) ([]*exception, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseExceptions(text)
}

func parseExceptions(text []byte) (all []*exception, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, one := range all {
		if strings.TrimSpace(one.Reason) == "" {
			return nil, errors.New("an exception has no reason: " + one.Breaks)
		}
		if one.line, err = regexp.Compile("^(?:" + one.Breaks + ")$"); err != nil {
			return nil, err
		}
	}
	return all, nil
}
