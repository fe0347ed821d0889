// Package doctor is what checks of a store have found, and what it says to an operator.
package doctor

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Severity is how bad what a check has found is.
type Severity string

// The severities.
const (
	OK      Severity = "ok"
	Note    Severity = "note"    // worth knowing
	Warning Severity = "warning" // may become an error
	Error   Severity = "error"   // somebody has to act
	Skipped Severity = "skipped" // the check was ended before all was checked; counts as a warning
)

// rank orders severities from harmless to bad.
var rank = map[Severity]int{OK: 0, Note: 1, Skipped: 2, Warning: 3, Error: 4}

// worse is the worse one of two severities.
func worse(a, b Severity) Severity {
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// Check is what an operator is told of a check.
type Check struct {
	Name     string // what --only calls it
	Compares string // the rule, in a few words
	Finds    string // the severities of what it finds
	Fixes    string // what --fix does; empty: nothing
}

// Table is checks as a table in Markdown, for the documents.
func Table(checks []Check) string {
	text := "| Check | What has to be so | Else | `--fix` |\n|---|---|---|---|\n"
	for _, one := range checks {
		text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", one.Name, one.Compares, one.Finds, cmp.Or(one.Fixes, "-"))
	}
	return text
}

// Finding is one thing that is not as it should be.
type Finding struct {
	Severity Severity   // empty: Error
	Company  id.Company // empty: of none
	Rule     string     // that it breaks, such as account.held
	About    string     // the id, or the name, of what it is about
	Where    string     // which of several values of it; empty: there is one
	Kept     string     // what there is
	Should   string     // what there should be
	Text     string     // says it in one line, with what to do; empty: the fields above do
}

// severity is how bad it is.
func (f Finding) severity() Severity { return cmp.Or(f.Severity, Error) }

// String says it in one line.
func (f Finding) String() string {
	if f.Text != "" {
		return f.Text
	}
	about := f.Rule + " of " + f.About
	if f.Where != "" {
		about += " (" + f.Where + ")"
	}
	return fmt.Sprintf("%s is %q and should be %q", about, f.Kept, f.Should)
}

// Fields returns the finding as JSON shows it.
func (f Finding) Fields() event.Fields {
	return event.Fields{
		event.F("id", f.About),
		event.F("severity", string(f.severity())),
		event.F("companyId", string(f.Company)),
		event.F("rule", f.Rule),
		event.F("where", f.Where),
		event.F("kept", f.Kept),
		event.F("should", f.Should),
		event.F("message", f.String()),
	}
}

// MostExamples is how many findings a result shows.
const MostExamples = 10

// Result is what one check has found.
type Result struct {
	Name     string
	Seen     string    // what it has looked at, in a few words
	Count    int       // findings, those that were repaired too
	Fixable  int       // of these: that can be repaired, but are not
	Fixed    int       // of these: that were repaired
	Worst    Severity  // of those that were not repaired; empty: there are none
	Examples []Finding // MostExamples at most
	Broken   string    // why the check was ended before all was checked; empty: it was not
	Failure  string    // the error that ended the check; empty: none
	Took     time.Duration
}

// Found is what was found of one thing that a check looks at.
type Found struct {
	Count     int       // findings
	Unfixable int       // of these
	Worst     Severity  // of these
	Examples  []Finding // MostExamples at most
}

// Add adds a finding.
func (f *Found) Add(one Finding, isFixable bool) {
	f.Count++
	if !isFixable {
		f.Unfixable++
	}
	f.Worst = worse(f.Worst, one.severity())
	if len(f.Examples) < MostExamples {
		f.Examples = append(f.Examples, one)
	}
}

// Conclude adds what was found of one thing by the first look at it and by the last, between which so much was repaired.
func (r *Result) Conclude(first, last Found, repaired int) {
	fixed := max(0, min(repaired, first.Count-last.Count))
	r.Count += last.Count + fixed
	r.Fixed += fixed
	r.Fixable += last.Count - last.Unfixable
	r.Worst = worse(r.Worst, last.Worst)
	shown := first.Examples
	if last.Count > 0 { // what is left says more
		shown = last.Examples
	}
	left := MostExamples - len(r.Examples)
	r.Examples = append(r.Examples, shown[:min(left, len(shown))]...)
}

// Severity is how bad it is.
func (r Result) Severity() Severity {
	severity := worse(OK, r.Worst)
	switch {
	case r.Failure != "":
		return Error
	case r.Broken != "":
		return worse(severity, Skipped)
	case r.Fixed > 0:
		return worse(severity, Note)
	}
	return severity
}

// Message says in one line what was found, and what to do.
func (r Result) Message() string {
	var words string
	broken := cmp.Or(r.Failure, r.Broken)
	switch {
	case r.Count == 0 && broken != "":
		return broken
	case r.Count == 0:
		return r.Seen
	case r.Count == r.Fixed:
		words = fmt.Sprintf("repaired: %d; the first: %s", r.Fixed, r.Examples[0])
	default:
		words = r.differences()
	}
	if broken != "" {
		words += "; " + broken
	}
	return words
}

// differences says what was found and not repaired, at least in part.
func (r Result) differences() string {
	first := r.Examples[0]
	if r.Worst == Note && r.Fixed == 0 {
		return r.notes()
	}
	words := first.String()
	if r.Count > 1 || first.Text == "" {
		words = fmt.Sprintf("differences: %d; the first: %s", r.Count, first)
	}
	if r.Fixed > 0 {
		words += fmt.Sprintf("; repaired: %d", r.Fixed)
	}
	if r.Fixable > 0 {
		words += fmt.Sprintf("; to repair %d run: holdco doctor --fix --only %s", r.Fixable, r.Name)
	}
	if rest := r.Count - r.Fixed - r.Fixable; rest > 0 && first.Text == "" {
		words += fmt.Sprintf("; not to be repaired: %d, keep a copy of the store and report them", rest)
	}
	return words
}

// notes says what is worth knowing.
func (r Result) notes() string {
	const most = 3
	parts := []string{r.Seen}
	for _, one := range r.Examples[:min(most, len(r.Examples))] {
		parts = append(parts, one.String())
	}
	if more := r.Count - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// Fields returns the result as JSON shows it.
func (r Result) Fields() event.Fields {
	examples := make([]event.Fields, len(r.Examples))
	for n, one := range r.Examples {
		examples[n] = one.Fields()
	}
	return event.Fields{
		event.F("name", r.Name),
		event.F("severity", string(r.Severity())),
		event.F("message", r.Message()),
		event.F("count", r.Count),
		event.F("examples", examples),
		event.F("fixable", r.Fixable),
		event.F("fixed", r.Fixed),
		event.F("tookMs", r.Took.Milliseconds()),
	}
}

// Report is what all checks have found.
type Report struct {
	At     time.Time
	Checks []Result
}

// Fields returns the report as JSON shows it, for a version of the program.
func (r Report) Fields(version string) event.Fields {
	checks := make([]event.Fields, len(r.Checks))
	for n, one := range r.Checks {
		checks[n] = one.Fields()
	}
	return event.Fields{event.F("checkedAt", instant.Format(r.At)), event.F("version", version), event.F("checks", checks)}
}

// Failed are the names of the checks that found errors; if it is strict, or warnings.
func (r Report) Failed(isStrict bool) (names []string) {
	for _, one := range r.Checks {
		switch severity := one.Severity(); {
		case severity == Error, isStrict && (severity == Warning || severity == Skipped):
			names = append(names, one.Name)
		}
	}
	return names
}

// Repaired is the event of a repair of what a check has found, in a company or, if that is empty, beside all: how many values, and which
// rules they broke.
func Repaired(in id.Company, check string, count int, rules []string) event.Event {
	subject := event.Subject{Type: event.StoreRepaired.Kind(), ID: check}
	if in != "" {
		subject = event.Subject{Type: "company", ID: string(in)}
	}
	return event.Event{
		Type: event.StoreRepaired, Company: in, Subject: subject,
		Data: event.Fields{event.F("check", check), event.F("count", count), event.F("rules", rules)},
	}
}
