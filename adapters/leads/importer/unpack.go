package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

var gzipMagic = []byte{0x1f, 0x8b}

// errBehind is what is wrong with a file that goes on behind the end of what gzip packed. gzip.Reader calls that a broken header, or, of a
// few bytes, an end that comes too early.
var errBehind = errors.New("something follows the end of what gzip packed")

// unpacked reads what gzip packed, once or several times one after the other.
type unpacked struct {
	packed *counter
	member *gzip.Reader
}

// unpack begins to unpack a file.
func unpack(from *bufio.Reader) (*unpacked, error) {
	u := &unpacked{packed: &counter{from: from}}
	var err error
	if u.member, err = gzip.NewReader(u.packed); err != nil {
		return nil, err
	}
	u.member.Multistream(false)
	return u, nil
}

// read is how much of the packed file was read, in bytes.
func (u *unpacked) read() int64 { return u.packed.read }

// Read fails with errBehind when something else follows what gzip packed.
func (u *unpacked) Read(into []byte) (int, error) {
	for {
		n, err := u.member.Read(into)
		if n > 0 || !errors.Is(err, io.EOF) {
			if errors.Is(err, io.EOF) {
				err = nil // the next call finds out what follows
			}
			return n, err
		}
		magic, err := u.packed.from.Peek(len(gzipMagic))
		switch {
		case len(magic) > 0 && !bytes.Equal(magic, gzipMagic) && (err == nil || errors.Is(err, io.EOF)):
			return 0, errBehind
		case err != nil:
			return 0, err
		}
		if err := u.member.Reset(u.packed); err != nil {
			return 0, err
		}
		u.member.Multistream(false)
	}
}

// counter counts what is read. It is an io.ByteReader, because gzip would read ahead otherwise.
type counter struct {
	from *bufio.Reader
	read int64
}

func (c *counter) Read(into []byte) (int, error) {
	n, err := c.from.Read(into)
	c.read += int64(n)
	return n, err
}

// ReadByte implements io.ByteReader.
func (c *counter) ReadByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err == nil {
		c.read++
	}
	return b, err
}
