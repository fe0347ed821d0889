package wiring_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostEdits is how many existing files a new resource may edit, tests included.
const mostEdits = 8

// beyondAResource are files that mention partners for another reason.
var beyondAResource = []string{
	// They take some resources as samples.
	"ports/storetest/history.go", "ports/storetest/model.go",
	"adapters/store/sqlite/reads_test.go", "wiring/command_flags_test.go",
	// Partners are callers too, and what they do is counted.
	"adapters/http/httpkit/request.go", "domain/ratelimit/ratelimit.go", "wiring/assemble.go",
	// The instances of tests have an export API.
	"wiring/harness_test.go",
}

// ifOfACompany are files that a resource edits only if it belongs to a company, as partners do not.
var ifOfACompany = []string{"adapters/store/sqlstore/removal.go"}

// CONTRIBUTING.md lists the existing files that a new resource edits. For its example, partners, that list is complete: no
// other file mentions their service, their repository, the type of their ids or their events. That holds for tests too.
func TestAResourceEditsTheFilesThatContributingLists(t *testing.T) {
	t.Parallel()
	listed := editedFiles(t)
	if len(listed) == 0 || len(listed) > mostEdits {
		t.Errorf("CONTRIBUTING.md lists %d files, not 1 to %d: %v", len(listed), mostEdits, listed)
	}
	var mentioning []string
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		file := strings.TrimPrefix(path, root+"/")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || len(entry.Name()) > 2 && entry.Name()[0] == '.'):
			return fs.SkipDir
		case filepath.Ext(path) == ".go" && !strings.Contains(file, "partner") && mentionsPartners(t, path):
			mentioning = append(mentioning, file)
		}
		return nil
	}))
	for _, file := range mentioning {
		if !slices.Contains(listed, file) && !slices.Contains(beyondAResource, file) {
			t.Errorf("%s mentions partners, and CONTRIBUTING.md does not list it", file)
		}
	}
	for _, file := range listed {
		expected := filepath.Ext(file) == ".go" && !slices.Contains(ifOfACompany, file)
		if !exists(t, filepath.Join(root, file)) || expected && !slices.Contains(mentioning, file) {
			t.Errorf("CONTRIBUTING.md lists %s, which is not there or does not mention partners", file)
		}
	}
}

// editedFiles reads the list in CONTRIBUTING.md.
func editedFiles(t *testing.T) (files []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	must(t, err)
	_, list, _ := strings.Cut(string(text), "### Existing files that it edits\n")
	list, _, _ = strings.Cut(list, "\n#")
	for _, item := range regexp.MustCompile("(?m)^- (`[^:]+`):").FindAllStringSubmatch(list, -1) {
		for file := range strings.SplitSeq(item[1], ", ") {
			files = append(files, strings.Trim(file, "`"))
		}
	}
	return files
}

// mentionsPartners reports whether a file that nobody generated has one of the names that a resource has in the files of
// others.
func mentionsPartners(t *testing.T, path string) (found bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	must(t, err)
	if ast.IsGenerated(parsed) {
		return false
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.Ident:
			found = found || slices.Contains([]string{"Partners", "PartnerCreated", "partnerRules"}, n.Name)
		case *ast.SelectorExpr:
			of, isName := n.X.(*ast.Ident)
			found = found || isName && of.Name == "id" && n.Sel.Name == "Partner"
		case *ast.TypeSpec:
			found = found || n.Name.Name == "Partner"
		}
		return !found
	})
	return found
}
