package posting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/anyjson"
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
	var wasSent atomic.Bool
	answer, status, err := p.offer(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { wasSent.Store(wasSent.Load() || info.Err == nil) },
	}), offer)
	if err != nil {
		return answer, outbound.OfferError{Reason: err.Error(), WasSent: wasSent.Load() && !slices.Contains(turnedAway, status)}
	}
	return answer, nil
}

// turnedAway are statuses by which a receiver, or a proxy before it, refuses a request without working on it.
var turnedAway = []int{401, 403, 404, 405, 413, 415, 429, 503}

func (p *Poster) offer(ctx context.Context, offer outbound.Offer) (answer outbound.OfferAnswer, status int, err error) {
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
		return answer, status, sentence("The receiver did not answer: %s.", why)
	case status == takenOn:
		return answer, status, nil
	case status != done:
		return answer, status, sentence("The receiver answered %d.", status)
	}
	answer, err = completion(body)
	return answer, status, err
}

// byteOrderMark begins what some programs write in UTF-8.
var byteOrderMark = []byte("\ufeff")

// completion reads the body of an answer that the work is done. Work that is done is not thrown away because of a detail: what is wrong
// with the rest of the answer becomes a problem.
func completion(body []byte) (outbound.OfferAnswer, error) {
	if len(body) > outbound.MostAnswer {
		return outbound.OfferAnswer{}, sentence("The receiver's answer has more than %d bytes.", outbound.MostAnswer)
	}
	body = bytes.TrimPrefix(body, byteOrderMark)
	var problems []string
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\ufffd"))
		problems = append(problems, "It is not UTF-8: bytes that are not were replaced.")
	}
	var sent struct {
		Status jsontext.Value `json:"status"`
		Result jsontext.Value `json:"result"`
		Costs  jsontext.Value `json:"costs"`
	}
	err := json.Unmarshal(body, &sent, jsontext.AllowDuplicateNames(true))
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntactic), errors.Is(err, io.ErrUnexpectedEOF):
		return outbound.OfferAnswer{}, sentence("The receiver's answer is not JSON.")
	case err != nil:
		return outbound.OfferAnswer{}, sentence(
			"The receiver's answer is not an object with the members status, a string, and, if it has them, result and costs.")
	case sent.Status.Kind() != '"' || anyjson.Text(sent.Status) != "completed":
		return outbound.OfferAnswer{}, sentence(`The receiver's answer does not have the status "completed".`)
	}
	answer := outbound.OfferAnswer{IsComplete: true}
	if isThere(sent.Result) {
		var wrong string
		if answer.Result, wrong = kept(sent.Result); wrong != "" {
			problems = append(problems, wrong)
		}
	}
	if isThere(sent.Costs) {
		var wrong fault.Problems
		if answer.Costs = charges(sent.Costs, &wrong); len(wrong) > 0 {
			problems = append(problems, "Charges that are not valid were left out: "+summary(wrong)+".")
		}
	}
	answer.Problems = strings.Join(problems, " ")
	return answer, nil
}

// kept is a result as it can be kept: JSON that is not valid for the API, such as an object that names a member twice, becomes a text. One
// that is too large stays as it is: the core refuses it.
func kept(result jsontext.Value) (value []byte, wrong string) {
	var problems fault.Problems
	if anyjson.Check("result", result, outbound.MostAnswer, &problems); len(problems) == 0 {
		return result, ""
	}
	quoted, err := jsontext.AppendQuote(nil, string(result))
	if err != nil {
		return result, ""
	}
	return quoted, "The result is kept as text, as it names a member twice, or nests too deep."
}

// charges reads the valid charges of an answer. Problems get what is wrong with the others. What is not a field of a charge is passed over.
func charges(sent jsontext.Value, problems *fault.Problems) []cost.Draft {
	if sent.Kind() != '[' {
		cost.DraftsFromJSON("costs", sent, problems)
		return nil
	}
	items, err := anyjson.Items(sent)
	if err != nil {
		problems.Add(fault.Fieldf("costs", fault.InvalidFormat, "costs must be a list of charges"))
		return nil
	}
	valid := []cost.Draft{}
	entries := map[string]cost.Entry{}
	for n, item := range items {
		path := fmt.Sprintf("costs.%d", n)
		var wrong fault.Problems
		draft := cost.DraftFromJSON(path, item, &wrong)
		wrong = slices.DeleteFunc(wrong, func(field fault.Field) bool { return field.Code == fault.UnknownField })
		if len(wrong) == 0 {
			wrong = unlike(entries, path, draft)
		}
		if len(wrong) == 0 {
			valid = append(valid, draft)
		}
		problems.Add(wrong...)
	}
	return valid
}

// unlike returns what is wrong with a charge: of its fields, or that it has the key of another charge of the answer.
func unlike(entries map[string]cost.Entry, path string, draft cost.Draft) (wrong fault.Problems) {
	parsed := cost.Parse([]cost.Draft{draft}, nil, &wrong)
	for n := range wrong {
		wrong[n].Message = strings.Replace(wrong[n].Message, "costs.0", path, 1)
	}
	if len(wrong) > 0 {
		return wrong
	}
	entry := parsed[0]
	if former, found := entries[entry.Key]; found && !entry.IsSame(former) {
		return fault.Problems{fault.Fieldf(path+".key", fault.Duplicate, "%s.key is that of another charge", path)}
	}
	entries[entry.Key] = entry
	return nil
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
