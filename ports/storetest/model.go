package storetest

import (
	"maps"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/lead"
	"holdco/domain/partner"
	"holdco/domain/team"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// model is the simplest store: the expected result of a history of units.
type model struct {
	companies map[id.Company]company.Company
	teams     map[id.Company][]team.Team
	slots     map[id.Company][]team.Slot
	tokens    map[id.Token]access.Token
	events    []event.Event // oldest first, without their ids
	answers   map[idempotency.Key]idempotency.Receipt

	endpoints  map[id.Webhook]webhook.Endpoint
	deliveries map[id.Webhook][]webhook.Delivery // newest first
	partners   map[id.Partner]partner.Partner
	leads      map[id.Lead]lead.Stored
	advanced   time.Time // the instant of the running unit's change of leads; zero: there is none yet
}

func newModel() model {
	return model{
		companies: map[id.Company]company.Company{},
		teams:     map[id.Company][]team.Team{},
		slots:     map[id.Company][]team.Slot{},
		tokens:    map[id.Token]access.Token{},
		answers:   map[idempotency.Key]idempotency.Receipt{},

		endpoints:  map[id.Webhook]webhook.Endpoint{},
		deliveries: map[id.Webhook][]webhook.Delivery{},
		partners:   map[id.Partner]partner.Partner{},
		leads:      map[id.Lead]lead.Stored{},
	}
}

// clone is the model of the next unit.
func (m model) clone() model {
	return model{
		companies: maps.Clone(m.companies), teams: maps.Clone(m.teams), slots: maps.Clone(m.slots), tokens: maps.Clone(m.tokens),
		events: slices.Clone(m.events), answers: maps.Clone(m.answers), endpoints: maps.Clone(m.endpoints),
		deliveries: maps.Clone(m.deliveries), partners: maps.Clone(m.partners), leads: maps.Clone(m.leads),
	}
}

// forget takes away all that belongs to a company.
func (m *model) forget(which id.Company) {
	delete(m.teams, which)
	delete(m.slots, which)
	m.events = slices.DeleteFunc(m.events, func(happened event.Event) bool { return happened.Company == which })
	for key, receipt := range m.answers {
		if receipt.Company == which {
			receipt.Company, receipt.Answer = "", nil
			m.answers[key] = receipt
		}
	}
}

// rows counts what belongs to a company.
func (m *model) rows(which id.Company) int {
	rows := len(m.teams[which]) + len(m.slots[which]) + len(m.eventsOf(which))
	for _, receipt := range m.answers {
		if receipt.Company == which {
			rows++
		}
	}
	return rows
}

// eventsOf returns the events of a company, newest first.
func (m *model) eventsOf(which id.Company) []event.Event {
	var events []event.Event
	for _, happened := range slices.Backward(m.events) {
		if happened.Company == which {
			events = append(events, happened)
		}
	}
	return events
}

// listed returns the companies that meet a filter, newest first.
func (m *model) listed(filter store.CompanyFilter) []company.Company {
	companies := slices.SortedFunc(maps.Values(m.companies), newestCompanyFirst)
	return slices.DeleteFunc(companies, func(c company.Company) bool { return !meets(c, filter) })
}
