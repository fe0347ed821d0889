package usage

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/anyjson"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/money"
)

// Kind is the form in which a program says on its standard output what it costs.
type Kind string

// The forms.
const (
	None       Kind = "none"        // it says nothing
	ClaudeJSON Kind = "claude-json" // as claude -p --output-format json, or stream-json
	CodexJSON  Kind = "codex-json"  // as codex exec --json
	HoldcoJSON Kind = "holdco-json" // lines of {"holdco": {"cost": CHARGE}}, each a charge as the gateway takes it
)

// Kinds are all forms.
var Kinds = []Kind{None, ClaudeJSON, CodexJSON, HoldcoJSON}

// Report is what a program said in one run.
type Report struct {
	Charges []cost.Draft // each is valid, with a key of its own; there may be more than cost.MostInCall, but not more than MostCharges
	Dropped int          // how many charges it seems to have reported that could not be taken, or not in full: malformed ones, too many
	IsError bool         // it says that it failed, whatever its exit code
	Message string       // what it says went wrong, at most MessageLength characters, without control characters; empty: nothing
}

// Bounds of a report.
const (
	MostCharges   = 10_000
	MessageLength = 2000
)

// usageKey is the key of a charge that is the only one of a run.
const usageKey = "usage"

// Parser reads from the standard output of a program what its run costs. Its memory is bounded, whatever the program writes: an
// object of more than MostObject bytes is not read.
type Parser struct {
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

// NewParser makes a parser for a run of an agent. Charges that name no model are of the agent's; empty: it has none.
func NewParser(kind Kind, model string) *Parser {
	p := &Parser{}
	switch kind {
	case ClaudeJSON:
		p.form = &claudeForm{model: model}
	case CodexJSON:
		p.form = &codexForm{model: model}
	case HoldcoJSON:
		p.form = &holdcoForm{entries: map[string]cost.Entry{}}
	}
	p.output.found, p.output.tooLong = p.read, p.drop
	return p
}

// Write takes what the program wrote, in pieces of any size. It keeps nothing of written.
func (p *Parser) Write(written []byte) {
	if p.form != nil {
		p.output.write(written)
	}
}

// Report returns what the program reported, when it has ended.
func (p *Parser) Report() Report {
	if p.form == nil {
		return Report{}
	}
	p.output.finish()
	report := p.form.report()
	report.Dropped += p.dropped
	return report
}

func (p *Parser) read(object []byte) {
	if mark, _ := p.form.marks(); !bytes.Contains(object, []byte(mark)) { // the most, which need not be parsed
		return
	}
	fields, err := anyjson.Members(object, jsontext.AllowInvalidUTF8(true)) // a program may break a text anywhere
	if err != nil {
		p.drop(object)
	} else if !p.form.read(fields) {
		p.dropped++
	}
}

// drop counts an object that cannot be read if it seems to report a charge.
func (p *Parser) drop(object []byte) {
	if _, mark := p.form.marks(); bytes.Contains(object, []byte(mark)) {
		p.dropped++
	}
}

// isCharge reports whether a draft is a valid charge.
func isCharge(d cost.Draft) bool {
	var problems fault.Problems
	cost.Parse([]cost.Draft{d}, nil, &problems)
	return len(problems) == 0
}

// objectFields are the members of an object.
type objectFields []anyjson.Member

// get returns the value of a member, or nil.
func (f objectFields) get(name string) jsontext.Value {
	for _, field := range f {
		if field.Name == name {
			return field.Value
		}
	}
	return nil
}

// object returns the members of a member that is an object, and none if it is null or there is no such member. It reports whether it
// could be read.
func (f objectFields) object(name string) (objectFields, bool) {
	switch value := f.get(name); value.Kind() {
	case '{':
		fields, err := anyjson.Members(value, jsontext.AllowInvalidUTF8(true))
		return fields, err == nil
	default:
		return nil, value == nil || value.Kind() == 'n'
	}
}

// text returns the value of a member that is a string, or "".
func (f objectFields) text(name string) string {
	if value := f.get(name); value.Kind() == '"' {
		return anyjson.Text(value)
	}
	return ""
}

// count reads the value of a member, a number of tokens; 0 if there is no such member. It reports whether it is one.
func (f objectFields) count(name string) (int64, bool) {
	value := f.get(name)
	if name == "" || value == nil || value.Kind() == 'n' {
		return 0, true
	}
	if value.Kind() != '0' {
		return 0, false
	}
	number, err := money.Number(value).Scaled(0) // by value, not by spelling, as of a charge
	if err != nil || number < 0 || number > cost.MostTokens {
		return 0, false
	}
	return number, true
}

// tokens reads the members of these names; "" is none. It reports whether they are numbers of tokens.
func (f objectFields) tokens(input, output, cacheRead, cacheWrite string) (t cost.Tokens, ok bool) {
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

func draftOf(t cost.Tokens) *cost.TokensDraft {
	return &cost.TokensDraft{Input: &t.Input, Output: &t.Output, CacheRead: &t.CacheRead, CacheWrite: &t.CacheWrite}
}

// cleaned is a message of a program as reports have it.
func cleaned(message string) string {
	message = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(message, "\ufffd")))
	if runes := []rune(message); len(runes) > MessageLength {
		return string(runes[:MessageLength])
	}
	return message
}
