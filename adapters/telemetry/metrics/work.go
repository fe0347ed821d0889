package metrics

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"holdco/domain/agent"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// claims are counted by what came of them. Those that were granted are timed.
type claims struct {
	granted, empty, refused, canceled, failed prometheus.Counter

	duration prometheus.Observer
}

func newClaims(into promauto.Factory) claims {
	ended := into.NewCounterVec(prometheus.CounterOpts{
		Name: "holdco_claims_total",
		Help: "Claims of agents that ended, by what came of them.",
	}, []string{"outcome"})
	return claims{
		granted:  ended.WithLabelValues("granted"),
		empty:    ended.WithLabelValues("empty"),
		refused:  ended.WithLabelValues("refused"),
		canceled: ended.WithLabelValues("canceled"),
		failed:   ended.WithLabelValues("failed"),
		duration: into.NewHistogram(prometheus.HistogramOpts{
			Name:    "holdco_claim_duration_seconds",
			Help:    "Time in which a claim that was granted found and leased its issue. What it waited for one does not count.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}),
	}
}

// Leases returns leases whose claims are counted and timed.
func (m *Metrics) Leases(port inbound.Leases) inbound.Leases { return claiming{port, m.claims} }

type claiming struct {
	inbound.Leases
	claims claims
}

// Claim implements inbound.Leases.
func (c claiming) Claim(ctx context.Context, caller agent.Caller, claim inbound.Claim) (*inbound.Lease, error) {
	outcome := c.claims.failed
	defer func() { outcome.Inc() }() // after a panic too
	granted, err := c.Leases.Claim(ctx, caller, claim)
	switch code := fault.CodeOf(err); {
	case errors.Is(err, context.Canceled):
		outcome = c.claims.canceled
	case code == fault.Internal, code == fault.Unavailable: // it has failed
	case err != nil:
		outcome = c.claims.refused
	case granted == nil:
		outcome = c.claims.empty
	default:
		outcome = c.claims.granted
		c.claims.duration.Observe(granted.Took.Seconds())
	}
	return granted, err
}

// WaitingClaims reports how many claims wait in this process.
func WaitingClaims(read func() int) Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "holdco_claims_waiting",
		Help: "Claims that wait for an issue, at this server.",
	}, func() float64 { return float64(read()) })
}

// progress is what units of work do to runs and settlements.
type progress struct {
	ended    *series[run.Reason, prometheus.Counter]
	portions prometheus.Counter
}

func newProgress(into promauto.Factory) progress {
	ended := into.NewCounterVec(prometheus.CounterOpts{
		Name: "holdco_runs_ended_total",
		Help: "Runs that ended, by how and why; those that are deleted with their company are not counted.",
	}, []string{"status", "reason"})
	p := progress{
		ended: newSeries(func(why run.Reason) prometheus.Counter {
			return ended.WithLabelValues(string(why.Status()), string(why))
		}),
		portions: into.NewCounter(prometheus.CounterOpts{
			Name: "holdco_settlement_portions_total",
			Help: "Portions of settlements that were done.",
		}),
	}
	for _, why := range []run.Reason{ // so that the first of its kind is an increase
		run.Completed, run.GaveUp, run.RanOut, run.Released, run.HandedOff, run.IssueCancelled, run.AgentRetired, run.CompanyArchived,
	} {
		p.ended.of(why)
	}
	return p
}

// Store returns a store that counts the runs that its units of work end, and the portions of settlements that they do.
func (m *Metrics) Store(s store.Store) store.Store { return watched{s, m.progress} }

type watched struct {
	store.Store
	progress progress
}

// Update implements store.Store.
func (w watched) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	var unit done
	err := w.Store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		unit = done{}
		return write(ctx, watchedTx{tx, &unit})
	})
	if err != nil {
		return err
	}
	for _, why := range unit.ended {
		w.progress.ended.of(why).Inc()
	}
	w.progress.portions.Add(float64(unit.portions))
	return nil
}

// done is what one unit of work has done.
type done struct {
	open     []id.Run // those that it has locked and not ended
	ended    []run.Reason
	portions int
}

func (d *done) locked(found run.Run, err error) (run.Run, error) {
	if err == nil && found.IsOpen() {
		d.open = append(d.open, found.ID)
	}
	return found, err
}

func (d *done) saved(now run.Run) {
	isThis := func(one id.Run) bool { return one == now.ID }
	if !now.IsOpen() && slices.ContainsFunc(d.open, isThis) {
		d.open = slices.DeleteFunc(d.open, isThis)
		d.ended = append(d.ended, now.Lease.Reason)
	}
}

type watchedTx struct {
	store.Tx
	done *done
}

// Runs implements store.Tx.
func (t watchedTx) Runs() store.Runs { return watchedRuns{t.Tx.Runs(), t.done} }

