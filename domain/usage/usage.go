package usage

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/anyjson"
	"holdco/domain/cost"
)

// Kind is the form in which a program says on its standard output what it costs.
type Kind string

// The forms.
const (
	None         Kind = "none"          // it says nothing
	ClaudeJSON   Kind = "claude-json"   // as claude -p --output-format json, or stream-json
	CodexJSON    Kind = "codex-json"    // as codex exec --json
	GeminiJSON   Kind = "gemini-json"   // as gemini --output-format stream-json, or json
	OpencodeJSON Kind = "opencode-json" // as opencode run --format json
	HoldcoJSON   Kind = "holdco-json"   // lines of {"holdco": {"cost": CHARGE}}, each a charge as the gateway takes it
)

// HasEvents reports whether the output is for programs: what people are to read of it is in Report.
func (k Kind) HasEvents() bool { return k != None && k != HoldcoJSON }

// Kinds are all forms.
var Kinds = []Kind{None, ClaudeJSON, CodexJSON, GeminiJSON, OpencodeJSON, HoldcoJSON}

// Options are what a parser knows besides the output.
type Options struct {
	Model   string                 // of the agent: charges that name no model are of it; empty: it has none
	Command []string               // of the program, with its arguments: they may name a model where the output and the agent do not
	Threads map[string]cost.Tokens // what earlier runs were charged for threads that this run may resume: see cost.Entry.Session
}

// Report is what a program said in one run, without its charges, which are due one after the other: see Parser.Due.
type Report struct {
	Dropped int    // how many charges it seems to have reported that could not be taken, or not in full: malformed ones, too many
	IsDone  bool   // it said that it succeeded, and did not go on after that
	IsError bool   // it said that it failed, whatever its exit code
	Message string // what it says went wrong: text, at most MessageLength characters, without control characters; empty: nothing
	Result  string // its final message, or the last one so far: the first ResultSize bytes at most, valid UTF-8; empty: none

	// Setback is why it could not work. It is zero if the program succeeded or went on to work after the setback.
	Setback Setback
}

// Bounds of a report.
const (
	MostCharges   = 10_000
	MessageLength = 2000
	ResultSize    = 256 << 10
)

// Parser reads from the standard output of a program what its run costs, while it runs and at its end. Its memory is bounded, whatever
// the program writes: an object of more than MostObject bytes is not read. It is not safe for concurrent use.
//
// While the program runs, and again after Report, its caller charges what is due:
//
//	for {
//		drafts := parser.Due(cost.MostInCall)
//		if len(drafts) == 0 {
//			break
//		}
//		entries, err := charge(drafts) // the entries that were made, or, of a repeated call, those that had been made
//		if err != nil {
//			break // the same drafts are due again
//		}
//		parser.Charged(entries...)
//	}
type Parser struct {
	output  output
	form    form // nil: the program says nothing
	ledger  ledger
	dropped int
}

// form reads the objects of one form of usage.
type form interface {
	// marks are in every object that it reads, and in every one that reports a charge.
	marks() (object, charge string)

	// read reads an object, and reports whether it could take it. What is none of this form it passes over.
	read(fields objectFields) bool

	// shown is what the program has used so far.
	shown() shown

	// said is how the run went.
	said() *outcome
}

// NewParser makes a parser for a run.
func NewParser(kind Kind, options Options) *Parser {
	p := &Parser{}
	switch kind {
	case ClaudeJSON:
		p.form = &claudeForm{model: options.Model}
	case CodexJSON:
		p.form = newCodexForm(options)
	case GeminiJSON:
		p.form = newGeminiForm(options)
	case OpencodeJSON:
		p.form = newOpencodeForm(options)
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

// Due returns charges for what the output has shown and that was not charged: at most limit, each valid, with a key that no other
// charge of the run has. Until Charged is called for them, the same charges are due, so that a call whose outcome is unknown can be
// repeated. No more charges are due when it returns none.
//
// Their sum is exact: of a program that reports dollars for all that it used, what was charged by tokens before is taken off, so that
// it is charged what it reports, or, if the tokens came to more, what they came to. If the price of its model is not known, its tokens
// wait for these dollars, and are charged after Report if the program ended without them.
func (p *Parser) Due(limit int) []cost.Draft {
	if p.form == nil || limit <= 0 {
		return nil
	}
	return p.ledger.due(p.form.shown(), limit)
}

// Charged takes the entries that were made of charges that were due: their keys, amounts, and whether they are unpriced.
func (p *Parser) Charged(entries ...cost.Entry) {
	for _, entry := range entries {
		p.ledger.charged(entry)
	}
}

// IsDone reports whether the program has said that it succeeded, and did not go on after that: all that it has to do is to end.
func (p *Parser) IsDone() bool {
	return p.form != nil && p.form.said().isDone
}

// Report returns what the program reported, when it has ended: what is due then is the rest. Times in its words, such as "resets 2pm",
// are those after now.
func (p *Parser) Report(now time.Time) Report {
	if p.form == nil {
		return Report{}
	}
	p.output.finish()
	p.ledger.hasEnded = true
	said := p.form.said()
	report := Report{Dropped: p.dropped, IsDone: said.isDone, IsError: said.isError, Message: said.message, Result: said.result}
	if !said.isDone {
		report.Setback = said.trouble.setback(now).bounded(now)
	}
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
