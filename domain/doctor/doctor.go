// Package doctor is what checks of a store have found, and what it says to an operator.
package doctor

import (
	"cmp"
	"fmt"
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

// Finding is one thing that is not as it should be.
type Finding struct {
	Company id.Company // empty: of none
	Rule    string     // that it breaks, such as account.held
	About   string     // the id of what it is about
	Where   string     // which of several values of it; empty: there is one
	Kept    string     // what the store has
	Should  string     // what it should have
}

// String says it in one line.
func (f Finding) String() string {
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
		event.F("companyId", string(f.Company)),
		event.F("rule", f.Rule),
		event.F("where", f.Where),
		event.F("kept", f.Kept),
		event.F("should", f.Should),
	}
}

// MostExamples is how many findings a result shows.
const MostExamples = 10

// Result is what one check has found.
type Result struct {
	Name     string
	Looked   int       // at how many companies
	Count    int       // findings, those that were repaired too
	Fixable  int       // of these: that can be repaired, but are not
	Fixed    int       // of these: that were repaired
	Examples []Finding // MostExamples at most
	Broken   string    // why the check was ended before all was checked; empty: it was not
	Failure  string    // the error that ended the check; empty: none
	Took     time.Duration
}

// Severity is how bad it is.
func (r Result) Severity() Severity {
	switch {
	case r.Count > r.Fixed, r.Failure != "":
		return Error
	case r.Broken != "":
		return Skipped
	case r.Fixed > 0:
		return Note
	}
	return OK
}

// Message says in one line what was found, and what to do.
func (r Result) Message() string {
	var words string
	broken := cmp.Or(r.Failure, r.Broken)
	switch {
	case r.Count == 0 && broken != "":
		return broken
	case r.Count == 0:
		return "companies: " + fmt.Sprint(r.Looked)
	case r.Count == r.Fixed:
		words = fmt.Sprintf("repaired: %d; the first: %s", r.Fixed, r.Examples[0])
	default:
		words = fmt.Sprintf("differences: %d; the first: %s", r.Count, r.Examples[0])
		if r.Fixed > 0 {
			words += fmt.Sprintf("; repaired: %d", r.Fixed)
		}
		if r.Fixable > 0 {
			words += fmt.Sprintf("; to repair %d run: holdco doctor --fix --only %s", r.Fixable, r.Name)
		}
		if rest := r.Count - r.Fixed - r.Fixable; rest > 0 {
			words += fmt.Sprintf("; not to be repaired: %d, keep a copy of the store and report them", rest)
		}
	}
	if broken != "" {
		words += "; " + broken
	}
	return words
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

// Repaired is the event of a repair of what a check has found in a company: how many values, and which rules they broke.
func Repaired(in id.Company, check string, count int, rules []string) event.Event {
	return event.Event{
		Type: event.StoreRepaired, Company: in, Subject: event.Subject{Type: "company", ID: string(in)},
		Data: event.Fields{event.F("check", check), event.F("count", count), event.F("rules", rules)},
	}
}
