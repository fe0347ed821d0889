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

// Progress is what the counts say of something that the issues are done for, as the API shows it.
func (c Counts) Progress() event.Fields {
	sum := func(of ...Status) (n int64) {
		for _, status := range of {
			n += c.Of[status]
		}
		return n
	}
	return event.Fields{
		event.F("tasksTotal", sum(Statuses...)-c.Of[Cancelled]),
		event.F("tasksDone", c.Of[Done]),
		event.F("tasksInFlight", sum(Running, Review, Handoff)),
		event.F("tasksQueued", sum(Queued, Assigned)),
	}
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
