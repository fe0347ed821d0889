package programs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"holdco/adapters/programs"
	"holdco/domain/id"
)

func TestOldLogsAreFoundAndRemoved(t *testing.T) {
	t.Parallel()
	const company = id.Company("cmp_01j5ze2c4nf8vtkkq4d9w6m7xr")
	const old, young = id.Run("run_01j5ze2c4nf8vtkkq4d9w6m7xa"), id.Run("run_01j5ze2c4nf8vtkkq4d9w6m7xb")
	dir := t.TempDir()
	p := programs.New(programs.Options{DataDir: dir})
	t.Cleanup(func() { must(t, p.Close()) })
	before := time.Date(2026, 4, 11, 0, 0, 0, 0, time.UTC)
	if found, err := p.WrittenBefore(before); err != nil || found != nil {
		t.Fatal(found, err)
	}
	logs := filepath.Join(dir, "workspaces", string(company), "logs")
	must(t, os.MkdirAll(filepath.Join(logs, string(old)+".tail"), 0o700))
	must(t, os.WriteFile(filepath.Join(logs, string(old)+".tail", "524288"), []byte("end"), 0o600))
	for name, at := range map[string]time.Time{
		string(old) + ".log": before.Add(-time.Second), string(young) + ".log": before, "notes.log": before.Add(-time.Hour),
	} {
		must(t, os.WriteFile(filepath.Join(logs, name), []byte("abc"), 0o600))
		must(t, os.Chtimes(filepath.Join(logs, name), at, at))
	}
	found, err := p.WrittenBefore(before)
	if err != nil || len(found) != 1 || found[0].Company != company || found[0].Run != old || found[0].Bytes != 3 {
		t.Fatalf("%+v, %v", found, err)
	}
	for range 2 {
		must(t, p.Remove(company, old))
	}
	must(t, p.Remove("cmp_01j5ze2c4nf8vtkkq4d9w6m7xq", old))
	entries, err := os.ReadDir(logs)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v are left, %v", entries, err)
	}
}
