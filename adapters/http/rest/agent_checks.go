package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/event"
	"holdco/ports/inbound"
)

// AgentChecks handles the operation that checks an agent.
func AgentChecks(port inbound.AgentChecks) httpkit.Handlers {
	return httpkit.Handlers{"checkAgent": func(r httpkit.Request) (httpkit.Answer, error) {
		found, err := port.Check(r.Context(), r.Caller(), companyOf(r), agentOf(r))
		isReady := true
		shown := make([]event.Fields, len(found))
		for i, finding := range found {
			isReady = isReady && finding.OK
			shown[i] = finding.Fields()
		}
		return httpkit.Answer{Data: event.Fields{
			event.F("agentId", string(agentOf(r))), event.F("ok", isReady), event.F("findings", shown),
		}}, err
	}}
}
