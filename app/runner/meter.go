package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"holdco/domain/cost"
	"holdco/domain/usage"
	"holdco/ports/inbound"
)

// meter charges what a program says that it costs: what is new whenever the lease is renewed, so that budgets see it, and the rest in the
// end.
type meter struct {
	Worker

	lease    Lease
	done     chan bool // receives whether the program has said that it succeeded, whenever that changes; it holds the last
	unpriced bool      // a model without a price was warned of

	mutex   sync.Mutex // of what follows: the program writes while its charges are made
	parser  *usage.Parser
	wasDone bool
}

func newMeter(worker Worker, lease Lease, parser *usage.Parser) *meter {
	return &meter{Worker: worker, lease: lease, parser: parser, done: make(chan bool, 1)}
}

// write takes what the program wrote to its standard output, one piece after the other.
func (m *meter) write(written []byte) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.parser.Write(written)
	isDone := m.parser.IsDone()
	if isDone == m.wasDone {
		return
	}
	m.wasDone = isDone
	select { // nobody else sends: what is in there is out of date
	case <-m.done:
	default:
	}
	m.done <- isDone
}

// report is what the program has said, when it has ended.
func (m *meter) report() usage.Report {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.parser.Report(m.Clock.Now())
}

// due are the next charges, after those that were made came to something.
func (m *meter) due(made ...inbound.ChargeOutcome) []cost.Draft {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, outcome := range made {
		m.parser.Charged(outcome.Entry)
	}
	return m.parser.Due(cost.MostInCall)
}

// chargeNew charges what is new, once: what cannot be charged now is charged later.
func (m *meter) chargeNew(ctx context.Context) {
	_ = m.charge(func(charges []cost.Draft) (outcomes []inbound.ChargeOutcome, err error) {
		_, outcomes, err = m.Gateway.Charge(ctx, m.lease.caller(), m.lease.call(), charges)
		return outcomes, err
	})
}

// chargeRest charges what the program has used and was not charged, after its end.
func (m *meter) chargeRest(ctx context.Context) error {
	err := m.charge(func(charges []cost.Draft) (outcomes []inbound.ChargeOutcome, err error) {
		err = m.whileLeased(ctx, m.lease, func(ctx context.Context) (err error) {
			_, outcomes, err = m.Gateway.Charge(ctx, m.lease.caller(), m.lease.call(), charges)
			return err
		})
		return outcomes, err
	})
	if err != nil {
		return fmt.Errorf("what the program cost could not be charged: %w", err)
	}
	return nil
}

// charge charges what is due, portion by portion.
func (m *meter) charge(call func(charges []cost.Draft) ([]inbound.ChargeOutcome, error)) error {
	for charges := m.due(); len(charges) > 0; {
		outcomes, err := call(charges)
		if err != nil {
			return err
		}
		if len(outcomes) != len(charges) {
			return errors.New("the gateway does not say what came of each charge")
		}
		for n, outcome := range outcomes {
			if outcome.Entry.Unpriced && charges[n].Model != nil {
				m.warnOfPrice(*charges[n].Model)
			}
		}
		charges = m.due(outcomes...)
	}
	return nil
}

func (m *meter) warnOfPrice(model string) {
	if !m.unpriced {
		m.unpriced = true
		m.warn(fmt.Errorf("the model %q, which the program of run %s used, has no price: it is charged at the fallback price until "+
			"one is set", model, m.lease.Run.ID))
	}
}
