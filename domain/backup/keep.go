package backup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Selection says which backups are kept: the newest of each of so many days, weeks and months that have one. A day without a backup counts
// for none, so that nothing is removed only because time has passed, or because a clock is wrong.
type Selection struct {
	Days, Weeks, Months int // 0 to MostKept each, not all 0
}

// MostKept bounds each number.
const MostKept = 1000

// ParseSelection reads what is kept, such as 7d,4w,6m. Each unit occurs once at most.
func ParseSelection(text string) (selected Selection, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return Selection{}, false
		}
		digits, unit := part[:len(part)-1], part[len(part)-1]
		of := map[byte]*int{'d': &selected.Days, 'w': &selected.Weeks, 'm': &selected.Months}[unit]
		number, err := strconv.Atoi(digits)
		if of == nil || *of != 0 || err != nil || number < 1 || number > MostKept || strconv.Itoa(number) != digits {
			return Selection{}, false
		}
		*of = number
	}
	return selected, true
}

// Old returns those of the instants of backups that need not be kept, oldest first. Days, weeks, which begin on Mondays, and months are
// those of UTC. The newest is kept in any case.
func (s Selection) Old(all []time.Time) (old []time.Time) {
	newestFirst := slices.SortedFunc(slices.Values(all), func(a, b time.Time) int { return b.Compare(a) })
	kept := map[time.Time]bool{}
	for _, period := range []struct {
		count int
		of    func(time.Time) string
	}{{s.Days, day}, {s.Weeks, week}, {s.Months, month}} {
		last, seen := "", 0
		for _, at := range newestFirst {
			if name := period.of(at.UTC()); name != last {
				if last, seen = name, seen+1; seen > period.count {
					break
				}
				kept[at] = true
			}
		}
	}
	for n, at := range slices.Backward(newestFirst) {
		if n > 0 && !kept[at] {
			old = append(old, at)
		}
	}
	return old
}

func day(at time.Time) string   { return at.Format(time.DateOnly) }
func month(at time.Time) string { return at.Format("2006-01") }

func week(at time.Time) string {
	year, number := at.ISOWeek()
	return fmt.Sprintf("%d-%d", year, number)
}

const (
	namePrefix, nameEnding = "holdco-", ".tar.zst"
	beforePrefix           = "pre-"
	nameInstant            = "20060102T150405Z"
	preciseInstant         = "20060102T150405.000Z"
)

// Name is the name of the file of a scheduled backup, by when it began.
func Name(at time.Time) string { return namePrefix + stamp(at) + nameEnding }

// NameBefore is the name of the file of a backup that is made at an instant, before a program of a version migrates the store:
// pre-v1.2.0-20260411T104217.000Z.tar.zst. It is none of a scheduled backup, so it stays until somebody removes it.
func NameBefore(version string, at time.Time) string {
	plain := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '+' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, version)
	return beforePrefix + strings.Trim(plain, "-") + "-" + at.UTC().Format(preciseInstant) + nameEnding
}

// IsName reports whether a server gives such a name to a backup.
func IsName(name string) bool {
	if _, isScheduled := ParseName(name); isScheduled {
		return true
	}
	return strings.HasPrefix(name, beforePrefix) && strings.HasSuffix(name, nameEnding)
}

// stamp spells an instant in names, to the second: 20260411T104217Z.
func stamp(at time.Time) string { return at.UTC().Format(nameInstant) }

// Aside is what is added to the name of a store that another takes the place of, at an instant.
func Aside(at time.Time) string { return aside + at.UTC().Format(preciseInstant) }

const aside = "before-restore-"

// IsAside reports whether a text begins as what Aside returns.
func IsAside(text string) bool { return strings.HasPrefix(text, aside) }

// ParseName returns when the scheduled backup began that has such a name, and reports whether it is the name of one.
func ParseName(name string) (at time.Time, ok bool) {
	text, begins := strings.CutPrefix(name, namePrefix)
	text, ends := strings.CutSuffix(text, nameEnding)
	at, err := time.Parse(nameInstant, text)
	return at, begins && ends && err == nil && Name(at) == name
}
