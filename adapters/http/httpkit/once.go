package httpkit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/gin-gonic/gin"

	"holdco/domain/event"
	"holdco/domain/idempotency"
)

// Once describes the request to a use case whose answer may be kept under the client's idempotency key. answer turns
// the result of the use case into what a retry gets, so it leaves secrets out.
func Once[T any](r Request, answer func(result T) Answer) idempotency.Request {
	state := of(r.c)
	if state.once == "" {
		return idempotency.Request{}
	}
	// Runs of one agent number their requests each by itself, so a token of a run has keys of its own.
	caller := cmp.Or(string(state.caller.Token), string(state.agent.Lease), string(state.agent.ID))
	return idempotency.Request{
		Key:         idempotency.Key{Caller: caller, Value: state.once},
		Fingerprint: r.Fingerprint(),
		Answer: func(result any) ([]byte, error) {
			a := answer(result.(T))
			return event.Fields{
				event.F("status", a.Status), event.F("etag", a.ETag), event.F("location", a.Location), event.F("data", a.Data),
			}.Append(nil), nil
		},
	}
}

// kept reads an answer as it is kept: all but what belongs to one request.
type kept struct {
	Status   int             `json:"status"`
	ETag     string          `json:"etag"`
	Location string          `json:"location"`
	Data     json.RawMessage `json:"data"`
}

// OnceKey is the idempotency key of the request; empty: none.
func (r Request) OnceKey() string { return of(r.c).once }

// Fingerprint identifies a request by its method, its path and its body, byte for byte; one that sends a file by its query too.
func (r Request) Fingerprint() string {
	hash := sha256.New()
	_, _ = io.WriteString(hash, r.c.Request.Method+" "+r.c.Request.URL.EscapedPath()+"\n")
	_, _ = hash.Write(of(r.c).body)
	if sum := of(r.c).upload; sum != nil {
		_, _ = io.WriteString(hash, r.c.Request.URL.RawQuery+"\n")
		_, _ = hash.Write(sum)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func repeat(c *gin.Context, replay *idempotency.Replay) {
	var answer kept
	if err := json.Unmarshal(replay.Answer, &answer); err != nil {
		Fail(c, err)
		return
	}
	Write(c, Answer{Status: answer.Status, ETag: answer.ETag, Location: answer.Location, Data: answer.Data, IsReplayed: true})
}
