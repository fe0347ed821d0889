package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// A process that is killed while its input still arrives leaves nothing of it.
func TestWhatArrivesHasNoName(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	from := &input{name: "standard input", size: -1, Reader: readerFunc(func(into []byte) (int, error) {
		if found, err := os.ReadDir(dir); len(found) > 0 || err != nil {
			t.Errorf("%v, %v", found, err)
		}
		return copy(into, "Anna"), io.EOF
	})}
	if err := from.makeSeekable(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer from.close()
	for range 2 {
		if got, err := io.ReadAll(from); !bytes.Equal(got, []byte("Anna")) || err != nil || from.size != 4 {
			t.Errorf("%q of %d bytes, %v", got, from.size, err)
		}
		if err := from.rewind(); err != nil {
			t.Fatal(err)
		}
	}
}

// The list of what is wrong quotes people.
func TestWhatIsRejectedIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.errors.ndjson")
	list, err := newRejects(path, &input{})
	if err == nil {
		err = errors.Join(list.add(lead.ReportedLine{Number: 1, Outcome: lead.LineRejected}), list.close())
	}
	if about, statErr := os.Stat(path); errors.Join(err, statErr) != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, %v", about, err, statErr)
	}
}

func TestAFileOfIDsMayBeginWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	got, err := gatherIDs([]string{standardInput}, strings.NewReader("\ufeffcmp_1\r\n\r\ncmp_2\n"))
	if err != nil || !slices.Equal(got, []id.Lead{"cmp_1", "cmp_2"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := gatherIDs([]string{standardInput}, strings.NewReader("cmp_1\n\ufeffcmp_2")); err == nil {
		t.Error("a mark within the file is passed over")
	}
}

type readerFunc func(into []byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }
