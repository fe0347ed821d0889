package issue

import "holdco/domain/event"

// Counts is how many issues there are in each state.
type Counts struct {
	Of        map[Status]int64
	Truncated bool // there are more than were counted
}

// Open is how many are not final.
func (c Counts) Open() (open int64) {
	for status, n := range c.Of {
		if !status.IsFinal() {
			open += n
		}
	}
	return open
}

// Fields returns the counts as the API shows them.
func (c Counts) Fields() event.Fields {
	var total int64
	byStatus := make(event.Fields, len(Statuses))
	for n, status := range Statuses {
		byStatus[n] = event.F(string(status), c.Of[status])
		total += c.Of[status]
	}
	return event.Fields{event.F("byStatus", byStatus), event.F("total", total), event.F("truncated", c.Truncated)}
}
