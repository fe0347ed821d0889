package postgres

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/backup"
)

// copyText is rows in the text format of COPY.
type copyText struct {
	table string
	names []jsontext.Value // of the columns, as the first row has them
	rows  []byte
}

// copyTextOf makes rows of objects of JSON, which name the same columns in the same order.
func copyTextOf(table string, objects []byte) (copyText, error) {
	made := copyText{table: table, rows: make([]byte, 0, len(objects))}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(objects), jsontext.AllowDuplicateNames(true)) // each row names what the first does
	for {
		err := made.add(decoder)
		var wrong *jsontext.SyntacticError
		switch {
		case errors.Is(err, io.EOF):
			return made, nil
		case errors.As(err, &wrong), errors.Is(err, io.ErrUnexpectedEOF):
			return copyText{}, backup.Broken("a row of %s is not JSON: %s", table, err)
		case err != nil:
			return copyText{}, err
		}
	}
}

// add makes the next row. It returns io.EOF if there is none.
func (c *copyText) add(decoder *jsontext.Decoder) error {
	begin, err := decoder.ReadToken()
	if err != nil {
		return err
	}
	if begin.Kind() != '{' {
		return backup.Broken("a row of %s is no object", c.table)
	}
	isFirst := len(c.rows) == 0
	for n := 0; ; n++ {
		if decoder.PeekKind() == '}' {
			if n != len(c.names) {
				return c.otherColumns()
			}
			_, err := decoder.ReadToken()
			c.rows = append(c.rows, '\n')
			return err
		}
		name, err := decoder.ReadValue()
		switch {
		case err != nil:
			return err
		case isFirst:
			c.names = append(c.names, name.Clone())
		case n >= len(c.names) || !bytes.Equal(name, c.names[n]):
			return c.otherColumns()
		}
		value, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		if n > 0 {
			c.rows = append(c.rows, '\t')
		}
		c.rows = appendCopyText(c.rows, value)
	}
}

func (c *copyText) otherColumns() error {
	return backup.Broken("a row of %s has other columns than the first", c.table)
}

// columns are the names of the columns.
func (c *copyText) columns() []string {
	names := make([]string, len(c.names))
	for i, name := range c.names {
		names[i] = string(unquoted(name))
	}
	return names
}

// unquoted is the text of a string that a decoder has read.
func unquoted(value jsontext.Value) []byte {
	text, _ := jsontext.AppendUnquote(nil, value)
	return text
}

// appendCopyText appends a value in the text format of COPY, which has the escapes of JSON but for those of a code point.
func appendCopyText(to []byte, value jsontext.Value) []byte {
	switch value.Kind() {
	case 'n':
		return append(to, `\N`...)
	case '"':
		if text := value[1 : len(value)-1]; !bytes.Contains(text, []byte(`\u`)) {
			return append(to, text...)
		}
		return appendEscaped(to, unquoted(value))
	default:
		return appendEscaped(to, value)
	}
}

func appendEscaped(to, text []byte) []byte {
	for _, char := range text {
		switch char {
		case '\\':
			to = append(to, `\\`...)
		case '\t':
			to = append(to, `\t`...)
		case '\n':
			to = append(to, `\n`...)
		case '\r':
			to = append(to, `\r`...)
		default:
			to = append(to, char)
		}
	}
	return to
}
