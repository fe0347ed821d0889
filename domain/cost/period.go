package cost

import (
	"slices"
	"strings"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/instant"
)

// Range is a time for which costs are summed: from Start to before End, both in UTC and in whole milliseconds.
type Range struct {
	Start, End time.Time
	Label      string // the name by which it was asked for
	UntilNow   bool   // nothing is charged later than End
}

// Labels of ranges that have no name of their own.
const (
	Custom   = "custom"   // between two instants
	Lifetime = "lifetime" // all that something has cost
)

// named are the ranges with names: a calendar period, the current one or the last before it.
var named = map[string]struct {
	period budget.Period
	isLast bool
}{
	"today": {budget.Daily, false}, "yesterday": {budget.Daily, true},
	"this_week": {budget.Weekly, false}, "last_week": {budget.Weekly, true},
	"this_month": {budget.Monthly, false}, "last_month": {budget.Monthly, true},
	"this_quarter": {budget.Quarterly, false}, "last_quarter": {budget.Quarterly, true},
}

// rolling are the ranges that reach back from now.
var rolling = map[string]time.Duration{"1h": time.Hour, "24h": day, "7d": 7 * day, "30d": 30 * day}

const day = 24 * time.Hour

// Current is the current period of a budget, until now.
func Current(period budget.Period, now time.Time) Range {
	return reaching(now, period.Start(now), string(period))
}

// Until reaches from an instant until now.
func Until(now, from time.Time) Range { return reaching(now, from, Lifetime) }

// Ever is all time until now.
func Ever(now time.Time) Range { return Until(now, first) }

// reaching is a range that reaches until now: what is charged in this very millisecond is part of it.
func reaching(now, from time.Time, label string) Range {
	return Range{Start: from, End: now.Add(time.Millisecond), Label: label, UntilNow: true}
}

// CheckRange refuses parameters that ParseRange refuses for their form, whenever and for whomever they are sent.
func CheckRange(since, until string) error {
	for _, parameter := range []struct{ name, sent string }{{"since", since}, {"until", until}} {
		if parameter.sent == "" {
			continue
		}
		if _, err := parse(parameter.name, parameter.sent, first); err != nil {
			return err
		}
	}
	return nil
}

// ParseRange reads a range from two parameters, each an instant of RFC 3339 or a name; empty: it was not sent. A name as since
// begins the range where that of the name begins, and ends it there too unless there is an until; as until it ends the range where
// that of the name ends, or, if it reaches back from now, where that begins. Without since the range begins as usual does.
func ParseRange(since, until string, usual Range, now time.Time) (Range, error) {
	found := usual
	if since != "" {
		var err error
		if found, err = parse("since", since, now); err != nil {
			return Range{}, err
		}
	}
	if until != "" {
		last, err := parse("until", until, now)
		if err != nil {
			return Range{}, err
		}
		found.Label, found.End, found.UntilNow = Custom, last.End, last.UntilNow
		if _, isName := named[until]; !isName {
			found.End, found.UntilNow = last.Start, false
		}
	}
	switch {
	case found.Start.Before(found.End):
	case until == "":
		return Range{}, invalid("since", "must not be in the future")
	default:
		return Range{}, invalid("until", "must be after since, or, without that, after the start of the current period")
	}
	return found, nil
}

// parse reads one parameter. An instant is the start of a range that ends now.
func parse(parameter, sent string, now time.Time) (Range, error) {
	if span, ok := rolling[sent]; ok {
		return reaching(now, now.Add(-span), sent), nil
	}
	if name, ok := named[sent]; ok {
		found := Current(name.period, now)
		if name.isLast {
			found.End, found.UntilNow = found.Start, false
			found.Start = name.period.Start(found.End.Add(-time.Millisecond))
		}
		found.Label = sent
		return found, nil
	}
	at, ok := instant.Parse(sent)
	switch {
	case ok:
		return reaching(now, ceil(bounded(at)), Custom), nil
	case strings.Contains(sent, " "):
		return Range{}, invalid(parameter, "holds a space; in a URL a + stands for one, so spell an offset as %2B02:00")
	}
	return Range{}, invalid(parameter, "must be an instant of RFC 3339, such as 2027-04-11T00:00:00Z, or one of 1h, 24h, 7d, 30d, "+
		"today, yesterday, this_week, this_month, this_quarter, last_week, last_month, last_quarter")
}

