package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/ports/inbound"
)

// Instance handles the operation that shows the server.
func Instance(port inbound.Instance) httpkit.Handlers {
	return httpkit.Handlers{"getInstance": func(r httpkit.Request) (httpkit.Answer, error) {
		found, err := port.Get(r.Context(), r.Caller())
		if err != nil {
			return httpkit.Answer{}, err
		}
		return httpkit.Answer{Data: found.Fields()}, nil
	}}
}
