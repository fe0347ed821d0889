package partial_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"holdco/adapters/system/partial"
)

func TestWritebackLeavesAFileAsItIs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made later")
	stop := partial.Writeback(path)
	time.Sleep(50 * time.Millisecond)
	want := bytes.Repeat([]byte("holdco"), 1<<20)
	check(t, os.WriteFile(path, want, 0o600))
	time.Sleep(50 * time.Millisecond)
	stop()
	stop()
	got, err := os.ReadFile(path)
	check(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes became others, or %d", len(want), len(got))
	}
}
