package wiring

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"holdco/adapters/archive"
	"holdco/adapters/cli"
	"holdco/adapters/http/httpkit"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system/workspaces"
	"holdco/adapters/telemetry/metrics"
	"holdco/adapters/telemetry/tracing"
	"holdco/app/jobs"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// telemetry is what watches the server: metrics always, traces where an endpoint for them is configured.
type telemetry struct {
	metrics *metrics.Metrics
	tracer  tracer
}

// tracer is a *tracing.Tracer, or a noTracer where no endpoint is configured.
type tracer interface {
	sqlstore.Observer
	Answered(ctx context.Context, e httpkit.Exchange)
	Requests(handler http.Handler, except ...string) http.Handler
	Log(log *slog.Logger) *slog.Logger
	Close(ctx context.Context) error
}

// noTracer traces nothing.
type noTracer struct{}

func (noTracer) Begin(ctx context.Context, _ sqlstore.Kind) context.Context          { return ctx }
func (noTracer) End(context.Context, sqlstore.Kind, sqlstore.Outcome, time.Duration) {}
func (noTracer) Answered(context.Context, httpkit.Exchange)                          {}
func (noTracer) Requests(handler http.Handler, _ ...string) http.Handler             { return handler }
func (noTracer) Log(log *slog.Logger) *slog.Logger                                   { return log }
func (noTracer) Close(context.Context) error                                         { return nil }

func newTelemetry(ctx context.Context, config Config, db database, version cli.Version, log *slog.Logger) (telemetry, error) {
	t := telemetry{metrics: metrics.New(collectors(db, version)...), tracer: noTracer{}}
	if !config.Traces {
		return t, nil
	}
	opened, err := tracing.Open(ctx, version.Number, log)
	if err != nil {
		return telemetry{}, err
	}
	t.tracer = opened
	return t, nil
}

// collectors are the metrics that are read at each scrape. Those that are counted as things happen are in adapters/telemetry/metrics.
func collectors(db database, version cli.Version) []metrics.Collector {
	all := append(metrics.Process(), metrics.Build(version.Number, version.Commit))
	for name, pool := range db.Pools {
		all = append(all, metrics.Pool(name, pool))
	}
	if db.Batches != nil {
		all = append(all, metrics.Batches(db.Batches))
	}
	return all
}

// newStore makes the store, and has it observed. What scrapes ask of it is not.
func newStore(db database, config Config, clocks Clocks, ids outbound.IDs, taken *taken, tel telemetry) store.Store {
	made := sqlstore.New(db.Engine, clocks.Process, ids, db.Migrator)
	if clocks.Store != nil {
		made = made.WithClock(clocks.Store)
	}
	tel.metrics.Add(metrics.Backlog(made.Outbox().Backlog, clocks.Process))
	tel.metrics.Add(metrics.Workload(made, clocks.Process))
	tel.metrics.Add(metrics.Difference(made, clocks.Process))
	tel.metrics.Add(metrics.Usage(made, config.Keep, clocks.Process, config.room(), taken.bytes))
	return tel.metrics.Store(made.Observed(tel.metrics, tel.tracer))
}

// taken is how many bytes files have, by what they are, as a job has measured it: that takes too long for a scrape.
type taken struct {
	parts atomic.Pointer[map[string]int64]
}

func newTaken() *taken {
	t := &taken{}
	t.parts.Store(&map[string]int64{})
	return t
}

func (t *taken) bytes() map[string]int64 { return *t.parts.Load() }

// measure is the job. A folder of backups that cannot be read is not told of here: what fails for it says so.
func (t *taken) measure(of *workspaces.Directories, backups string) func(context.Context) (more bool, err error) {
	return func(context.Context) (bool, error) {
		parts := map[string]int64{"workspaces": of.Size()}
		if backups != "" {
			if bytes, err := (archive.Archives{}).Size(backups); err == nil {
				parts["backups"] = bytes
			}
		}
		t.parts.Store(&parts)
		return false, nil
	}
}

// leases counts and times what agents claim.
func (t telemetry) leases(port inbound.Leases) inbound.Leases { return t.metrics.Leases(port) }

// watch are the hooks that are called after every answer.
func (t telemetry) watch() []func(context.Context, httpkit.Exchange) {
	return []func(context.Context, httpkit.Exchange){t.metrics.Answered, t.tracer.Answered}
}

// around is what surrounds an API. Probes and scrapes come too often to be worth a trace each.
func (t telemetry) around(api http.Handler) http.Handler {
	return t.tracer.Requests(t.metrics.InFlight(api), httpkit.HealthPath, httpkit.ReadyPath, httpkit.MetricsPath)
}

// log makes lines say to which trace they belong.
func (t telemetry) log(log *slog.Logger) *slog.Logger { return t.tracer.Log(log) }

// jobs counts and times the runs of jobs.
func (t telemetry) jobs(all []jobs.Job) []jobs.Job {
	for i, job := range all {
		all[i].Run = t.metrics.Job(job.Name, job.Run)
	}
	return all
}

// flush sends the spans that are left.
func (t telemetry) flush(ctx context.Context) error { return t.tracer.Close(ctx) }

// metricsPages is what the listener for metrics serves, where there is one.
type metricsPages struct{ http.Handler }

func newMetricsPages(s surroundings) metricsPages {
	options := httpkit.Options{Clock: s.Clock, IDs: s.IDs, Log: s.Log, Proxies: s.Config.TrustedProxies}
	pages := map[string]http.Handler{httpkit.MetricsPath: s.telemetry.metrics.Page()}
	return metricsPages{httpkit.Open(options, s.ready, pages)}
}
