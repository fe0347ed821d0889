package wiring_test

import (
	"strings"
	"testing"
)

// Whoever objects is suppressed by the name that the file spells in its encoding, not by what the bytes would be in UTF-8.
func TestASuppressionReadsTheEncodingOfItsFile(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		f := &guideFiles{t: t, dir: dir, environ: environ}
		f.run("migrate", "up")
		objections := f.write("objections.csv", "name,email\nB\xe4ckerei M\xfcller,info@mueller.example\n")
		if printed, ok := runHoldco(t, environ, "leads", "suppress", objections); ok || !strings.Contains(printed, "windows-1252") {
			t.Errorf("without its encoding: %s", printed)
		}
		if printed, ok := runHoldco(t, environ, "leads", "suppress", objections, "--encoding", "latin-9"); ok ||
			!strings.Contains(printed, `--encoding must be one of utf-8, utf-16, windows-1252; it is "latin-9"`) {
			t.Errorf("with another: %s", printed)
		}
		f.run("leads", "suppress", objections, "--encoding", "windows-1252")
		leads := f.write("leads.csv", "name,email\nBäckerei Müller,info@mueller.example\nB,info@mueller.example\n")
		printed := strings.Join(strings.Fields(f.run("leads", "import", leads)), " ")
		if !strings.Contains(printed, "inserted 1 ") || !strings.Contains(printed, "suppressed 1 ") {
			t.Error(printed)
		}
	})
}
