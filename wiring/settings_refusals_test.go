package wiring_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Each line says what is wrong and what to do, with the exit code for that.
func TestAStartThatCannotSucceedSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"serve", "--no-backup", "--backup-first"}, 2, `--backup-first does not go with --no-backup; see "holdco serve --help"`},
		{[]string{"serve", "--no-migrate", "--no-backup"}, 2, `--no-backup does not go with --no-migrate; see "holdco serve --help"`},
		{[]string{"serve", "--no-migrate", "--backup-first"}, 2, `--backup-first does not go with --no-migrate; see "holdco serve --help"`},
		{[]string{"serve", "--data-dir", file}, 1, "HOLDCO_DATA_DIR must be a directory that the server can write to; " +
			"let its user own it, or name another: mkdir " + file + ": not a directory"},
		{[]string{"backup", "--database-url", "sqlite://" + dir, filepath.Join(dir, "b")}, 1, dir + " is a folder; " +
			"the store needs the name of a file, such as " + filepath.Join(dir, "holdco.db")},
		{[]string{"restore", "--database-url", "sqlite://" + dir, filepath.Join(dir, "b")}, 1, "There is no such file: " +
			filepath.Join(dir, "b")},
	} {
		command := exec.Command("holdco", c.args...)
		command.Env = append(os.Environ(), dataDir+dir)
		printed, err := command.CombinedOutput()
		if string(printed) != "holdco: "+c.says+"\n" || command.ProcessState.ExitCode() != c.code {
			t.Errorf("%q: %v: %s", c.args, err, printed)
		}
	}
}
