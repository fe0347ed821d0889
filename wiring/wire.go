//go:build wireinject

package wiring

import (
	"context"
	"log/slog"

	"github.com/google/wire"

	"holdco/adapters/cli"
	"holdco/adapters/http/httpkit"
	"holdco/adapters/leads/leadindex"
	"holdco/adapters/programs"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/adapters/system/vault"
	"holdco/adapters/system/workspaces"
	"holdco/app/demo"
	"holdco/app/doctor"
	"holdco/app/export"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// NewServer assembles a server on the configured store, which it opens. The returned function closes the store.
func NewServer(
	ctx context.Context, config Config, clocks Clocks, log *slog.Logger, version cli.Version,
) (*Server, func(), error) {
	panic(wire.Build(
		wire.FieldsOf(new(Clocks), "Process"), openForServer, newTelemetry, newTaken, newStore,
		wire.FieldsOf(new(database), "Restored"),
		storeSet, systemSet, workspaceSet, vaultSet, programSet, serviceSet, backgroundSet,
		newLimiter, httpkit.NewStopping, wire.Struct(new(surroundings), "*"), newAPI, newDashboard, newGatewayAPI, newMetricsPages,
		wire.Bind(new(store.LeadSearch), new(*leadindex.Index)), export.New, newExports, newExportAPI,
		wire.Struct(new(Server), "*"),
	))
}

// newCommand assembles what the command line works with, beside a server that may be running on the same store.
func newCommand(ctx context.Context, config Config, clock outbound.Clock, log *slog.Logger) (command, func(), error) {
	panic(wire.Build(
		openForCommand, sqlstore.New, wire.Bind(new(store.Store), new(*sqlstore.Store)), wire.Value(telemetry{tracer: noTracer{}}),
		wire.Value(cli.Version{}), // no command shows the server
		storeSet, systemSet, workspaceSet, vaultSet, programSet, serviceSet, patientSet,
		wire.Struct(new(command), "*"),
	))
}

// newPast assembles the use cases on the store at another time, beside a server that may be running on it.
func newPast(ctx context.Context, config Config, clock *demo.Clock, log *slog.Logger) (past, func(), error) {
	panic(wire.Build(
		openForCommand, newJoint, wire.FieldsOf(new(database), "Migrator", "Source"),
		wire.Bind(new(outbound.Migrator), new(*sqlstore.Migrator)),
		wire.Bind(new(sqlstore.Engine), new(*sqlstore.Joint)), wire.Bind(new(outbound.Clock), new(*demo.Clock)),
		sqlstore.New, wire.Bind(new(store.Store), new(*sqlstore.Store)), wire.Value(telemetry{tracer: noTracer{}}),
		wire.Value(cli.Version{}),
		systemSet, workspaceSet, vaultSet, programSet, serviceSet,
		wire.Struct(new(past), "*"),
	))
}

var storeSet = wire.NewSet(
	wire.FieldsOf(new(database), "Engine", "Migrator", "Source"),
	wire.Bind(new(outbound.Migrator), new(*sqlstore.Migrator)),
)

var systemSet = wire.NewSet(
	wire.Value(system.IDs{}), wire.Value(system.Entropy{}),
	wire.Bind(new(outbound.IDs), new(system.IDs)),
	wire.Bind(new(outbound.Entropy), new(system.Entropy)),
)

var workspaceSet = wire.NewSet(
	newWorkspaces, newCompanySettings, newOperatorLog,
	wire.Bind(new(outbound.Workspaces), new(*workspaces.Directories)),
	wire.Bind(new(outbound.WorkspaceMender), new(*workspaces.Directories)),
)

// patientSet is what "holdco doctor" checks, of what could be opened.
var patientSet = wire.NewSet(
	wire.FieldsOf(new(database), "Inspector"),
	wire.Value(system.Disk{}), wire.Bind(new(outbound.Disk), new(system.Disk)),
	wire.Struct(new(doctor.Patient), "Clock", "Disk", "Workspaces", "Vault", "Keys", "Store", "Inspector", "Migrator", "Chains"),
)

var programSet = wire.NewSet(
	newPrograms, wire.Bind(new(outbound.RunLogs), new(*programs.Programs)),
)

var vaultSet = wire.NewSet(
	newVault, wire.Bind(new(outbound.Vault), new(*vault.Vault)), wire.Bind(new(outbound.KeyFiles), new(*vault.Vault)),
	wire.Bind(new(outbound.Signer), new(*vault.Vault)),
)
