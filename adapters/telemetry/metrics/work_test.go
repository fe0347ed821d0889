package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdco/adapters/telemetry/metrics"
	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/ports/inbound"
)

// office answers claims as it is told to.
type office struct {
	inbound.Leases
	held *inbound.Lease
	err  error
}

// Claim implements inbound.Leases.
func (o office) Claim(context.Context, agent.Caller, inbound.Claim) (*inbound.Lease, error) {
	if errors.Is(o.err, errPanic) {
		panic(o.err)
	}
	return o.held, o.err
}

var errPanic = errors.New("panic")

func TestAClaimIsCountedHoweverItEnds(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	held := &inbound.Lease{Took: 1500 * time.Millisecond}
	for _, o := range []office{
		{held: held},
		{},
		{err: fault.New(fault.CompanyArchived, "It is archived.")},
		{err: fault.New(fault.Unauthorized, "It has ended.")},
		{err: fmt.Errorf("the client: %w", context.Canceled)},
		{err: fault.New(fault.Unavailable, "Too many claims are waiting.")},
		{err: context.DeadlineExceeded},
		{err: errors.New("broken")},
		{err: errPanic},
	} {
		func() {
			defer func() { _ = recover() }()
			got, err := m.Leases(o).Claim(t.Context(), agent.Caller{}, inbound.Claim{})
			if got != o.held || !errors.Is(err, o.err) {
				t.Errorf("%v, %v", got, err)
			}
		}()
	}
	contains(t, m,
		`holdco_claims_total{outcome="granted"} 1`,
		`holdco_claims_total{outcome="empty"} 1`,
		`holdco_claims_total{outcome="refused"} 2`,
		`holdco_claims_total{outcome="canceled"} 1`,
		`holdco_claims_total{outcome="failed"} 4`,
		`holdco_claim_duration_seconds_count 1`,
		`holdco_claim_duration_seconds_sum 1.5`)
}

func contains(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	text := page(t, m)
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the page lacks %s", line)
		}
	}
}
