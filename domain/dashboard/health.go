package dashboard

import "holdco/domain/event"

// Trouble is why an agent is named.
type Trouble string

// The troubles.
const (
	Failing Trouble = "failing" // its last FailingRuns runs that ended have failed or expired
	Silent  Trouble = "silent"  // it has a live lease, and has not called for half of its time
	Absent  Trouble = "absent"  // it is active, there is work for it alone, and it has not called for AbsentAfter
	Held    Trouble = "held"    // it gets no work after failures; see agent.Guard

	Unpriced Trouble = "unpriced" // a run of it since midnight in UTC has used a model without a price
)

// FailingRuns is how many runs of an agent, one after the other, have to fail or to expire before it is failing.
const FailingRuns = 3

// Troubled is an agent that somebody should look at. One with several troubles is there several times.
type Troubled struct {
	ID, Name string
	Reason   Trouble
}

// Health is how the agents of a company are.
type Health struct {
	Active, Paused int64
	Leases         int64 // live ones
	Uncosted       int64 // runs that ended since midnight in UTC and reported no costs, MostCounted at most
	Troubled       []Troubled
}

// count counts the agents in a trouble.
func (h Health) count(why Trouble) (n int64) {
	for _, one := range h.Troubled {
		if one.Reason == why {
			n++
		}
	}
	return n
}

func (h Health) counts() event.Fields {
	return event.Fields{
		event.F("activeAgents", h.Active), event.F("pausedAgents", h.Paused), event.F("failingAgents", h.count(Failing)),
		event.F("runningLeases", h.Leases), event.F("silentAgents", h.count(Silent)), event.F("absentAgents", h.count(Absent)),
		event.F("uncostedRuns", h.Uncosted), event.F("heldAgents", h.count(Held)), event.F("unpricedAgents", h.count(Unpriced)),
	}
}

// Fields returns the health as the API shows it, with the first MostShown troubled agents.
func (h Health) Fields() event.Fields {
	shown := []event.Fields{}
	for _, one := range h.Troubled[:min(len(h.Troubled), MostShown)] {
		shown = append(shown, event.Fields{event.F("id", one.ID), event.F("name", one.Name), event.F("reason", string(one.Reason))})
	}
	return append(h.counts(), event.F("agents", shown))
}
