// Package retention is how long is kept what grows, and what of it may be removed when. Only whole days count, in UTC.
package retention

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/instant"
)

// Kind is a kind of what grows and is removed when it is old enough.
type Kind string

// The kinds. How long those of the first group are kept is set, and each pass that removes some is an event.
const (
	Activity Kind = "activity" // entries of the activity log, but those of an audit
	Audit    Kind = "audit"    // entries in the categories of an audit
	Runs     Kind = "runs"     // checkpoints and logs of runs; the run itself stays, with its cost
	Removed  Kind = "removed"  // leads that were removed

	Deliveries Kind = "deliveries" // of webhooks
	Receipts   Kind = "receipts"   // of idempotency keys
	Answers    Kind = "answers"    // kept for repeats of the calls that ended leases
	Sessions   Kind = "sessions"   // of people, that have ended
	Imports    Kind = "imports"    // of files, that have ended, but the newest
)

// Kinds are those whose time is set, in the order in which they are shown.
var Kinds = []Kind{Activity, Audit, Runs, Removed}

// Others are the kinds whose time is not set.
var Others = []Kind{Deliveries, Receipts, Answers, Sessions, Imports}

const day = 24 * time.Hour

// Period is how long something is kept: whole days. Off keeps it for ever.
type Period time.Duration

// Off removes nothing.
const Off Period = 0

// ParsePeriod reads off, or whole days such as 90d or 2160h, of which there are at least so many.
func ParsePeriod(value string, leastDays int) (Period, bool) {
	if value == "off" {
		return Off, true
	}
	digits, unit := strings.TrimSuffix(value, "d"), day
	if digits == value {
		digits, unit = strings.TrimSuffix(value, "h"), time.Hour
	}
	number, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || digits == value || strconv.FormatInt(number, 10) != digits {
		return Off, false
	}
	const most = 36500 // days
	length := time.Duration(min(number, most*24)) * unit
	if length%day != 0 || length < time.Duration(leastDays)*day || length > most*day || number > most*24 {
		return Off, false
	}
	return Period(length), true
}

// String spells what ParsePeriod reads.
func (p Period) String() string {
	if p == Off {
		return "off"
	}
	return strconv.FormatInt(int64(time.Duration(p)/day), 10) + "d"
}

// IsAtLeast reports whether something is kept for at least so many days.
func (p Period) IsAtLeast(days int) bool {
	return p == Off || time.Duration(p) >= time.Duration(days)*day
}

// Cutoff is the start of the day, in UTC, before which what is kept for so long may be removed. It is zero for Off.
func (p Period) Cutoff(now time.Time) time.Time {
	if p == Off {
		return time.Time{}
	}
	return now.UTC().Truncate(day).Add(-time.Duration(p))
}

// LeastDays is the least time for which a kind is kept, if that is set.
func LeastDays(of Kind) int {
	switch of {
	case Activity:
		return 90
	case Audit:
		return 365
	}
	return 1
}

// Settings say how long the kinds are kept whose time is set.
type Settings struct{ Activity, Audit, Runs, Removed Period }

// Of is how long a kind is kept. Entries of an audit are entries of the activity log too, so the longer of two times holds.
func (s Settings) Of(of Kind) Period {
	switch of {
	case Activity:
		return s.Activity
	case Audit:
		if s.Activity == Off || s.Audit == Off {
			return Off
		}
		return max(s.Activity, s.Audit)
	case Runs:
		return s.Runs
	case Removed:
		return s.Removed
	}
	return Off
}

// IsAudited reports whether an entry of a category is of the kind Audit, and not of Activity.
func IsAudited(category string) bool { return slices.Contains(event.Audited, category) }

// Entry is what of an entry of the activity log decides whether it may go.
type Entry struct {
	At        time.Time
	Category  string
	IsChained bool
	IsAwaited bool // the outbox still needs it, or a delivery carries it
}

// MayGo reports whether an entry of a kind may be removed of which only what was made before an instant may. What is not chained yet may
// not: nothing would tell afterwards that it was there.
func (e Entry) MayGo(of Kind, before time.Time) bool {
	return e.At.Before(before) && IsAudited(e.Category) == (of == Audit) && e.IsChained && !e.IsAwaited
}

// Run is what of a run decides whether its checkpoints and its log may go.
type Run struct {
	EndedAt     time.Time // zero: it has not ended
	IssueIsOpen bool
}

// MayGo reports whether what a run left may be removed if only that of runs which ended before an instant may. While the issue is open
// the next attempt may need it.
func (r Run) MayGo(before time.Time) bool {
	return !r.EndedAt.IsZero() && r.EndedAt.Before(before) && !r.IssueIsOpen
}

// LeastRoom is how many bytes are free of a disk on which anything is still written: what is under way, and a removal of what is old,
// need some.
const LeastRoom = 200 << 20

// ErrDiskLow refuses what would be written when less is free.
var ErrDiskLow = fault.New(fault.Unavailable, "The disk of the store has less than 200 MB left, so nothing is changed; reads go on. "+
	"Make room: then this goes on by itself.").After(30 * time.Second)

// CheckRoom fails when too little is free.
func CheckRoom(free int64) error {
	if free < LeastRoom {
		return ErrDiskLow
	}
	return nil
}

// State is what a store keeps of the removal of one kind.
type State struct {
	Removed int64     // since the last event
	Done    time.Time // all that may go from before it is gone; zero: there was no pass yet
}

// Pruned is the event of a pass that has removed so many rows of a kind, of what was made before an instant.
func Pruned(of Kind, count int64, before time.Time) event.Event {
	return event.Of(event.StorePruned, "", string(of), event.Fields{
		event.F("kind", string(of)), event.F("count", count), event.F("before", instant.Format(before)),
	})
}

// ParseKinds reads names of kinds whose time is set.
func ParseKinds(names []string) ([]Kind, error) {
	kinds := make([]Kind, len(names))
	for n, name := range names {
		if kinds[n] = Kind(name); !slices.Contains(Kinds, kinds[n]) {
			all := make([]string, len(Kinds))
			for n, one := range Kinds {
				all[n] = string(one)
			}
			return nil, fmt.Errorf("there is no kind %q; the kinds are %s", name, strings.Join(all, ", "))
		}
	}
	return kinds, nil
}

// Result is what a pass has removed of a kind, or would remove.
type Result struct {
	Kind   Kind
	Rows   int64
	Bytes  int64     // of what was recorded; 0: it is not known
	Before time.Time // what was made before; zero: the kind is kept for ever
}

// Fields returns the result as JSON shows it.
func (r Result) Fields() event.Fields {
	return event.Fields{
		event.F("kind", string(r.Kind)), event.F("rows", r.Rows), event.F("bytes", r.Bytes), event.F("before", instant.Optional(r.Before)),
	}
}
