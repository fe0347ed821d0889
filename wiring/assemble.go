package wiring

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"holdco/adapters/cli"
	"holdco/adapters/dashboard"
	"holdco/adapters/http/docs"
	"holdco/adapters/http/gateway"
	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/partner"
	"holdco/adapters/http/rest"
	"holdco/adapters/leads/importer"
	"holdco/adapters/leads/leadindex"
	"holdco/adapters/leads/samples"
	"holdco/adapters/limits/memlimit"
	"holdco/adapters/limits/redislimit"
	"holdco/adapters/posting"
	"holdco/adapters/programs"
	"holdco/adapters/store/postgres"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system/vault"
	"holdco/adapters/system/workspaces"
	"holdco/adapters/telemetry/metrics"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/app/deliveries"
	"holdco/app/doctor"
	"holdco/app/export"
	"holdco/app/partners"
	"holdco/app/readiness"
	"holdco/app/replicas"
	"holdco/app/retention"
	"holdco/app/runner"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// database is an open store, whichever engine it runs on.
type database struct {
	Engine    sqlstore.Engine
	Migrator  *sqlstore.Migrator
	Inspector store.Inspector
	Source    store.Source
	Restored  restored

	// For metrics alone.
	Pools   map[string]*sql.DB
	Batches func() (batches, units int64) // nil: the engine knows no batches
}

// restored is closed when another store was restored in the place of an open one; nil: that cannot be.
type restored <-chan struct{}

// command is what the command line works with.
type command struct {
	services

	Store   store.Store
	Vault   outbound.Vault
	Patient doctor.Patient
}

// openForServer opens the configured store; an embedded one for this process as its only server.
func openForServer(ctx context.Context, config Config, log *slog.Logger) (database, func(), error) {
	return open(ctx, config, log, sqlite.Options{Exclusive: true})
}

// openForCommand opens the configured store, which is there, beside a server that may be running on it.
func openForCommand(ctx context.Context, config Config, log *slog.Logger) (database, func(), error) {
	return openBeside(ctx, config, log, sqlite.Options{MustExist: true})
}

// openToMigrate is openForCommand for a store that may be missing.
func openToMigrate(ctx context.Context, config Config, log *slog.Logger) (database, func(), error) {
	return openBeside(ctx, config, log, sqlite.Options{})
}

func openBeside(ctx context.Context, config Config, log *slog.Logger, file sqlite.Options) (database, func(), error) {
	if config.Database.SQLite == Memory {
		return database{}, nil, errInMemory
	}
	return open(ctx, config, log, file)
}

func postgresOptions(ctx context.Context, config Config, log *slog.Logger) postgres.Options {
	return postgres.Options{
		URL:       config.Database.Postgres,
		Wait:      config.DatabaseWait,
		Pooled:    config.isPooled(),
		DirectURL: config.DatabaseDirect,
		Unhurried: config.Unhurried,
		OnWait: func(cause error) {
			log.WarnContext(ctx, "waiting for Postgres", "atMost", config.DatabaseWait.String(), "error", cause.Error())
		},
	}
}

// open opens the configured store. Options of a file are for SQLite; one that is for a server alone says so of Postgres too.
func open(ctx context.Context, config Config, log *slog.Logger, file sqlite.Options) (database, func(), error) {
	if config.Database.Postgres != "" {
		options := postgresOptions(ctx, config, log)
		options.Server = file.Exclusive
		engine, err := postgres.Open(ctx, options)
		if err != nil {
			return database{}, nil, err
		}
		opened := database{Engine: engine, Migrator: engine.Migrator(), Inspector: engine, Source: engine.Source(), Pools: engine.Pools()}
		opened.Restored = engine.Restored()
		return opened, closing(engine, log), nil
	}
	file.Path, file.Synchronous = config.Database.SQLite, sqlite.Synchronous(config.SQLiteSync)
	engine, err := sqlite.Open(ctx, file)
	if err != nil {
		return database{}, nil, err
	}
	opened := database{Engine: engine, Migrator: engine.Migrator(), Inspector: engine, Pools: engine.Pools(), Batches: engine.Batches}
	opened.Source = sqlite.NewSource(config.Database.SQLite)
	return opened, closing(engine, log), nil
}

func closing(engine io.Closer, log *slog.Logger) func() {
	return func() {
		if err := engine.Close(); err != nil {
			log.Warn("the store did not close cleanly", "error", err.Error())
		}
	}
}

func newWorkspaces(config Config) *workspaces.Directories { return workspaces.New(config.DataDir) }

