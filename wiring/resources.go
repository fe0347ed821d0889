package wiring

import (
	"context"
	"time"

	"github.com/google/wire"

	"holdco/adapters/cli"
	"holdco/adapters/http/gateway"
	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/rest"
	"holdco/adapters/leads/importer"
	"holdco/adapters/leads/leadcsv"
	"holdco/adapters/leads/leadindex"
	"holdco/adapters/leads/leadjson"
	"holdco/adapters/leads/samples"
	"holdco/adapters/system/workspaces"
	"holdco/app/activity"
	"holdco/app/agents"
	"holdco/app/approvals"
	"holdco/app/backups"
	"holdco/app/budgets"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/app/costs"
	"holdco/app/dashboard"
	"holdco/app/deliveries"
	"holdco/app/doctor"
	"holdco/app/goals"
	"holdco/app/imports"
	"holdco/app/instance"
	"holdco/app/issues"
	"holdco/app/jobs"
	"holdco/app/keys"
	"holdco/app/leases"
	"holdco/app/partners"
	"holdco/app/prices"
	"holdco/app/readiness"
	"holdco/app/replicas"
	"holdco/app/retention"
	"holdco/app/runner"
	"holdco/app/secrets"
	"holdco/app/sessions"
	"holdco/app/teams"
	"holdco/app/tokens"
	"holdco/app/webhooks"
	"holdco/app/work"
	"holdco/app/workflows"
	setup "holdco/domain/instance"
	"holdco/domain/replica"
	"holdco/ports/inbound"
)

// services are the use cases of the resources, in the server and on the command line.
type services struct {
	Companies *companies.Service
	Teams     *teams.Service
	Agents    *agents.Service
	Readiness *readiness.Service
	Issues    *issues.Service
	Leases    *leases.Service
	Budgets   *budgets.Service
	Costs     *costs.Service
	Dashboard *dashboard.Service
	Goals     *goals.Service
	Projects  *goals.Projects
	Workflows *workflows.Service
	Approvals *approvals.Service
	Tokens    *tokens.Service
	Sessions  *sessions.Service
	Webhooks  *webhooks.Service
	Partners  *partners.Service
	Imports   *imports.Service
	Uploads   *imports.Uploads
	Prices    *prices.Service
	Secrets   *secrets.Service
	Keys      *keys.Service
	Backups   *backups.Service
	Retention *retention.Service
	Activity  *activity.Service
	Instance  *instance.Service

	Version    cli.Version
	StreamPace rest.StreamPace
	Spool      importer.Spool
}

var serviceSet = wire.NewSet( //nolint:unused // Wire reads it, in wire.go
	companies.New, teams.New, agents.New, issues.New, leases.New, tokens.New, sessions.New, webhooks.New, newPartners,
	imports.New, imports.NewUploads, newSpool,
	budgets.New,
	prices.New, newPrices,
	costs.New,
	dashboard.New,
	goals.New, goals.NewProjects,
	workflows.New,
	approvals.New,
	secrets.New, keys.New,
	newServerBackups, newRetention,
	newReadiness,
	activity.New, wire.Bind(new(doctor.Chains), new(*activity.Service)),
	instance.New, newSetup,
	newAgentSettings, newAgentCredentials, newLeaseSettings, newStreamPace,
	wire.Struct(new(services), "*"),
)

func newAgentSettings(config Config) agents.Settings {
	return agents.Settings{Adapters: config.Adapters}
}

// newAgentCredentials is shared by the use cases that end credentials of agents.
func newAgentCredentials() *agents.Credentials { return &agents.Credentials{} }

// newPrices are shared by the use cases that charge, and the job that follows their changes.
func newPrices() *cache.Prices { return &cache.Prices{} }

// mostWaiting bounds how many claims wait in one process, each with its connection.
const mostWaiting = 5000

func newLeaseSettings(config Config) leases.Settings {
	return leases.Settings{LeaseTime: config.LeaseTime, Reserve: config.Reserve, MostWaiting: mostWaiting}
}

// newSetup is what the server says of itself.
func newSetup(config Config, version cli.Version) setup.Setup {
	kind := "sqlite"
	if config.Database.Postgres != "" {
		kind = "postgres"
	}
	return setup.Setup{
		Version: version.Number, Store: kind, Adapters: config.Adapters, Limits: config.Rates, Retention: config.ArchiveRetention,
		MaxImport: config.MaxImport,
		Listeners: setup.Listeners{
			API: config.APIAddr, Dashboard: config.DashboardAddr, Gateway: config.GatewayAddr, Partner: config.PartnerAddr,
			Metrics: config.MetricsAddr,
		},
	}
}

func newStreamPace(config Config) rest.StreamPace { return config.StreamPace }

// background are what only jobs of the server need, beside its fields.
type background struct {
	Deliveries *deliveries.Service
	Work       *work.Service
	Runner     *runner.Service
	Index      *leadindex.Index
	Schedule   *backups.Schedule
	Replicas   *replicas.Service
	Workspaces *workspaces.Directories
	Taken      *taken
}

var backgroundSet = wire.NewSet( //nolint:unused // Wire reads it, in wire.go
	newPosting, newPoster, newParallel, deliveries.New, work.New, newRunner, newLeadIndex, newSchedule, newReplicas,
	wire.Struct(new(background), "*"),
)

// resource is what a resource adds to the program. What it does not have is nil.
type resource struct {
	handlers func(s services) httpkit.Handlers
	gateway  func(s services, tel telemetry) httpkit.Handlers // of the gateway for agents
	commands []cli.Command
	jobs     func(s *Server) []jobs.Job
	flush    func(s *Server) jobs.Job                   // writes down what is in memory; after the other jobs it runs a last time
	stop     func(ctx context.Context, s *Server) error // after the jobs, before the store is closed
}

// flushing is a job that writes down what is in memory.
func flushing(name string, run func(ctx context.Context) (more bool, err error)) jobs.Job {
	return jobs.Job{Name: name, Every: 10 * time.Second, Later: true, Run: run}
}

// resources are all that there are.
var resources = []resource{
	{
		handlers: func(s services) httpkit.Handlers { return rest.Companies(s.Companies) },
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{
				{Name: "remove deleted companies", Every: 5 * time.Second, Wake: s.Companies.Deletions(), Run: s.Companies.RemoveDeleted},
				{Name: "mend workspaces", Every: 5 * time.Second, Run: s.Companies.MendWorkspaces},
			}
		},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Teams(s.Teams) },
		commands: []cli.Command{cli.TeamCommand},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Budgets(s.Budgets) },
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Issues(s.Issues) },
		commands: []cli.Command{cli.IssueCommand},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{
				{Name: "settle issues", Every: time.Second, Run: s.Work.Settle},
				{Name: "wake issues that are due", Every: time.Second, Run: s.Work.WakeDue},
			}
		},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Runs(s.Issues) },
		gateway: func(s services, tel telemetry) httpkit.Handlers {
			return gateway.Leases(tel.leases(s.Secrets.Hiding(s.Leases)))
		},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{
				{Name: "wake waiting claims", Every: 200 * time.Millisecond, Wake: s.Leases.Woken(), Run: s.Leases.Wake},
				{Name: "wake all waiting claims", Every: 5 * time.Second, Run: s.Leases.WakeAll},
				{Name: "sweep leases", Every: time.Second, Run: s.Work.Sweep},
			}
		},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Approvals(s.Approvals) },
		commands: []cli.Command{cli.ApprovalCommand},
		gateway: func(s services, _ telemetry) httpkit.Handlers {
			return gateway.Approvals(s.Secrets.HidingInApprovals(s.Leases))
		},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{
				{Name: "expire approvals", Every: time.Second, Run: s.Work.ExpireApprovals},
				{Name: "wake who waits for approvals", Every: 200 * time.Millisecond, Wake: s.Leases.Decided(), Run: s.Leases.WakeDecided},
			}
		},
	},
	{ // agents that Holdco runs
		commands: []cli.Command{cli.WorkCommand(workRemotely)},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{{
				Name: "run adapters", Every: time.Second, Wake: s.Runner.Woken(),
				Run: func(ctx context.Context) (more bool, err error) { return s.Runner.Run(ctx, s.gatewayURL) },
			}}
		},
		stop: func(ctx context.Context, s *Server) error { return s.Runner.Stop(ctx) },
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Costs(s.Costs) },
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Dashboard(s.Dashboard) },
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Agents(s.Agents) },
		gateway:  func(s services, _ telemetry) httpkit.Handlers { return gateway.Agent(s.Agents) },
		commands: []cli.Command{cli.AgentCommand},
		flush: func(s *Server) jobs.Job {
			return flushing("write down last calls of agents", s.Agents.FlushLastCalls)
		},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.AgentChecks(s.Readiness) },
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Goals(s.Goals) },
		commands: []cli.Command{cli.GoalCommand},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Projects(s.Projects) },
		commands: []cli.Command{cli.ProjectCommand},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Workflows(s.Workflows) },
		commands: []cli.Command{cli.WorkflowCommand},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Webhooks(s.Webhooks) },
		commands: []cli.Command{
			cli.WebhookCommand(opener(withKey, func(s services) inbound.Webhooks { return s.Webhooks })),
		},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{
				{Name: "deliver webhooks", Every: time.Second, Wake: s.Store.Outgoing(), Run: s.Deliveries.Deliver},
				{Name: "finish removed companies", Every: time.Second, Run: s.Deliveries.FinishRemovals},
			}
		},
		stop: func(_ context.Context, s *Server) error {
			s.Deliveries.Wait()
			return nil
		},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Tokens(s.Tokens) },
		commands: []cli.Command{
			cli.TokenCommand(opener(withKeyIfAny, func(s services) inbound.Tokens { return s.Tokens })),
		},
		flush: func(s *Server) jobs.Job { return flushing("write down last uses of tokens", s.Tokens.FlushLastUses) },
	},
	{ // people at the dashboard
		handlers: func(s services) httpkit.Handlers { return rest.Sessions(s.Sessions) },
		commands: []cli.Command{cli.LoginCommand(openLogin)},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Partners(s.Partners) },
		commands: []cli.Command{
			cli.PartnerCommand(opener(withKeyIfAny, func(s services) inbound.Partners { return s.Partners })),
		},
		flush: func(s *Server) jobs.Job {
			return flushing("write down what partners' keys were used for", s.Partners.FlushUsage)
		},
	},
	{ // leads, campaigns and the taxonomy
		handlers: func(s services) httpkit.Handlers { return rest.Imports(s.Uploads, s.Spool) },
		commands: cli.LeadCommands(cli.LeadTools{
			Imports: opener(withKeyIfAny, func(s services) inbound.Imports {
				collectSeldom()
				return s.Imports
			}),
			Keyed:   opener(withKey, func(s services) inbound.Imports { return s.Imports }),
			Export:  openExport,
			Spell:   leadjson.Append,
			Table:   func() cli.Table { return leadcsv.New(leadjson.Shape{}) },
			Files:   func(encoding string) cli.Files { return importer.Files{Encoding: encoding} },
			Samples: func(leads int, seed uint64) cli.Samples { return samples.New(leads, seed) },
		}),
		jobs: func(s *Server) []jobs.Job {
			all := []jobs.Job{
				{Name: "import files", Every: time.Second, Wake: s.Uploads.Woken(), Run: s.Uploads.Run},
				{Name: "end imports of servers that are gone", Every: 5 * time.Second, Run: s.Uploads.EndLapsed},
			}
			if s.Config.PartnerAddr != "" { // there is an export API
				all = append(all, jobs.Job{Name: "index leads", Every: leadindex.Pace, Wake: s.Index.Wanted(), Run: s.Index.Follow})
			}
			return all
		},
		stop: func(ctx context.Context, s *Server) error { return s.Uploads.Stop(ctx) },
	},
	{ // what tokens cost
		commands: []cli.Command{
			cli.PricesCommand(opener(withKeyIfAny, func(s services) inbound.Prices { return s.Prices })),
		},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{{Name: "look for new prices", Every: time.Second, Run: s.Prices.Follow}}
		},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Secrets(s.Secrets) },
		commands: []cli.Command{
			cli.SecretCommand(opener(withKey, func(s services) inbound.Secrets { return s.Secrets })),
		},
	},
	{ // the key that seals secrets
		commands: []cli.Command{cli.KeyCommand(opener(withKey, func(s services) inbound.Keys { return s.Keys }))},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{{Name: "go on with a rotation of the key", Every: 10 * time.Second, Run: s.Keys.Resume}}
		},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Activity(s.Activity, s.StreamPace) },
		commands: []cli.Command{
			cli.InboxCommand, cli.StatusCommand, cli.ActivityCommand,
			cli.AuditCommand(opener(withKeyIfAny, func(s services) inbound.Activity { return s.Activity })),
		},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{{
				Name: "stream activity", Every: 250 * time.Millisecond, Wake: s.Activity.Recorded(), Run: s.Activity.Poll,
			}, {
				Name: "chain activity", Every: time.Second, Run: s.Activity.Chain,
			}}
		},
	},
	{
		handlers: func(s services) httpkit.Handlers { return rest.Instance(s.Instance) },
	},
	{ // backups of the store
		handlers: func(s services) httpkit.Handlers { return rest.Backups(s.Backups, s.Version.Number) },
		commands: []cli.Command{cli.BackupCommand(openBackups), cli.RestoreCommand(openRestore), cli.MoveCommand(openMoves)},
		jobs: func(s *Server) []jobs.Job {
			if s.Config.BackupDir == "" {
				return nil
			}
			return []jobs.Job{{Name: "make backups", Every: 5 * time.Second, Run: s.Schedule.Run}}
		},
	},
	{ // servers that run on the store
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{{Name: "say that this server runs", Every: replica.BeatEvery, Run: s.Replicas.Run}}
		},
		stop: func(ctx context.Context, s *Server) error { return s.Replicas.Leave(ctx) },
	},
	{ // the checks of the store
		commands: []cli.Command{
			cli.DoctorCommand(openDoctor, doctor.Checks()),
		},
	},
	{ // a company to look at
		commands: []cli.Command{cli.DemoCommand(openDemo), cli.DemoWorkerCommand},
	},
	{ // what is removed when it is old enough
		commands: []cli.Command{
			cli.PruneCommand(opener(withKey, func(s services) inbound.Retention { return s.Retention })),
		},
		jobs: func(s *Server) []jobs.Job {
			return []jobs.Job{
				{Name: "remove what is old", Every: 10 * time.Minute, Run: s.Retention.Run},
				{Name: "measure files", Every: 10 * time.Minute, Run: s.Taken.measure(s.Workspaces, s.Config.BackupDir)},
			}
		},
	},
}
