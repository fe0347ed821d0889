package cost

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/fault"
)

// UsageKind is the form in which a program says on its standard output what it costs.
type UsageKind string

// The forms.
const (
	NoUsage    UsageKind = "none"        // it says nothing
	ClaudeJSON UsageKind = "claude-json" // as claude -p --output-format json, or stream-json
	CodexJSON  UsageKind = "codex-json"  // as codex exec --json
	HoldcoJSON UsageKind = "holdco-json" // lines of {"holdco": {"cost": CHARGE}}, each a charge as the gateway takes it
)

// UsageKinds are all forms.
var UsageKinds = []UsageKind{NoUsage, ClaudeJSON, CodexJSON, HoldcoJSON}

// Report is what a program said in one run.
type Report struct {
	Charges []Draft // each is valid, and has a key of its own; there may be more than MostInCall, but not more than MostReported
	Dropped int     // how many charges it seems to have reported that could not be taken, or not in full: malformed ones, too many
	IsError bool    // it says that it failed, whatever its exit code
	Message string  // what it says went wrong, at most ReportLength characters, without control characters; empty: nothing
}

// Bounds of a report.
const (
	MostReported = 10_000
	ReportLength = 2000
)

// usageKey is the key of a charge that is the only one of a run.
const usageKey = "usage"

// Usage reads from the standard output of a program what its run costs. Its memory is bounded, whatever the program writes: an
// object of more than MostObject bytes is not read.
type Usage struct {
	output  output
	form    form // nil: the program says nothing
	dropped int
}

// form reads the objects of one form of usage.
type form interface {
	// marks are in every object that it reads, and in every one that reports a charge.
	marks() (object, charge string)

	// read reads an object, and reports whether it could take it. What is none of this form it passes over.
	read(fields objectFields) bool

	// report is what was read.
	report() Report
}

// NewUsage makes a reader for a run of an agent. Charges that name no model are of the agent's; empty: it has none.
func NewUsage(kind UsageKind, model string) *Usage {
	u := &Usage{}
	switch kind {
	case ClaudeJSON:
		u.form = &claudeForm{model: model}
	case CodexJSON:
		u.form = &codexForm{model: model}
	case HoldcoJSON:
		u.form = &holdcoForm{entries: map[string]Entry{}}
	}
	u.output.found, u.output.tooLong = u.read, u.drop
	return u
}

// Write takes what the program wrote, in pieces of any size. It keeps nothing of written.
func (u *Usage) Write(written []byte) {
	if u.form != nil {
		u.output.write(written)
	}
}

// Report returns what the program reported, when it has ended.
func (u *Usage) Report() Report {
	if u.form == nil {
		return Report{}
	}
	u.output.finish()
	report := u.form.report()
	report.Dropped += u.dropped
	return report
}

func (u *Usage) read(object []byte) {
	if mark, _ := u.form.marks(); !bytes.Contains(object, []byte(mark)) { // the most, which need not be parsed
		return
	}
	fields, err := membersOf(object, jsontext.AllowInvalidUTF8(true)) // a program may break a text anywhere
	if err != nil {
		u.drop(object)
	} else if !u.form.read(fields) {
		u.dropped++
	}
}

// drop counts an object that cannot be read if it seems to report a charge.
func (u *Usage) drop(object []byte) {
	if _, mark := u.form.marks(); bytes.Contains(object, []byte(mark)) {
		u.dropped++
	}
}

// isValid reports whether a draft is a charge.
func (d Draft) isValid() bool {
	var problems fault.Problems
	Parse([]Draft{d}, &problems)
	return len(problems) == 0
}

// objectFields are the members of an object.
type objectFields []member

// get returns the value of a member, or nil.
func (f objectFields) get(name string) jsontext.Value {
	for _, field := range f {
		if field.name == name {
			return field.value
		}
	}
	return nil
}

// object returns the members of a member that is an object, and none if it is null or there is no such member. It reports whether it
// could be read.
func (f objectFields) object(name string) (objectFields, bool) {
	switch value := f.get(name); value.Kind() {
	case '{':
		fields, err := membersOf(value, jsontext.AllowInvalidUTF8(true))
		return fields, err == nil
	default:
		return nil, value == nil || value.Kind() == 'n'
	}
}

// text returns the value of a member that is a string, or "".
func (f objectFields) text(name string) string {
	if value := f.get(name); value.Kind() == '"' {
		return unquoted(value)
	}
	return ""
}

// count reads the value of a member, a number of tokens; 0 if there is no such member. It reports whether it is one.
func (f objectFields) count(name string) (int64, bool) {
	value := f.get(name)
	if name == "" || value == nil || value.Kind() == 'n' {
		return 0, true
	}
	var problems fault.Problems
	var number *int64
	readInteger(name, value, &number, &problems)
	if number == nil || *number < 0 || *number > MostTokens {
		return 0, false
	}
	return *number, true
}

// tokens reads the members of these names; "" is none. It reports whether they are numbers of tokens.
func (f objectFields) tokens(input, output, cacheRead, cacheWrite string) (t Tokens, ok bool) {
	ok = true
	for _, field := range []struct {
		name string
		to   *int64
	}{{input, &t.Input}, {output, &t.Output}, {cacheRead, &t.CacheRead}, {cacheWrite, &t.CacheWrite}} {
		count, isCount := f.count(field.name)
		*field.to, ok = count, ok && isCount
	}
	return t, ok
}

func (t Tokens) draft() *TokensDraft {
	return &TokensDraft{Input: &t.Input, Output: &t.Output, CacheRead: &t.CacheRead, CacheWrite: &t.CacheWrite}
}

// cleaned is a message of a program as reports have it.
func cleaned(message string) string {
	message = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(message, "\ufffd")))
	if runes := []rune(message); len(runes) > ReportLength {
		return string(runes[:ReportLength])
	}
	return message
}
