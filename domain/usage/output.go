package usage

import "bytes"

// MostObject bounds the bytes of a JSON object that is read from the output of a program.
const MostObject = 4 << 20

// keptBuffer is how large a buffer may be that is kept for the next object.
const keptBuffer = 64 << 10

// output finds the JSON objects in what a program writes, in pieces of any size: those that begin a line and end with one, and the
// objects in a list that is one line. All else is passed over. It holds one object at a time, and none of more than MostObject bytes.
//
// An object that is not complete at the end of a line goes on in the next one if that is indented further than the first, or begins
// with its closing brace, as all who print JSON for people do it. So a line of other output that begins with a brace does not hide
// what comes after it.
type output struct {
	found   func(object []byte) // is called with each; it may not be valid JSON
	tooLong func(start []byte)  // is called with the first MostObject bytes of one that is longer

	at      place
	indent  int    // of the line, as far as it has come
	began   int    // the indent of the line in which the object began
	object  []byte // what has come of it
	isLong  bool   // it is longer than MostObject: nothing more is kept of it
	depth   int    // how many objects and lists are open in it
	quoted  bool   // a string of it is open
	escaped bool   // in it a backslash was last
}

// place is where the next byte stands.
type place int

const (
	lineStart place = iota
	inText          // of a line that has no more objects
	inLine          // that belongs to an object
	inBreak         // before a line that may belong to an object
	inList          // that is a line, between its items
	inItem          // of a list, an object
)

var lineBreak = []byte("\n")

func (o *output) write(p []byte) {
	for len(p) > 0 {
		switch o.at {
		case lineStart, inList:
			o.enter(p[0])
			p = p[1:]
		case inText:
			p = p[o.upToLineEnd(p):]
		case inBreak:
			p = p[o.goOn(p[0]):]
		case inLine, inItem:
			n := o.upToObjectEnd(p)
			o.keep(bytes.TrimSuffix(p[:n], lineBreak))
			p = p[n:]
			if o.at == lineStart || o.at == inList {
				o.end()
			}
		}
	}
}

// finish ends the object that is incomplete, if there is one, and with it the line.
func (o *output) finish() {
	if o.at == inLine || o.at == inBreak || o.at == inItem {
		o.end()
	}
	o.at = lineStart
}

// enter goes on with the first byte of what is next in a line or a list.
func (o *output) enter(c byte) {
	switch {
	case c == '\n':
		o.at, o.indent = lineStart, 0
	case c == ' ', c == '\t', c == '\r':
		o.indent++
	case c == ',' && o.at == inList:
	case c == '{':
		if o.at == inList {
			o.at = inItem
		} else {
			o.at = inLine
		}
		o.began, o.depth, o.quoted, o.escaped = o.indent, 1, false, false
		o.keep([]byte{c})
	case c == '[' && o.at == lineStart:
		o.at = inList
	default:
		o.at = inText
	}
}

// upToLineEnd returns how many bytes belong to the line.
func (o *output) upToLineEnd(p []byte) int {
	end := bytes.IndexByte(p, '\n')
	if end < 0 {
		return len(p)
	}
	o.at, o.indent = lineStart, 0
	return end + 1
}

// goOn goes on with the first byte of what comes after a line at whose end the object was open. It returns how many bytes it took.
func (o *output) goOn(c byte) int {
	switch {
	case c == '\n':
		o.indent = 0
	case c == ' ', c == '\t', c == '\r':
		o.indent++
	case c == '}', o.indent > o.began:
		o.at = inLine
		o.keep(lineBreak)
		return 0
	default:
		o.at = lineStart
		o.end()
		return 0
	}
	return 1
}

// upToObjectEnd returns how many bytes belong to the item, or to the line, whatever comes in that after the object. A line break ends
// an item, and a string.
func (o *output) upToObjectEnd(p []byte) int {
	before := o.at
	for i, c := range p {
		switch {
		case c == '\n':
			o.indent = 0
			if o.at == inLine && o.depth > 0 && !o.quoted {
				o.at = inBreak
			} else {
				o.at = lineStart
			}
		case o.escaped:
			o.escaped = false
		case o.quoted:
			o.escaped, o.quoted = c == '\\', c != '"'
		case c == '"':
			o.quoted = true
		case c == '{', c == '[':
			o.depth++
		case c == '}', c == ']':
			if o.depth--; o.depth == 0 && o.at == inItem {
				o.at = inList
			}
		}
		if o.at != before {
			return i + 1
		}
	}
	return len(p)
}

func (o *output) keep(p []byte) {
	if o.isLong {
		return
	}
	if room := MostObject - len(o.object); len(p) > room {
		o.isLong = true
		o.tooLong(append(o.object, p[:room]...))
		o.object = nil
		return
	}
	o.object = append(o.object, p...)
}

func (o *output) end() {
	if !o.isLong {
		o.found(bytes.TrimRight(o.object, " \t\r,]")) // after it the list may go on, or end
	}
	o.isLong = false
	if o.object = o.object[:0]; cap(o.object) > keptBuffer {
		o.object = nil
	}
}
