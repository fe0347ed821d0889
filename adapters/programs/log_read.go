package programs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// gap is the line in place of what is missing.
const gap = "\n[... %d bytes left out ...]\n"

// Read implements outbound.RunLogs. Positions count what was written and not the line about what is missing, so they stay
// when the middle of the log is removed, and when it is put into one file.
func (p *Programs) Read(company id.Company, run id.Run, from int64) (written []byte, next int64, err error) {
	if written, next, err = p.read(company, run, max(from, 0)); errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fault.New(fault.NotFound, "This host has no log of the run.")
	}
	if err != nil {
		return nil, 0, fault.New(fault.Unavailable, "The log of the run cannot be read.").Because(err)
	}
	return written, next, nil
}

func (p *Programs) read(company id.Company, run id.Run, from int64) ([]byte, int64, error) {
	_, valid := id.Parse[id.Company](string(company))
	if _, validRun := id.Parse[id.Run](string(run)); !valid || !validRun { // they are names of files
		return nil, 0, fs.ErrNotExist
	}
	root, err := p.openCompany(company)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	folder, err := openOwn(root, logFolder)
	if err != nil {
		return nil, 0, err
	}
	defer folder.Close()
	parts, err := openParts(folder, run)
	if err != nil {
		return nil, 0, err
	}
	defer parts.close()
	var content bytes.Buffer
	next, err := parts.copy(&content, from)
	return content.Bytes(), next, err
}

// part is a piece of a log: the positions from start to end, which are in a file from at on.
type part struct {
	start, end int64
	at         int64
	file       *os.File
}

// logParts are the parts of a log in order. Between them something may be missing.
type logParts []part

func (l logParts) close() {
	for _, one := range l {
		_ = one.file.Close() // twice, if one file holds two parts
	}
}

// openParts opens what there is of a log, whether its writer is at work, has finished, or was killed.
func openParts(folder *os.Root, run id.Run) (logParts, error) {
	for {
		head, size, err := openRegular(folder, headName(run))
		if err != nil {
			return nil, err
		}
		if size > headSize {
			return whole(head, size), nil
		}
		parts := append(logParts{{0, size, 0, head}}, segments(folder, run, size)...)
		opened, failure := head.Stat()
		now, err := folder.Stat(headName(run))
		if failure == nil && err == nil && os.SameFile(opened, now) {
			return parts, nil
		}
		parts.close() // meanwhile the log became one file, which happens once, or was removed
	}
}

// segments opens those that follow a head of a size. One that is removed meanwhile is left out.
func segments(folder *os.Root, run id.Run, size int64) (parts logParts) {
	tail, err := openOwn(folder, tailName(run))
	if err != nil || size < headSize {
		return nil
	}
	defer tail.Close()
	entries, _ := fs.ReadDir(tail.FS(), ".")
	for _, entry := range entries {
		start, err := strconv.ParseInt(entry.Name(), 10, 64)
		if err != nil {
			continue // the whole log, which is being made
		}
		if file, size, err := openRegular(tail, entry.Name()); err == nil {
			parts = append(parts, part{start, start + size, 0, file})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return int(a.start - b.start) })
	return parts
}

// whole returns the parts of a log that was put into one file.
func whole(file *os.File, size int64) logParts {
	missing, line := int64(0), size-headSize-tailSize
	if line <= 0 {
		return logParts{{0, size, 0, file}}
	}
	if text := make([]byte, min(line, int64(len(gap)+20))); readAt(file, text, headSize) == nil {
		_, _ = fmt.Sscanf(string(text), gap, &missing)
	}
	return logParts{
		{0, headSize, 0, file},
		{headSize + missing, headSize + missing + tailSize, headSize + line, file},
	}
}

// lastOf returns the head, and of the rest the last bytes.
func (l logParts) lastOf(size int64) logParts {
	first := max(headSize, l[len(l)-1].end-size)
	last := logParts{l[0]}
	for _, one := range l[1:] {
		if cut := first - one.start; cut > 0 {
			one.start, one.at = first, one.at+cut
		}
		if one.start < one.end {
			last = append(last, one)
		}
	}
	return last
}

// copy writes what there is from a position on, with a line for what is missing, and returns the position after it.
func (l logParts) copy(to io.Writer, from int64) (next int64, err error) {
	for _, one := range l {
		if one.end <= from {
			continue
		}
		if missing := one.start - from; missing > 0 {
			if _, err := fmt.Fprintf(to, gap, missing); err != nil {
				return from, err
			}
			from = one.start
		}
		n, err := io.Copy(to, io.NewSectionReader(one.file, one.at+from-one.start, one.end-from))
		if from += n; err != nil {
			return from, err
		}
	}
	return from, nil
}

func readAt(file *os.File, into []byte, at int64) error {
	_, err := file.ReadAt(into, at)
	return err
}
