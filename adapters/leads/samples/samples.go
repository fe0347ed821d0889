package samples

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/brianvoe/gofakeit/v7"

	"holdco/domain/event"
)

// Set is one set of sample data.
type Set struct {
	leads     int
	seed      uint64
	campaigns []campaign
}

// New makes a set with so many leads.
func New(leads int, seed uint64) *Set {
	s := &Set{leads: leads, seed: seed}
	s.campaigns = s.makeCampaigns()
	return s
}

// chance draws whatever is left to chance.
type chance struct {
	*rand.Rand
	fake *gofakeit.Faker
}

// chanceOf is the same each time for one part of the set.
func (s *Set) chanceOf(part uint64) chance {
	source := rand.NewPCG(s.seed, part)
	return chance{rand.New(source), gofakeit.NewFaker(source, false)}
}

// The parts of a set.
const (
	ofCampaigns uint64 = iota + 1
	ofLeads
	ofContacts
)

// in reports true in so many of 100 cases.
func (c chance) in(percent int) bool { return c.IntN(100) < percent }

// weighed draws an index in a list of weights.
func (c chance) weighed(weights ...int) int {
	sum := 0
	for _, weight := range weights {
		sum += weight
	}
	drawn := c.IntN(sum)
	for i, weight := range weights {
		if drawn -= weight; drawn < 0 {
			return i
		}
	}
	return 0
}

// skewed draws an index; low ones are far more likely.
func (c chance) skewed(length int) func() int {
	const skew = 1.2
	zipf := rand.NewZipf(c.Rand, skew, 1, uint64(length-1))
	return func() int { return int(zipf.Uint64()) }
}

// between draws an instant, to the second.
func (c chance) between(from, to time.Time) time.Time {
	return from.Add(time.Duration(c.Int64N(int64(to.Sub(from)/time.Second))) * time.Second)
}

// The time in which everything happened.
var (
	firstDay = time.Date(2025, time.January, 1, 6, 0, 0, 0, time.UTC)
	lastDay  = time.Date(2026, time.October, 1, 18, 0, 0, 0, time.UTC)
)

// id makes an id in the style of another system, a different one for each number.
func (s *Set) id(prefix string, part, number uint64) string {
	// The finalizer of SplitMix64 maps each number to another one.
	const step, first, second = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb
	x := s.seed ^ part<<56 + (number+1)*step
	x = (x ^ x>>30) * first
	x = (x ^ x>>27) * second
	x ^= x >> 31
	digits := strconv.FormatUint(x, 36)
	return prefix + "c" + strings.Repeat("0", 13-len(digits)) + digits
}

// lines writes so many objects, one per line.
func lines(to io.Writer, count int, object func(number int) event.Fields) error {
	const ahead = 64 << 10
	out := bufio.NewWriterSize(to, ahead)
	for number := range count {
		text, err := object(number).MarshalJSON()
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// reference shows where something belongs, or null.
func reference(id, name, slug string) any {
	if id == "" {
		return nil
	}
	return event.Fields{event.F("id", id), event.F("name", name), event.F("slug", slug)}
}