func newCompanySettings(config Config) companies.Settings {
	return companies.Settings{Adapters: config.Adapters, Retention: config.ArchiveRetention}
}

func newVault(config Config) *vault.Vault { return vault.New(config.KeyFile) }

func newPosting(config Config, version cli.Version) (*posting.Poster, func()) {
	poster := posting.New(posting.Options{
		Version: version.Number, AllowPrivate: config.WebhookPrivate, Parallel: config.WebhookParallel,
	})
	return poster, poster.Close
}

func newPoster(poster *posting.Poster, tel telemetry) outbound.WebhookPoster {
	return tel.metrics.Poster(poster)
}

// newRunner makes what runs agents, and has it observed.
func newRunner(
	s store.Store, all services, started *programs.Programs, poster *posting.Poster, clock outbound.Clock, log outbound.Log,
	config Config, tel telemetry,
) *runner.Service {
	settings := runner.Settings{
		Adapters: config.Adapters, Processes: config.MostProcesses, Requests: mostRequests, LongestStop: config.LongestStop,
	}
	observed := tel.metrics.Programs(started)
	return runner.New(s, tel.leases(all.Secrets.Hiding(all.Leases)), all.Secrets, observed, started, tel.metrics.AgentPoster(poster), clock,
		log, runner.Hooks{Seen: all.Agents.Seen, Left: all.Companies.Mend}, settings)
}

// newReadiness makes what looks whether agents can work, in ways that are those of newRunner.
func newReadiness(
	s store.Store, programs *programs.Programs, prices *cache.Prices, config Config, version cli.Version,
) *readiness.Service {
	receivers := posting.New(posting.Options{Version: version.Number, AllowPrivate: config.WebhookPrivate})
	return readiness.New(s, programs, receivers, prices, readiness.Settings{
		Adapters: config.Adapters, Processes: config.MostProcesses, HasGateway: config.GatewayAddr != "", GatewayURL: config.GatewayURL,
	})
}

// mostRequests bounds how many leases are offered to agents behind URLs at once.
const mostRequests = 64

// newPrograms returns what runs the programs of agents below the data directory.
func newPrograms(config Config, log *slog.Logger) (*programs.Programs, func()) {
	made := programs.New(programs.Options{DataDir: config.DataDir})
	return made, func() {
		if err := made.Close(); err != nil {
			log.Warn("what was noted of programs of agents could not be removed", "error", err.Error())
		}
	}
}

func newReplicas(s store.Store, ids outbound.IDs, version cli.Version) *replicas.Service {
	return replicas.New(s, ids, version.Number)
}

func newParallel(config Config) deliveries.Parallel {
	return deliveries.Parallel(config.WebhookParallel)
}

// redisTimeout is how long Redis may take to answer before it counts as lost.
const redisTimeout = 250 * time.Millisecond

func newRetention(
	s store.Store, signer outbound.Signer, logs *programs.Programs, clock outbound.Clock, config Config, tel telemetry,
) *retention.Service {
	var counter retention.Counter
	if tel.metrics != nil { // in a server
		counter = tel.metrics.Removed
	}
	return retention.New(s, signer, logs, clock, config.Keep, counter)
}

// newLimiter counts in this process, and in Redis too when one is configured.
func newLimiter(
	ctx context.Context, config Config, clock outbound.Clock, tel telemetry, log *slog.Logger,
) (outbound.Limiter, func(), error) {
	own := memlimit.New(clock)
	if config.RedisURL == "" {
		return tel.metrics.Limiter(own), func() {}, nil
	}
	tel.metrics.Sharing()
	shared, err := redislimit.Open(ctx, redislimit.Options{
		URL: config.RedisURL,
		Own: own,
		OnLost: func(cause error) {
			tel.metrics.LostRedis()
			log.Warn("Redis does not answer; until it does, this process counts requests by itself", "error", cause.Error())
		},
		OnBack: func() {
			tel.metrics.Sharing()
			log.Info("Redis answers again; requests are counted there")
		},
		Timeout: redisTimeout,
	})
	if err != nil {
		return nil, nil, err
	}
	return tel.metrics.Limiter(shared), func() {
		if err := shared.Close(); err != nil {
			log.Warn("the connections to Redis did not close cleanly", "error", err.Error())
		}
	}, nil
}

func newOperatorLog(tel telemetry, log *slog.Logger) outbound.Log { return operatorLog{tel.log(log)} }

// surroundings are what everything that listens needs.
type surroundings struct {
	Config   Config
	Store    store.Store
	Limiter  outbound.Limiter
	Clock    outbound.Clock
	IDs      outbound.IDs
	Log      *slog.Logger
	Stopping *httpkit.Stopping

	telemetry telemetry
}

