package runner

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"holdco/domain/agent"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

// post offers a lease to an agent behind a URL. The agent answers with what came of it, or takes it on and ends it through the
// gateway; if it does neither, that is NotStarted.
func (s *Service) post(granted inbound.Lease, lease Lease, a agent.Agent, url, gatewayURL string) error {
	answer, err := s.poster.Offer(s.life, outbound.Offer{
		Run: granted.Run.ID, URL: url, Body: append(granted.Fields(), event.F("gatewayUrl", gatewayURL)).Append(nil),
		Secret: secretOf(a), At: s.clock.Now(),
	})
	ctx := context.WithoutCancel(s.life)
	switch {
	case err != nil && s.life.Err() != nil: // Holdco stops: that is no failure of the agent
		return Worker{Gateway: s.leases}.end(ctx, lease, inbound.LeaseEnd{Action: issue.Release})
	case err != nil:
		if _, renewed := s.leases.Renew(ctx, lease.caller(), lease.call()); isFinal(renewed) {
			return nil // it ended the lease through the gateway, or somebody else did
		}
		failure, _ := errors.AsType[outbound.OfferError](err)
		return NotStarted{Cause: err, Repeats: failure.WasSent}
	case !answer.IsComplete:
		return nil
	}
	// What it cost is charged first: a budget may be spent with it.
	worker := Worker{Gateway: s.leases}
	problems := answer.Problems
	for charges := range slices.Chunk(answer.Costs, cost.MostInCall) {
		refused, err := worker.chargeOffered(ctx, lease, charges)
		if err != nil {
			return err
		}
		problems = strings.TrimSpace(problems + " " + refused)
	}
	end := inbound.LeaseEnd{Action: issue.Complete, Result: answer.Result}
	if problems != "" {
		end.Failure = run.FailureDraft{Code: new("answer_incomplete"), Message: &problems}
	}
	return worker.end(ctx, lease, end)
}

// chargeOffered charges what a receiver says that its work cost: all of it, or, if that is refused, each charge that is not. The work is
// done in any case, so it returns why charges are refused.
func (w Worker) chargeOffered(ctx context.Context, lease Lease, charges []cost.Draft) (problems string, err error) {
	err = w.whileLeased(ctx, lease, func(ctx context.Context) error {
		_, _, err := w.Gateway.Charge(ctx, lease.caller(), lease.call(), charges)
		return err
	})
	refused := fault.Of(err)
	switch {
	case refused == nil:
		return "", err
	case len(charges) == 1:
		return "A charge was refused: " + explained(refused).Error(), nil
	}
	for n := range charges {
		problem, err := w.chargeOffered(ctx, lease, charges[n:n+1])
		if err != nil {
			return "", err
		}
		problems = strings.TrimSpace(problems + " " + problem)
	}
	return problems, nil
}

// explained names the fields at fault.
func explained(refused *fault.Error) error {
	if len(refused.Fields) == 0 {
		return refused
	}
	var wrong []string
	for _, field := range refused.Fields {
		wrong = append(wrong, field.Message)
	}
	return errors.New(strings.Join(wrong, "; ") + ".")
}

// secretOf signs what is sent to an agent: the SHA-256 of its token, which the agent knows and Holdco keeps.
func secretOf(a agent.Agent) webhook.Secret {
	var key [32]byte
	if _, err := hex.Decode(key[:], []byte(a.Hash)); err != nil {
		panic(err) // it is a SHA-256 in hexadecimal
	}
	return webhook.NewSecret(key)
}
