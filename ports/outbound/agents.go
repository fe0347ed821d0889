package outbound

import (
	"context"
	"time"

	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

// AgentPoster posts leases to agents that are programs behind a URL. It is safe for concurrent use.
type AgentPoster interface {
	// Offer signs an offer, posts it, and returns the answer, after webhook.Timeout at most. It follows the rules of webhooks: which
	// addresses may be called, how requests are signed, and that redirects are not followed. It fails with an error that says why in
	// a sentence: there is no answer, or one that is none to an offer. The agent may have got the offer all the same: see OfferError.
	Offer(ctx context.Context, offer Offer) (OfferAnswer, error)
}

// OfferError is the failure of AgentPoster.Offer.
type OfferError struct {
	Reason  string // a sentence
	WasSent bool   // the agent may have got the offer, and done the work
}

// Error says why.
func (o OfferError) Error() string { return o.Reason }

// Offer is a lease that is posted to its agent.
type Offer struct {
	Run    id.Run // its id is that of the message: the same if it is posted again
	URL    string
	Body   []byte // JSON
	Secret webhook.Secret
	At     time.Time // of the request; signed
}

// OfferAnswer is what an agent answered.
type OfferAnswer struct {
	IsComplete bool         // the work is done; otherwise the agent has taken it on, and goes on through the gateway
	Result     []byte       // of complete work, JSON; nil: none
	Costs      []cost.Draft // of complete work, each valid on its own; there may be more than cost.MostInCall
	Problems   string       // what was wrong with the answer of complete work and is not in the rest, whole sentences; empty: nothing
}

// MostAnswer bounds the bytes of an answer.
const MostAnswer = 1 << 20
