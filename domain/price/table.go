package price

import (
	"slices"
	"strings"
	"time"

	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/instant"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Table is the prices of an instance. A change makes the next table, whose revision is one higher.
type Table struct {
	Revision  int64 // 1: nothing was ever changed, and the models are those of Snapshot
	Snapshot  string
	ChangedAt time.Time // zero: never
	Fallback  Fallback
	Models    []Model // by ascending ids, which differ in more than case
}

// Fallback is what tokens of a model without a price cost, cached ones as Input.
type Fallback struct{ Input, Output Price }

// Fields returns the fallback in dollars per million tokens.
func (f Fallback) Fields() event.Fields {
	return event.Fields{event.F("input", f.Input.PerMillion()), event.F("output", f.Output.PerMillion())}
}

// Initial is the table of an instance whose prices were never changed.
func Initial() Table {
	return Table{
		Revision: 1, Snapshot: SnapshotDate, Models: slices.Clone(snapshot),
		Fallback: Fallback{Input: 15_000_000, Output: 75_000_000}, // 15 and 75 dollars per million
	}
}

// Fields returns the table without its models, as the command line shows it.
func (t Table) Fields() event.Fields {
	var snapshot any
	if t.Snapshot != "" {
		snapshot = t.Snapshot
	}
	return event.Fields{
		event.F("revision", t.Revision),
		event.F("snapshot", snapshot),
		event.F("changedAt", instant.Optional(t.ChangedAt)),
		event.F("fallback", t.Fallback.Fields()),
	}
}

// Changes count by how much an import changed the models. Skipped are entries of the file that have no price by tokens.
type Changes struct{ Added, Changed, Removed, Unchanged, Skipped int }

// Fields returns the counts.
func (c Changes) Fields() event.Fields {
	return event.Fields{
		event.F("added", c.Added), event.F("changed", c.Changed), event.F("removed", c.Removed),
		event.F("unchanged", c.Unchanged), event.F("skipped", c.Skipped),
	}
}

// Import replaces all models by those of a file. The fallback stays.
func (t Table) Import(file File, at time.Time) (Table, Changes, *event.Event) {
	counts := Changes{Skipped: file.Skipped}
	before := make(map[string]Model, len(t.Models))
	for _, m := range t.Models {
		before[m.ID] = m
	}
	for _, m := range file.Models {
		was, isThere := before[m.ID]
		switch {
		case !isThere:
			counts.Added++
		case was.Provider == m.Provider && was.costsAs(m):
			counts.Unchanged++
		default:
			counts.Changed++
		}
	}
	counts.Removed = len(t.Models) - counts.Changed - counts.Unchanged
	if t.Snapshot == "" && counts.Added+counts.Changed+counts.Removed == 0 {
		return t, counts, nil
	}
	next := t.changed(at)
	next.Snapshot, next.Models = "", file.Models
	return next, counts, next.event(event.PriceImported, "", append(counts.Fields(), event.F("models", len(next.Models))))
}

// Draft is what was sent of the prices of a model, or of the fallback: dollars per million tokens. Nil fields were absent.
type Draft struct{ Input, Output, CacheRead, CacheWrite *money.Number }

// parse returns a model at these prices.
func (d Draft) parse() (m Model, problems fault.Problems) {
	sent := [4]*money.Number{d.Input, d.Output, d.CacheRead, d.CacheWrite}
	for n, k := range m.kinds() {
		switch {
		case sent[n] != nil:
			p, err := ParsePerMillion(*sent[n])
			if err != nil {
				problems.Add(fault.Fieldf(k.name, fault.OutOfRange, "%s: %s", k.name, err))
			}
			*k.steps = flat(p)
		case n < 2: // input and output
			problems.Add(fault.Fieldf(k.name, fault.Required, "%s is required", k.name))
		}
	}
	return m, problems
}

// Set gives a model a price that does not depend on the length of calls. One that is there, in whatever case, is changed: it keeps
// its id and its provider. Without an event nothing has changed.
func (t Table) Set(name string, draft Draft, at time.Time) (Table, Model, *event.Event, error) {
	m, problems := draft.parse()
	id, wrong := text.Name("model", name, cost.ModelLength)
	problems.Add(wrong...)
	if slices.Contains(notModels, id) {
		problems.Add(fault.Fieldf("model", fault.UnknownValue, "model must not be %s, which is no model in files", id))
	}
	next, n := t.changed(at), t.place(id)
	if n < 0 && len(t.Models) >= MostModels {
		problems.Add(fault.Fieldf("model", fault.TooMany, "model is one too many: there are %d already", MostModels))
	}
	if len(problems) > 0 {
		return t, m, nil, fault.Validation(problems)
	}
	m.ID = id
	var former event.Fields
	if n < 0 {
		next.Models = append(slices.Clone(t.Models), m)
		slices.SortFunc(next.Models, byID)
	} else {
		was := t.Models[n]
		if m.ID, m.Provider = was.ID, was.Provider; m.costsAs(was) {
			return t, m, nil, nil
		}
		next.Models = slices.Clone(t.Models)
		next.Models[n] = m
		former = was.Fields().Changed(m.Fields())
	}
	happened := next.event(event.PriceSet, m.ID, m.Fields())
	happened.Previous = former
	return next, m, happened, nil
}

// Remove removes a model by its id, in whatever case, and returns it.
func (t Table) Remove(name string, at time.Time) (Table, Model, *event.Event, error) {
	n := t.place(name)
	if n < 0 {
		return t, Model{}, nil, fault.New(fault.NotFound, "There is no such model in the price table.")
	}
	m, next := t.Models[n], t.changed(at)
	next.Models = slices.Delete(slices.Clone(t.Models), n, n+1)
	return next, m, next.event(event.PriceRemoved, m.ID, m.Fields()), nil
}

// SetFallback changes what tokens of a model without a price cost, which is more than nothing: otherwise a model whose name is mistyped
// would pass every budget. Without an event nothing has changed.
func (t Table) SetFallback(draft Draft, at time.Time) (Table, *event.Event, error) {
	draft.CacheRead, draft.CacheWrite = nil, nil
	m, problems := draft.parse()
	if len(problems) > 0 {
		return t, nil, fault.Validation(problems)
	}
	fallback := Fallback{m.Input[0].Price, m.Output[0].Price}
	if fallback.Input == 0 {
		problems.Add(fault.Fieldf("input", fault.OutOfRange, "input must be more than 0"))
	}
	if fallback.Output == 0 {
		problems.Add(fault.Fieldf("output", fault.OutOfRange, "output must be more than 0"))
	}
	if len(problems) > 0 {
		return t, nil, fault.Validation(problems)
	}
	if fallback == t.Fallback {
		return t, nil, nil
	}
	next := t.changed(at)
	next.Fallback = fallback
	happened := next.event(event.PriceFallback, "", fallback.Fields())
	happened.Previous = t.Fallback.Fields().Changed(fallback.Fields())
	return next, happened, nil
}

// Filter returns the models whose id or provider contains a text, in whatever case.
func (t Table) Filter(contained string) []Model {
	var found []Model
	contained = text.Fold(contained)
	for _, m := range t.Models {
		if strings.Contains(text.Fold(m.ID), contained) || strings.Contains(text.Fold(m.Provider), contained) {
			found = append(found, m)
		}
	}
	return found
}

// place is where a model is, in whatever case; negative: there is none.
func (t Table) place(id string) int {
	id = text.Fold(strings.TrimSpace(id))
	return slices.IndexFunc(t.Models, func(m Model) bool { return text.Fold(m.ID) == id })
}

func (t Table) changed(at time.Time) Table {
	t.Revision++
	t.ChangedAt = at
	return t
}

func (t Table) event(what event.Type, subject string, data event.Fields) *event.Event {
	happened := event.Of(what, "", subject, append(data, event.F("revision", t.Revision)))
	return &happened
}

func byID(a, b Model) int { return strings.Compare(a.ID, b.ID) }
