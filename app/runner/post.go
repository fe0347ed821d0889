package runner

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"holdco/domain/agent"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/issue"
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
		return NotStarted{err}
	case !answer.IsComplete:
		return nil
	}
	// What it cost is told first: it is taken after the end of the lease too.
	worker := Worker{Gateway: s.leases}
	if _, err = worker.charge(ctx, lease, answer.Costs); err == nil {
		err = worker.end(ctx, lease, inbound.LeaseEnd{Action: issue.Complete, Result: answer.Result})
	}
	if refused := fault.Of(err); refused != nil {
		return NotStarted{fmt.Errorf("the answer of the agent was refused: %w", explained(refused))}
	}
	return err
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
