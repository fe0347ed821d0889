package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write dist/sources.sum, as make ui does after a build")

// document is the API as it is served, from which the page's types of it are made.
const document = "../../testdata/golden/openapi.json"

// sourcesSum is the hash of everything that dist is built from.
func sourcesSum(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	add := func(name string) error {
		content, err := os.ReadFile(name)
		fmt.Fprintf(sum, "%s %d\n%s\n", filepath.ToSlash(name), len(content), content)
		return err
	}
	err := filepath.WalkDir("ui", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return add(name)
	})
	if err == nil {
		err = add(document)
	}
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil)) + "\n"
}

func TestThePageIsBuiltFromItsSources(t *testing.T) {
	t.Parallel()
	sum := sourcesSum(t)
	if *update {
		if err := os.WriteFile("dist"+sumsFile, []byte(sum), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	built, err := os.ReadFile("dist" + sumsFile)
	if err != nil || string(built) != sum {
		t.Errorf("the sources of the dashboard or the API's document differ from what dist was built of (%v): run \"make ui\"", err)
	}
}

// Bars on what browsers load, in bytes of gzip.
const (
	firstPage   = 200_000
	furtherPage = 60_000
	allScripts  = 450_000
)

func TestThePageIsSmall(t *testing.T) {
	t.Parallel()
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	size := func(content []byte) int {
		var small bytes.Buffer
		writer := gzip.NewWriter(&small)
		_, _ = writer.Write(content)
		_ = writer.Close()
		return small.Len()
	}
	index := string(all[indexPage].plain)
	first, total := 0, 0
	for at, file := range all {
		if path.Ext(at) != ".js" {
			continue
		}
		total += size(file.plain)
		if strings.Contains(index, at) {
			first += size(file.plain)
		} else if further := size(file.plain); further > furtherPage {
			t.Errorf("%s has %d bytes", at, further)
		}
	}
	if first == 0 || first > firstPage || total > allScripts {
		t.Errorf("the first page has %d bytes of scripts, all together %d", first, total)
	}
}

func TestNothingInThePageIsLoadedFromElsewhere(t *testing.T) {
	t.Parallel()
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	for at, file := range all {
		if path.Ext(at) == ".html" && (strings.Contains(string(file.plain), "://") || strings.Contains(string(file.plain), "<style")) {
			t.Errorf("%s names another origin or has styles of its own: %s", at, file.plain)
		}
		if path.Ext(at) == ".css" && strings.Contains(string(file.plain), "url(") {
			t.Errorf("%s loads something", at)
		}
		if path.Ext(at) == ".map" {
			t.Errorf("%s is a source map", at)
		}
	}
	if all["/licenses.txt"].plain == nil {
		t.Error("there are no licences")
	}
}
