package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

type sessions struct{ port inbound.Sessions }

// Sessions handles the operations on sessions.
func Sessions(port inbound.Sessions) httpkit.Handlers {
	h := sessions{port}
	return httpkit.Handlers{"listSessions": h.list, "endSession": h.end}
}

func (h sessions) list(r httpkit.Request) (httpkit.Answer, error) {
	return httpkit.List(r, "sessions", func(after page.Position, size int) (page.Page[access.Session], error) {
		return h.port.List(r.Context(), r.Caller(), after, size)
	})
}

func (h sessions) end(r httpkit.Request) (httpkit.Answer, error) {
	ended, err := h.port.End(r.Context(), r.Caller(), httpkit.PathID[id.Session](r, "id"))
	return httpkit.Answer{Data: ended.Fields()}, err
}
