package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"holdco/domain/agent"
	"holdco/ports/outbound"
)

// adapters are what came of beginning to work for agents that Holdco runs.
type adapters struct {
	running prometheus.Gauge
	program begun
	offer   begun
}

type begun struct{ succeeded, failed prometheus.Counter }

func newAdapters(into promauto.Factory) adapters {
	starts := into.NewCounterVec(prometheus.CounterOpts{
		Name: "holdco_adapter_starts_total",
		Help: "Runs that Holdco began for agents: programs that it started, leases that it offered to URLs.",
	}, []string{"adapter", "outcome"})
	of := func(adapter string) begun {
		return begun{starts.WithLabelValues(adapter, "succeeded"), starts.WithLabelValues(adapter, "failed")}
	}
	return adapters{
		running: into.NewGauge(prometheus.GaugeOpts{
			Name: "holdco_programs_running",
			Help: "Programs of agents that run, at this server.",
		}),
		program: of(agent.ProcessAdapter),
		offer:   of(agent.HTTPAdapter),
	}
}

func (b begun) count(err error) {
	if err != nil {
		b.failed.Inc()
		return
	}
	b.succeeded.Inc()
}

// Programs returns programs that are counted.
func (m *Metrics) Programs(port outbound.Programs) outbound.Programs {
	return starting{port, m.adapters}
}

type starting struct {
	outbound.Programs
	adapters adapters
}

// Start implements outbound.Programs.
func (s starting) Start(program outbound.Program) (outbound.RunningProgram, error) {
	running, err := s.Programs.Start(program)
	s.adapters.program.count(err)
	if err == nil {
		s.adapters.running.Inc()
		go func() {
			<-running.Ended()
			s.adapters.running.Dec()
		}()
	}
	return running, err
}

// AgentPoster returns a poster whose offers are counted. An answer that is refused afterwards counts as a success.
func (m *Metrics) AgentPoster(port outbound.AgentPoster) outbound.AgentPoster {
	return offering{port, m.adapters}
}

type offering struct {
	outbound.AgentPoster
	adapters adapters
}

// Offer implements outbound.AgentPoster.
func (o offering) Offer(ctx context.Context, offer outbound.Offer) (outbound.OfferAnswer, error) {
	answer, err := o.AgentPoster.Offer(ctx, offer)
	o.adapters.offer.count(err)
	return answer, err
}