// ready fails while requests cannot be served, or only reads.
func (s surroundings) ready(ctx context.Context) error {
	if err := s.Config.hasRoom(); err != nil {
		return err
	}
	return s.Store.Ready(ctx)
}

// service is what an API needs that has its reference below a path.
func (s surroundings) service(under string) httpkit.Service {
	return httpkit.Service{
		Options: httpkit.Options{
			Clock:    s.Clock,
			IDs:      s.IDs,
			Log:      s.telemetry.log(s.Log),
			Proxies:  s.Config.TrustedProxies,
			Watch:    s.telemetry.watch(),
			Stopping: s.Stopping,

			Room:       s.Config.hasRoom,
			MostUpload: s.Config.MaxImport,
		},
		Limits: httpkit.Limits{Limiter: s.Limiter, ByClass: s.Config.Rates},
		Ready:  s.ready,
		Pages:  docs.Pages(under),
	}
}

func newAPI(s surroundings, all services) (http.Handler, error) {
	service := s.service("")
	if s.Config.MetricsAddr == "" {
		service.Pages[httpkit.MetricsPath] = s.telemetry.metrics.Page()
	}
	var handlers []httpkit.Routes
	for _, r := range resources {
		if r.handlers != nil {
			handlers = append(handlers, r.handlers(all))
		}
	}
	api, err := rest.New(rest.Options{Service: service, Resources: handlers, Auth: all.Tokens, Origins: s.Config.CORSOrigins})
	if err != nil {
		return nil, err
	}
	return s.telemetry.around(api), nil
}

// dashboardPages are what people use in a browser, with all that surrounds it.
type dashboardPages struct{ http.Handler }

func newDashboard(s surroundings, api http.Handler, all services, version cli.Version) (dashboardPages, error) {
	pages, err := dashboard.New(dashboard.Options{Service: s.service(""), API: api, Sessions: all.Sessions, Version: version.Number})
	if err != nil {
		return dashboardPages{}, err
	}
	return dashboardPages{pages}, nil
}

// gatewayAPI is what agents work through, with all that surrounds it.
type gatewayAPI struct{ http.Handler }

func newGatewayAPI(s surroundings, all services, version cli.Version) (gatewayAPI, error) {
	s.telemetry.metrics.Add(metrics.WaitingClaims(all.Leases.Waiting))
	var handlers []httpkit.Routes
	for _, r := range resources {
		if r.gateway != nil {
			handlers = append(handlers, r.gateway(all, s.telemetry))
		}
	}
	api, err := gateway.New(gateway.Options{
		Service: s.service(gateway.Root), Groups: handlers, Auth: all.Agents, Self: all.Agents, Version: version.Number,
		Origins: s.Config.GatewayOrigins, URL: s.Config.GatewayURL,
	})
	if err != nil {
		return gatewayAPI{}, err
	}
	return gatewayAPI{s.telemetry.around(api)}, nil
}

// newSpool keeps files that are sent to be imported on the disk of the data directory: a temporary directory may be in memory.
func newSpool(config Config) importer.Spool {
	const unpacking = 16 // how much larger a file may be when it is unpacked
	return importer.Spool{Dir: filepath.Join(config.DataDir, "imports"), MostUnpacked: config.MaxImport * unpacking}
}

func newLeadIndex(s store.Store, tel telemetry) *leadindex.Index {
	index := leadindex.New(s)
	tel.metrics.Add(metrics.LeadIndex(func() metrics.Index {
		now := index.Status()
		return metrics.Index{Ready: now.Ready, Leads: now.Leads, Bytes: now.Bytes, Built: now.Built}
	}))
	return index
}

func newPartners(s store.Store, clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy) *partners.Service {
	return partners.New(s, clock, ids, entropy, samples.Sample)
}

// newExports are what keys read: test keys a sample that is made up.
func newExports(e *export.Service, clock outbound.Clock) *export.Keys {
	return export.NewKeys(e, samples.Sample, clock)
}

// exportAPI is what partners read, with all that surrounds it.
type exportAPI struct {
	http.Handler

	endWaits func() // of those who wait for changes
}

func newExportAPI(s surroundings, e *export.Keys, auth *partners.Service) (exportAPI, error) {
	api, err := partner.New(partner.Options{Service: s.service(partner.Root), Exports: e, Auth: s.telemetry.metrics.Partners(auth)})
	if err != nil {
		return exportAPI{}, err
	}
	return exportAPI{s.telemetry.around(api), e.Close}, nil
}
