package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"holdco/domain/fault"
)

// source reads a file by its lines.
type source struct {
	from   *bufio.Reader
	packed *unpacked // nil: the file is not packed
	offset int64     // bytes that were read, unpacked
	line   int64     // lines that were read

	unread []byte // what comes before from
	long   []byte // a line that is longer than what is read ahead
}

// end is how much of the file was read.
func (s *source) end() int64 {
	if s.packed != nil {
		return s.packed.read()
	}
	return s.offset
}

// nextLine returns the next line that is not blank. Of one that is too long nobody knows if it is: only its beginning was kept.
func (s *source) nextLine() (piece, error) {
	for {
		text, err := s.read()
		if err != nil {
			return piece{}, err
		}
		if len(bytes.TrimRight(text, "\r\n")) <= MostLine {
			text = bytes.TrimSpace(text)
		}
		if len(text) > 0 {
			return s.piece(s.line, text), nil
		}
	}
}

// piece makes a piece of what begins in a line and was just read.
func (s *source) piece(number int64, text []byte) piece {
	p := piece{number: number, end: s.end(), text: text}
	if len(text) > MostLine {
		p.broken, p.code = fmt.Sprintf("the line has more than %d bytes", MostLine), fault.TooLong
	}
	return p
}

// read returns the next line with its end, until the next call. Of one that is longer than MostLine, enough is
// returned to detect it, and the end.
func (s *source) read() ([]byte, error) {
	s.line++
	if len(s.unread) > 0 {
		text := s.unread
		if at := bytes.IndexByte(text, '\n'); at >= 0 {
			text = text[:at+1]
		}
		s.unread = s.unread[len(text):]
		s.offset += int64(len(text))
		return text, nil
	}
	text, err := s.from.ReadSlice('\n')
	s.offset += int64(len(text))
	if errors.Is(err, bufio.ErrBufferFull) {
		s.long = append(s.long[:0], text...)
		for errors.Is(err, bufio.ErrBufferFull) {
			text, err = s.from.ReadSlice('\n')
			s.offset += int64(len(text))
			switch {
			case len(s.long) <= MostLine:
				s.long = append(s.long, text...)
			case err == nil:
				s.long = append(s.long, '\n') // the next line is another one, also when both are read again
			}
		}
		text = s.long
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && s.packed != nil {
		err = fmt.Errorf("what gzip packed is cut off after %d bytes, in line %d: %w", s.packed.read(), s.line, err)
	}
	if errors.Is(err, io.EOF) && len(text) > 0 {
		err = nil // the last line has no end
	}
	return text, err
}

// back unreads the lines that were read after a line.
func (s *source) back(text []byte, line int64) {
	s.unread = slices.Concat(text, s.unread)
	s.offset -= int64(len(text))
	s.line = line
}
