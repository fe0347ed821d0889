package cost

import "bytes"

// MostObject bounds the bytes of a JSON object that is read from the output of a program.
const MostObject = 4 << 20

// keptBuffer is how large a buffer may be that is kept for the next object.
const keptBuffer = 64 << 10

// output finds the JSON objects in what a program writes, in pieces of any size: those that begin a line and end with it, and the
// objects in a list that does. All else is passed over. It holds one object at a time, and none of more than MostObject bytes.
type output struct {
	found   func(object []byte) // is called with each; it may not be valid JSON
	tooLong func(start []byte)  // is called with the first MostObject bytes of one that is longer

	at      place
	object  []byte // what has come of it
	isLong  bool   // it is longer than MostObject: nothing more is kept of it
	depth   int    // how many objects and lists are open in an item
	quoted  bool   // a string of an item is open
	escaped bool   // in it a backslash was last
}

// place is where the next byte stands.
type place int

const (
	lineStart place = iota
	inText          // of a line that has no more objects
	inLine          // that is an object
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
		case inLine:
			n := o.upToLineEnd(p)
			o.keep(bytes.TrimSuffix(p[:n], lineBreak))
			p = p[n:]
			if o.at == lineStart {
				o.end()
			}
		case inItem:
			n := o.upToItemEnd(p)
			o.keep(bytes.TrimSuffix(p[:n], lineBreak))
			p = p[n:]
			if o.at != inItem {
				o.end()
			}
		}
	}
}

// finish ends the object that is incomplete, if there is one, and with it the line.
func (o *output) finish() {
	if o.at == inLine || o.at == inItem {
		o.end()
	}
	o.at = lineStart
}

// enter goes on with the first byte of what is next in a line or a list.
func (o *output) enter(c byte) {
	switch {
	case c == '\n':
		o.at = lineStart
	case c == ' ', c == '\t', c == '\r', c == ',' && o.at == inList:
	case c == '{':
		if o.at == inList {
			o.at, o.depth, o.quoted, o.escaped = inItem, 1, false, false
		} else {
			o.at = inLine
		}
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
	o.at = lineStart
	return end + 1
}

// upToItemEnd returns how many bytes belong to the item. A line break ends it too: it can be in no JSON that is one line.
func (o *output) upToItemEnd(p []byte) int {
	for i, c := range p {
		switch {
		case c == '\n':
			o.at = lineStart
		case o.escaped:
			o.escaped = false
		case o.quoted:
			o.escaped, o.quoted = c == '\\', c != '"'
		case c == '"':
			o.quoted = true
		case c == '{', c == '[':
			o.depth++
		case c == '}', c == ']':
			if o.depth--; o.depth == 0 {
				o.at = inList
			}
		}
		if o.at != inItem {
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
		o.found(o.object)
	}
	o.isLong = false
	if o.object = o.object[:0]; cap(o.object) > keptBuffer {
		o.object = nil
	}
}
