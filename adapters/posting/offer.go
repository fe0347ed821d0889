package posting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/webhook"
	"holdco/ports/outbound"
)

// Statuses that an agent may answer: the work is done, or is taken on.
const (
	done    = 200
	takenOn = 202
)

// Offer implements outbound.AgentPoster.
func (p *Poster) Offer(ctx context.Context, offer outbound.Offer) (outbound.OfferAnswer, error) {
	var status int
	var body []byte
	_, why := p.send(ctx, signed{
		id: string(offer.Run), url: offer.URL, body: offer.Body, secrets: []webhook.Secret{offer.Secret}, at: offer.At,
	}, func(answered int, from io.Reader) (err error) {
		if status = answered; status == done {
			body, err = io.ReadAll(io.LimitReader(from, outbound.MostAnswer+1))
		}
		return err
	})
	switch {
	case why != "":
		return outbound.OfferAnswer{}, sentence("The receiver did not answer: %s.", why)
	case status == takenOn:
		return outbound.OfferAnswer{}, nil
	case status != done:
		return outbound.OfferAnswer{}, sentence("The receiver answered %d.", status)
	}
	return completion(body)
}

// completion reads the body of an answer that the work is done.
func completion(body []byte) (outbound.OfferAnswer, error) {
	if len(body) > outbound.MostAnswer {
		return outbound.OfferAnswer{}, sentence("The receiver's answer has more than %d bytes.", outbound.MostAnswer)
	}
	var sent struct {
		Status *string        `json:"status"`
		Result jsontext.Value `json:"result"`
		Costs  jsontext.Value `json:"costs"`
	}
	err := json.Unmarshal(body, &sent, json.RejectUnknownMembers(true))
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return outbound.OfferAnswer{}, sentence("The receiver's answer names a member twice.")
	case errors.As(err, &syntactic), errors.Is(err, io.ErrUnexpectedEOF):
		return outbound.OfferAnswer{}, sentence("The receiver's answer is not JSON.")
	case err != nil:
		return outbound.OfferAnswer{}, sentence(
			"The receiver's answer is not an object with the members status, a string, and, if it has them, result and costs.")
	case sent.Status == nil || *sent.Status != "completed":
		return outbound.OfferAnswer{}, sentence(`The receiver's answer does not have the status "completed".`)
	}
	answer := outbound.OfferAnswer{IsComplete: true}
	if isThere(sent.Result) {
		answer.Result = sent.Result
	}
	if isThere(sent.Costs) {
		var problems fault.Problems
		answer.Costs = cost.DraftsFromJSON("costs", sent.Costs, &problems)
		if len(problems) > 0 {
			return outbound.OfferAnswer{}, sentence("The receiver's answer has costs that are not valid: %s.", summary(problems))
		}
	}
	return answer, nil
}

// isThere reports whether a member was sent, and is not null.
func isThere(member jsontext.Value) bool { return len(member) > 0 && member.Kind() != 'n' }

// summary says what is wrong with the first fields.
func summary(problems fault.Problems) string {
	const most, longest = 3, 200
	var wrong []string
	for _, problem := range problems[:min(len(problems), most)] {
		message := problem.Message
		if len(message) > longest {
			message = strings.ToValidUTF8(message[:longest], "") + "..."
		}
		wrong = append(wrong, message)
	}
	if more := len(problems) - most; more > 0 {
		wrong = append(wrong, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(wrong, "; ")
}

// explained is an error in words for the owner of an agent, whole sentences.
type explained string

func (e explained) Error() string { return string(e) }

func sentence(format string, args ...any) error { return explained(fmt.Sprintf(format, args...)) }
