package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/inbound"
)

type runs struct{ port inbound.Issues }

// Runs handles the operations on the runs of issues.
func Runs(port inbound.Issues) httpkit.Handlers {
	h := runs{port}
	return httpkit.Handlers{
		"listRuns": h.list,
		"getRun":   h.get,
	}
}

func (h runs) list(r httpkit.Request) (httpkit.Answer, error) {
	of, on := companyOf(r), issueOf(r)
	return httpkit.List(r, "runs of="+string(on), func(after page.Position, size int) (page.Page[run.Run], error) {
		return h.port.Runs(r.Context(), r.Caller(), of, on, after, size)
	})
}

func (h runs) get(r httpkit.Request) (httpkit.Answer, error) {
	found, checkpoints, err := h.port.Run(r.Context(), r.Caller(), companyOf(r), issueOf(r), httpkit.PathID[id.Run](r, "run"))
	shown := append(found.Fields(), event.F("checkpoints", httpkit.Show(checkpoints)))
	return httpkit.Answer{Data: shown, ETag: httpkit.DigestTag(shown.Append(nil))}, err
}