// Nothing was charged before 1970, or will be after 3000.
var first, last = time.Unix(0, 0).UTC(), time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)

func bounded(at time.Time) time.Time {
	switch at = at.UTC(); {
	case at.Before(first):
		return first
	case at.After(last):
		return last
	}
	return at
}

// ceil rounds up to whole milliseconds: the first instant of an entry that is not before it.
func ceil(at time.Time) time.Time {
	return at.Add(time.Millisecond - time.Nanosecond).Truncate(time.Millisecond)
}

func invalid(parameter, wrong string) error {
	return fault.New(fault.InvalidParameter, "%s %s.", parameter, wrong).With("parameter", parameter)
}

func (r Range) fields() event.Fields {
	return event.Fields{
		event.F("start", instant.Format(r.Start)), event.F("end", instant.Format(r.End)), event.F("label", r.Label),
	}
}

// Unit is a span of time, in UTC, for which sums are kept. Moments is none: entries tell what was charged.
type Unit int

// The units, from the shortest on.
const (
	Moments Unit = iota
	Hours
	Days
	Months
)

// Units are those for which sums are kept, from the shortest on.
var Units = []Unit{Hours, Days, Months}

// Start returns when the unit began that contains an instant.
func (u Unit) Start(of time.Time) time.Time {
	switch of = of.UTC(); u {
	case Hours:
		return of.Truncate(time.Hour)
	case Days:
		return of.Truncate(day)
	case Months:
		return budget.Monthly.Start(of)
	default:
		return of
	}
}

// next returns when the unit ends that begins at start.
func (u Unit) next(start time.Time) time.Time {
	switch u {
	case Hours:
		return start.Add(time.Hour)
	case Days:
		return start.Add(day)
	default:
		return start.AddDate(0, 1, 0)
	}
}

// Piece is a part of a range: whole units, or, if that is Moments, any time.
type Piece struct {
	Unit       Unit
	Start, End time.Time // as in Range
}

// Starts are when the units of a piece begin.
func (p Piece) Starts() (starts []time.Time) {
	for at := p.Start; at.Before(p.End); at = p.Unit.next(at) {
		starts = append(starts, at)
	}
	return starts
}

// Split splits the range into as few whole units as there can be of some, and what is left of it at both ends, for which entries have
// to be read: it is shorter than the shortest unit at each end, or than two of them if the range has none. The unit in which a range
// ends that reaches until now is a whole one: it has nothing that is later.
func (r Range) Split(into ...Unit) []Piece {
	into = slices.Sorted(slices.Values(into))
	return split(r.Start, r.End, r.UntilNow, into)
}

func split(start, end time.Time, untilNow bool, into []Unit) []Piece {
	switch {
	case !start.Before(end):
		return nil
	case len(into) == 0:
		return []Piece{{Moments, start, end}}
	}
	shorter, unit := into[:len(into)-1], into[len(into)-1]
	whole, rest := unit.Start(start), unit.Start(end)
	if whole.Before(start) {
		whole = unit.next(whole)
	}
	if untilNow && rest.Before(end) {
		rest = unit.next(rest)
	}
	if !whole.Before(rest) {
		return split(start, end, untilNow, shorter)
	}
	return slices.Concat(split(start, whole, false, shorter), []Piece{{unit, whole, rest}}, split(rest, end, untilNow, shorter))
}

// MostTrend is how many days a trend has.
const MostTrend = 400

// Trend is the part of the range that its trend shows: its last MostTrend days.
func (r Range) Trend() Range {
	if earliest := Days.Start(r.End.Add(-time.Millisecond)).AddDate(0, 0, 1-MostTrend); r.Start.Before(earliest) {
		r.Start = earliest
	}
	return r
}

// days are when the days of the range begin, in whole or in part.
func (r Range) days() []time.Time { return Piece{Days, Days.Start(r.Start), r.End}.Starts() }
