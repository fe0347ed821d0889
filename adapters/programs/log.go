package programs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"holdco/domain/id"
)

const (
	// headSize is how much is kept of the beginning of a log, tailSize of its end, in bytes.
	headSize = 512 << 10
	tailSize = 512 << 10
)

// runLog is the log of a program that runs. A program may write without end, be killed together with Holdco, and have its
// log read by another process meanwhile, so nothing about a log is in memory alone:
//
//	<run>.log           the head: the first headSize bytes
//	<run>.tail/<start>  then segments of tailSize bytes, named by the position of their first byte, of which two are kept
//
// In the end a log that has segments becomes one file, which takes the place of <run>.log at once: the head, a line that
// says how much is missing, if anything is, and the last tailSize bytes. Such a file is longer than headSize; and if it is
// longer than headSize+tailSize, that line is what it is longer by.
//
// To write never fails: what cannot be written is dropped, and a line says so as soon as something can be written again.
// It is safe for concurrent use.
type runLog struct {
	mu       sync.Mutex
	folder   *os.Root
	run      id.Run
	create   func(name string) (io.WriteCloser, error) // in the folder
	file     io.WriteCloser                            // the last of those above
	room     int                                       // what still fits into it
	end      int64                                     // how much was written
	segments []int64                                   // their first positions
	dropped  int64
	why      error
}

// newLog makes the log of a run, which must not have one.
func newLog(folder *os.Root, run id.Run) (*runLog, error) {
	l := &runLog{folder: folder, run: run, room: headSize}
	l.create = func(name string) (io.WriteCloser, error) { return create(folder, name) }
	var err error
	l.file, err = l.create(headName(run))
	return l, err
}

func headName(run id.Run) string { return string(run) + ".log" }

func tailName(run id.Run) string { return string(run) + ".tail" }

func segmentName(run id.Run, start int64) string {
	return filepath.Join(tailName(run), strconv.FormatInt(start, 10))
}

// Write implements io.Writer.
func (l *runLog) Write(written []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admit()
	n := 0
	if l.dropped == 0 {
		n, l.why = l.append(written)
	}
	l.dropped += int64(len(written) - n)
	return len(written), nil
}

// admit writes how much was dropped, if anything was and the log can be written again.
func (l *runLog) admit() {
	if l.dropped == 0 {
		return
	}
	line := fmt.Sprintf("\n[... %d bytes could not be written: %s ...]\n", l.dropped, reason(l.why))
	if _, err := l.append([]byte(line)); err == nil {
		l.dropped = 0
	}
}

func (l *runLog) append(written []byte) (int, error) {
	total := 0
	for total < len(written) {
		if l.room == 0 {
			if err := l.next(); err != nil {
				return total, err
			}
		}
		n, err := l.file.Write(written[total:min(len(written), total+l.room)])
		total, l.room, l.end = total+n, l.room-n, l.end+int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// next begins a segment.
func (l *runLog) next() error {
	if err := l.folder.Mkdir(tailName(l.run), private); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	file, err := l.create(segmentName(l.run, l.end))
	if err != nil {
		return err
	}
	_ = l.file.Close() // what it could not write is known
	l.file, l.room, l.segments = file, tailSize, append(l.segments, l.end)
	if len(l.segments) > 2 {
		_ = l.folder.Remove(segmentName(l.run, l.segments[0])) // if not now, then with the others in the end
		l.segments = slices.Delete(l.segments, 0, 1)
	}
	return nil
}

// finish ends the log. If its parts cannot be put together, they stay, and are read as before.
func (l *runLog) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admit()
	_ = l.file.Close()
	if len(l.segments) > 0 && l.join() == nil {
		_ = l.folder.RemoveAll(tailName(l.run))
	}
	_ = l.folder.Close()
}

func (l *runLog) join() error {
	parts, err := openParts(l.folder, l.run)
	if err != nil {
		return err
	}
	defer parts.close()
	whole := filepath.Join(tailName(l.run), "whole")
	file, err := create(l.folder, whole)
	if err != nil {
		return err
	}
	_, err = parts.lastOf(tailSize).copy(file, 0)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, l.folder.Remove(whole))
	}
	return l.folder.Rename(whole, headName(l.run))
}
