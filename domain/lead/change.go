package lead

import (
	"holdco/domain/event"
	"holdco/domain/id"
)

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

// MostTold is how many ids an event of leads has at most.
const MostTold = 1000

// Events are those of a batch of leads that was kept: lead.imported with the ids of the leads that are new, and lead.updated with the ids
// of those that were there before, each if there are any.
func (m Merged) Events() (events []event.Event) {
	events = told(event.LeadImported, m.InsertedIDs, func(ids []id.Lead, isFirst bool) event.Fields {
		updated := 0
		if isFirst {
			updated = m.Updated
		}
		return event.Fields{event.F("inserted", len(ids)), event.F("updated", updated)}
	})
	return append(events, told(event.LeadUpdated, m.UpdatedIDs, func(ids []id.Lead, _ bool) event.Fields {
		return event.Fields{event.F("updated", len(ids))}
	})...)
}

// Removed are the events of a removal of leads.
func Removed(ids []id.Lead) []event.Event {
	return told(event.LeadRemoved, ids, func(ids []id.Lead, _ bool) event.Fields { return event.Fields{event.F("removed", len(ids))} })
}

// told makes events of so many leads. The counts of them add up.
func told(what event.Type, all []id.Lead, counts func(ids []id.Lead, isFirst bool) event.Fields) (events []event.Event) {
	for first := 0; first < len(all); first += MostTold {
		ids := all[first:min(first+MostTold, len(all))]
		shown := make([]string, len(ids))
		for i, which := range ids {
			shown[i] = string(which)
		}
		events = append(events, event.Event{
			Type:    what,
			Subject: event.Subject{Type: what.Kind()},
			Data:    append(counts(ids, first == 0), event.F("ids", shown)),
		})
	}
	return events
}

// Suppressed is the event of leads that imports must not bring back.
func Suppressed(leads int) event.Event { return counting(event.LeadSuppressed, "suppressed", leads) }

// Released is the event of leads that they may bring back again.
func Released(leads int) event.Event { return counting(event.LeadReleased, "released", leads) }

func counting(what event.Type, name string, leads int) event.Event {
	return event.Event{Type: what, Subject: event.Subject{Type: what.Kind()}, Data: event.Fields{event.F(name, leads)}}
}
