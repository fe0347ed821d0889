package processtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// slow is what "make quick" leaves out, by the names of tests.
var slow = regexp.MustCompile(`(?i)postgres|redis|browser|javascript|realprogram`)

// CheckName fails a test that needs an installed program, unless its name or the folder of its package lets "make quick"
// leave it out.
func CheckName(t testing.TB, program string) {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if !slow.MatchString(t.Name()) && !slow.MatchString(filepath.Base(folder)) {
		t.Fatalf("this test needs %s: make quick leaves it out only if its name matches %s", program, slow)
	}
}
