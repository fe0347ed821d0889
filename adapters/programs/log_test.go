package programs_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdco/adapters/programs"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/redact"
	"holdco/ports/outbound"
)

// stream is text whose every place can be told from others.
var stream = sync.OnceValue(func() []byte {
	const lines = 3 << 20
	var text []byte
	for n := range lines {
		text = append(strconv.AppendInt(text, int64(n), 36), '\n')
	}
	return text
})

func numbered(from, size int) []byte { return stream()[from:][:size] }

// follower reads a log as it grows.
type follower struct {
	from    int64
	missing int64
}

// follow reads on, and checks what it gets against what was written.
func (f *follower) follow(t *rapid.T, logs outbound.RunLogs, run id.Run, written int) {
	got, next, err := logs.Read(company, run, f.from)
	if err != nil {
		t.Fatal(err)
	}
	for len(got) > 0 {
		if rest, found := bytes.CutPrefix(got, []byte("\n[... ")); found {
			var missing int64
			line, rest, _ := bytes.Cut(rest, []byte("\n"))
			if _, err := fmt.Sscanf(string(line), "%d bytes left out ...]", &missing); err != nil || missing <= 0 {
				t.Fatalf("at %d: %q, %v", f.from, line, err)
			}
			f.from, f.missing, got = f.from+missing, f.missing+missing, rest
			continue
		}
		size := bytes.Index(got, []byte("\n[... "))
		if size < 0 {
			size = len(got)
		}
		if want := numbered(int(f.from), size); !bytes.Equal(got[:size], want) {
			t.Fatalf("from %d on it reads %.20q, want %.20q", f.from, got, want)
		}
		f.from, got = f.from+int64(size), got[size:]
	}
	if next != f.from || next != int64(written) {
		t.Fatalf("the next position is %d after %d of %d bytes", next, f.from, written)
	}
}

func TestWhoeverFollowsALogMissesNothingUnseen(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		run := runOf(w.t, fmt.Sprint(runs))
		log, err := w.NewLog(company, run, &programs.Disk{})
		if err != nil {
			t.Fatal(err)
		}
		const largest = programs.HeadSize + 3*programs.TailSize
		sizes := rapid.OneOf(rapid.IntRange(0, 100), rapid.SampledFrom([]int{programs.HeadSize, programs.TailSize, 100_000}),
			rapid.IntRange(0, largest))
		always, sometimes := &follower{}, &follower{}
		written := 0
		for n, size := range rapid.SliceOfN(sizes, 1, 5).Draw(t, "sizes") {
			log.Write(numbered(written, size))
			written += size
			always.follow(t, w, run, written)
			if n%3 == 2 {
				sometimes.follow(t, w, run, written)
			}
			if size <= programs.TailSize && always.missing > 0 && n == 0 {
				t.Errorf("%d bytes are missing", always.missing)
			}
			(&follower{}).follow(t, w, run, written) // as one whose writer was killed
		}
		finished := make(chan struct{})
		go func() {
			log.Finish()
			close(finished)
		}()
		for ended := false; !ended; {
			select {
			case <-finished:
				ended = true
			default:
			}
			(&follower{}).follow(t, w, run, written)
		}
		always.follow(t, w, run, written)
		sometimes.follow(t, w, run, written)
		fresh := &follower{}
		fresh.follow(t, w, run, written)
		if want := max(0, int64(written)-programs.HeadSize-programs.TailSize); fresh.missing != want {
			t.Errorf("of %d bytes %d are missing, want %d", written, fresh.missing, want)
		}
		for _, from := range []int{1, programs.HeadSize - 1, programs.HeadSize, programs.HeadSize + 1, written - 1, written} {
			if from >= 0 && from <= written {
				(&follower{from: int64(from)}).follow(t, w, run, written)
			}
		}
		files, err := filepath.Glob(filepath.Join(w.data, "workspaces", "*", "logs", string(run)+"*"))
		if err != nil || len(files) != 1 {
			t.Errorf("left are %v, %v", files, err)
		}
	})
}

func TestOneThatKeepsUpMissesNothing(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		run := runOf(w.t, fmt.Sprint(runs))
		log, err := w.NewLog(company, run, &programs.Disk{})
		if err != nil {
			t.Fatal(err)
		}
		f, written := &follower{}, 0
		for _, size := range rapid.SliceOfN(rapid.IntRange(0, programs.TailSize), 1, 8).Draw(t, "sizes") {
			log.Write(numbered(written, size))
			written += size
			f.follow(t, w, run, written)
		}
		log.Finish()
		if f.follow(t, w, run, written); f.missing > 0 {
			t.Errorf("%d bytes are missing", f.missing)
		}
	})
}

