package programs

import (
	"io"

	"holdco/domain/id"
	"holdco/ports/outbound"
)

// The sizes that tests need to know.
const (
	HeadSize = headSize
	TailSize = tailSize
)

// Log is the log of a run.
type Log struct{ l *runLog }

// NewLog makes the log of a run on a disk that can fail.
func (p *Programs) NewLog(company id.Company, run id.Run, disk *Disk) (Log, error) {
	root, err := p.makeCompany(company)
	if err != nil {
		return Log{}, err
	}
	defer root.Close()
	folder, err := makeOwn(root, logFolder)
	if err != nil {
		return Log{}, err
	}
	l, err := newLog(folder, run)
	if err != nil {
		return Log{}, err
	}
	made := l.create
	l.file = disk.wrap(l.file)
	l.create = func(name string) (io.WriteCloser, error) {
		if disk.Full != nil {
			return nil, disk.Full
		}
		file, err := made(name)
		return disk.wrap(file), err
	}
	return Log{l}, nil
}

// Write writes to the log.
func (l Log) Write(written []byte) { _, _ = l.l.Write(written) }

// Finish ends it.
func (l Log) Finish() { l.l.finish() }

// Disk fails writes while it is full. Some of what is written still fits.
type Disk struct {
	Full error
	Fits int
}

func (d *Disk) wrap(file io.WriteCloser) io.WriteCloser { return &diskFile{file, d} }

type diskFile struct {
	io.WriteCloser
	disk *Disk
}

func (f *diskFile) Write(written []byte) (int, error) {
	if f.disk.Full == nil {
		return f.WriteCloser.Write(written)
	}
	n, _ := f.WriteCloser.Write(written[:min(len(written), f.disk.Fits)])
	f.disk.Fits -= n
	return n, f.disk.Full
}

// Text is what lastOutput makes of what is written to it.
func Text(chunks ...string) string {
	output := lastOutput{max: outbound.MostOutput}
	for _, chunk := range chunks {
		_, _ = output.Write([]byte(chunk))
	}
	return output.text()
}
