package rest

import (
	"io"

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
		"listRuns":  h.list,
		"getRun":    h.get,
		"getRunLog": h.log,
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

func (h runs) log(r httpkit.Request) (httpkit.Answer, error) {
	of, on, which := companyOf(r), issueOf(r), httpkit.PathID[id.Run](r, "run")
	found, err := h.port.Log(r.Context(), r.Caller(), of, on, which, inbound.LogPart{})
	if err != nil {
		return httpkit.Answer{}, err
	}
	text := &httpkit.Text{Content: found.Written}
	if r.Query()["follow"] == "true" {
		text.More = func() ([]byte, error) {
			if !found.IsOpen {
				return nil, io.EOF
			}
			found, err = h.port.Log(r.Context(), r.Caller(), of, on, which, inbound.LogPart{From: found.Next, Wait: true})
			return found.Written, err
		}
	}
	return httpkit.Answer{Text: text}, nil
}
