package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/page"
	"holdco/domain/secret"
	"holdco/ports/inbound"
)

type secrets struct{ port inbound.Secrets }

// Secrets handles the operations on secrets.
func Secrets(port inbound.Secrets) httpkit.Handlers {
	h := secrets{port}
	return httpkit.Handlers{"listSecrets": h.list, "getSecret": h.get}
}

func (h secrets) list(r httpkit.Request) (httpkit.Answer, error) {
	of := companyOf(r)
	return httpkit.List(r, "secrets of="+string(of), func(after page.Position, size int) (page.Page[secret.Secret], error) {
		return h.port.List(r.Context(), r.Caller(), of, after, size)
	})
}

func (h secrets) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), r.Path("secret"))
	return httpkit.Answer{Data: found.Fields(), ETag: httpkit.VersionTag(found.Version)}, err
}
