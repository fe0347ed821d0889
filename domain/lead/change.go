package lead

import "holdco/domain/event"

// Change counts what an import changed.
type Change struct{ Inserted, Updated, Unchanged int }

// Any reports whether anything changed.
func (c Change) Any() bool { return c.Inserted+c.Updated > 0 }

// Plus returns the sum of two parts of an import.
func (c Change) Plus(other Change) Change {
	return Change{c.Inserted + other.Inserted, c.Updated + other.Updated, c.Unchanged + other.Unchanged}
}

// Imported is the event of an import that changed something. It has the counts, but no ids.
func (c Change) Imported(what event.Type) event.Event {
	return event.Event{
		Type:    what,
		Subject: event.Subject{Type: what.Kind()},
		Data:    event.Fields{event.F("inserted", c.Inserted), event.F("updated", c.Updated)},
	}
}

// Removed is the event of a removal of leads.
func Removed(leads int) event.Event { return counting(event.LeadRemoved, "removed", leads) }

// Suppressed is the event of leads that imports must not bring back.
func Suppressed(leads int) event.Event { return counting(event.LeadSuppressed, "suppressed", leads) }

// Released is the event of leads that they may bring back again.
func Released(leads int) event.Event { return counting(event.LeadReleased, "released", leads) }

func counting(what event.Type, name string, leads int) event.Event {
	return event.Event{Type: what, Subject: event.Subject{Type: what.Kind()}, Data: event.Fields{event.F(name, leads)}}
}