// Settlements implements store.Tx.
func (t watchedTx) Settlements() store.Settlements {
	return watchedSettlements{t.Tx.Settlements(), t.done}
}

type watchedRuns struct {
	store.Runs
	done *done
}

// Lock implements store.Runs.
func (r watchedRuns) Lock(ctx context.Context, which id.Run) (run.Run, error) {
	return r.done.locked(r.Runs.Lock(ctx, which))
}

// LockLease implements store.Runs.
func (r watchedRuns) LockLease(ctx context.Context, which id.Lease) (run.Run, error) {
	return r.done.locked(r.Runs.LockLease(ctx, which))
}

// LockOpen implements store.Runs.
func (r watchedRuns) LockOpen(ctx context.Context, of id.Issue) (run.Run, error) {
	return r.done.locked(r.Runs.LockOpen(ctx, of))
}

// LockForCall implements store.Runs.
func (r watchedRuns) LockForCall(
	ctx context.Context, which id.Lease, but event.Actor, keys ...string,
) (store.LockedLease, error) {
	found, err := r.Runs.LockForCall(ctx, which, but, keys...)
	found.Run, err = r.done.locked(found.Run, err)
	return found, err
}

// LockForEnd implements store.Runs.
func (r watchedRuns) LockForEnd(
	ctx context.Context, which id.Lease, but event.Actor, keys ...string,
) (store.LockedLease, error) {
	found, err := r.Runs.LockForEnd(ctx, which, but, keys...)
	found.Run, err = r.done.locked(found.Run, err)
	return found, err
}

// Save implements store.Runs.
func (r watchedRuns) Save(ctx context.Context, saved run.Run) error {
	r.done.saved(saved)
	return r.Runs.Save(ctx, saved)
}

type watchedSettlements struct {
	store.Settlements
	done *done
}

// Remove implements store.Settlements. What is left of a settlement is another one.
func (s watchedSettlements) Remove(ctx context.Context, which id.Settlement) error {
	s.done.portions++
	return s.Settlements.Remove(ctx, which)
}

// workload is the work that is under way, as the store reports it at each scrape.
type workload struct {
	store store.Store
	clock outbound.Clock

	open, leaseOverdue, pending, settlementOverdue *prometheus.Desc
}

// workloadLimit is how long a scrape waits for the store.
const workloadLimit = 2 * time.Second

// Workload reports the work that is under way, on all replicas together. While the store is down, scrapes omit it.
func Workload(s store.Store, clock outbound.Clock) Collector {
	return workload{
		store: s, clock: clock,
		open: prometheus.NewDesc("holdco_leases_live",
			"Leases of open runs. Every server on one store reports the same.", nil, nil),
		leaseOverdue: prometheus.NewDesc("holdco_lease_overdue_seconds",
			"How long ago the first of the leases of open runs ran out; 0 when none has. Every server on one store reports the same.",
			nil, nil),
		pending: prometheus.NewDesc("holdco_settlements_pending",
			"What is left to do of changes that touch many issues. Every server on one store reports the same.", nil, nil),
		settlementOverdue: prometheus.NewDesc("holdco_settlement_overdue_seconds",
			"How long the oldest settlement has waited for its portion; 0 when there is none. Every server on one store reports the same.",
			nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (w workload) Describe(into chan<- *prometheus.Desc) {
	into <- w.open
	into <- w.leaseOverdue
	into <- w.pending
	into <- w.settlementOverdue
}

// Collect implements prometheus.Collector.
func (w workload) Collect(into chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), workloadLimit)
	defer cancel()
	var open, pending int
	var now, runsOut time.Time
	var oldest id.Settlement
	err := w.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if now, err = r.StoreNow(ctx); err != nil {
			return err
		}
		if open, runsOut, err = r.Runs().CountOpen(ctx); err != nil {
			return err
		}
		pending, oldest, err = r.Settlements().Count(ctx)
		return err
	})
	if err != nil {
		return
	}
	var leaseOverdue, settlementOverdue time.Duration
	if open > 0 {
		leaseOverdue = max(0, now.Sub(runsOut))
	}
	if pending > 0 { // the rest of a settlement has a new id, made by the clock of a process
		settlementOverdue = max(0, w.clock.Now().Sub(id.Time(oldest)))
	}
	into <- prometheus.MustNewConstMetric(w.open, prometheus.GaugeValue, float64(open))
	into <- prometheus.MustNewConstMetric(w.leaseOverdue, prometheus.GaugeValue, leaseOverdue.Seconds())
	into <- prometheus.MustNewConstMetric(w.pending, prometheus.GaugeValue, float64(pending))
	into <- prometheus.MustNewConstMetric(w.settlementOverdue, prometheus.GaugeValue, settlementOverdue.Seconds())
}