func TestALogSaysWhatItCouldNotWrite(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	disk := &programs.Disk{}
	log, err := w.NewLog(company, w.id, disk)
	must(t, err)
	log.Write([]byte("before "))
	disk.Full, disk.Fits = syscall.ENOSPC, 3
	log.Write([]byte("never"))
	log.Write([]byte(" at all"))
	disk.Full = nil
	log.Write([]byte("after"))
	const want = "before nev\n[... 9 bytes could not be written: no space left on device ...]\nafter"
	if got := w.log(); got != want {
		t.Errorf("the log is %q", got)
	}

	log.Write(numbered(0, programs.HeadSize-len(want))) // the next segment cannot be made
	disk.Full, disk.Fits = syscall.EIO, 0
	log.Write([]byte("lost"))
	disk.Full = nil
	log.Finish()
	if got := w.log()[programs.HeadSize:]; got != "\n[... 4 bytes could not be written: input/output error ...]\n" {
		t.Errorf("the log ends with %q", got)
	}
}

func TestALogThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	check := func(company id.Company, run id.Run) {
		t.Helper()
		if _, _, err := w.Read(company, run, 0); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Read(%q, %q) = %v", company, run, err)
		}
	}
	check(company, w.id)
	w.run(script("echo here"))
	check(company, runOf(t, "other"))
	check(id.New[id.Company]([16]byte{15: 9}), w.id)
	check("..", w.id)
	check(company, "../logs/"+w.id)
	for from, want := range map[int64]string{-5: "here\n", 0: "here\n", 2: "re\n", 5: ""} {
		if got, next, err := w.Read(company, w.id, from); string(got) != want || next != 5 || err != nil {
			t.Errorf("from %d on: %q, %d, %v", from, got, next, err)
		}
	}
	if got, next, err := w.Read(company, w.id, 99); len(got) != 0 || next != 99 || err != nil {
		t.Errorf("after the end: %q, %d, %v", got, next, err)
	}
	must(t, os.RemoveAll(filepath.Join(w.data, "workspaces", string(company))))
	check(company, w.id)
}

// It is not parallel: it looks at the memory of this process.
func TestOutputWithoutEndTakesBoundedMemoryAndDisk(t *testing.T) {
	w := newPrograms(t)
	size := 1_000_000_000
	if testing.Short() || isSlow {
		size /= 5
	}
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	program := script(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", size))
	program.Hidden = redact.New(map[string]string{"secret": "[secret]"})
	passed := 0
	program.Output = func(written []byte) { passed += len(written) }
	running := w.start(program)
	var read, missing, next int64
	most := int64(0)
	for ended := false; !ended; time.Sleep(time.Millisecond) {
		select {
		case <-running.Ended():
			ended = true
		default:
		}
		got, after, err := w.Read(company, w.id, next)
		must(t, err)
		kept := int64(bytes.Count(got, []byte("x")))
		read, missing, next = read+kept, missing+after-next-kept, after
		most = max(most, w.onDisk())
		runtime.ReadMemStats(&now)
		if grown := int64(now.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
			t.Fatalf("%d more bytes are in use", grown)
		}
	}
	if next != int64(size) || read+missing != int64(size) || passed != size {
		t.Errorf("of %d bytes %d were read, %d missing, %d passed on", size, read, missing, passed)
	}
	// A look at the files is not of one moment: a segment may be counted that had to go for the one that is counted too.
	if most > programs.HeadSize+3*programs.TailSize || w.onDisk() > programs.HeadSize+programs.TailSize+100 {
		t.Errorf("the log took up to %d bytes, and takes %d", most, w.onDisk())
	}
	head, tail := strings.Repeat("x", programs.HeadSize), strings.Repeat("x", programs.TailSize)
	if want := fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", head, size-len(head)-len(tail), tail); w.log() != want {
		t.Errorf("the log has %d bytes, want %d", len(w.log()), len(want))
	}
	file, err := os.ReadFile(filepath.Join(w.data, "workspaces", string(company), "logs", string(w.id)+".log"))
	if err != nil || string(file) != w.log() {
		t.Errorf("the file has %d bytes, %v", len(file), err)
	}
	t.Logf("at most %d bytes on disk", most)
}

// onDisk returns how many bytes logs take, apart from the file that takes their place in the end.
func (w watched) onDisk() (total int64) {
	_ = filepath.WalkDir(filepath.Join(w.data, "workspaces", string(company), "logs"), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "whole" {
			return nil //nolint:nilerr // files come and go
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
