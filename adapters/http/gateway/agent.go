package gateway

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/event"
	"holdco/ports/inbound"
)

type agent struct{ port inbound.AgentSelf }

// Agent handles the operations on the agent that calls.
func Agent(port inbound.AgentSelf) httpkit.Handlers {
	h := agent{port}
	return httpkit.Handlers{
		"me": h.me,
	}
}

func (h agent) me(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Me(r.Context(), r.Agent())
	if err != nil {
		return httpkit.Answer{}, err
	}
	var team any
	if found.Team != nil {
		team = found.Team.Fields()
	}
	return httpkit.Answer{Data: event.Fields{
		event.F("agent", found.Agent.Fields()),
		event.F("team", team),
		event.F("company", event.Fields{
			event.F("id", string(found.Company.ID)),
			event.F("name", found.Company.Name),
			event.F("workPaused", found.Company.WorkPaused),
		}),
		event.F("budgets", httpkit.Show(found.Budgets)),
		event.F("prices", event.Fields{event.F("revision", found.Prices)}),
		event.F("leases", found.Leases),
	}}, nil
}
