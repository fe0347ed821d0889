package wiring

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"holdco/adapters/store/sqlstore"
	"holdco/app/demo"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// past is the store at another time, with the use cases on it.
type past struct {
	services

	Joint *sqlstore.Joint
	Store store.Store
	Vault outbound.Vault
}

func newJoint(db database) *sqlstore.Joint { return sqlstore.NewJoint(db.Engine) }

// openDemo opens the store for the command demo, which gives a company a past.
func openDemo(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Demo, func(), error) {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return nil, nil, err
	}
	clock := new(demo.Clock)
	opened, done, err := newPast(ctx, config, clock, log)
	if err != nil {
		return nil, nil, err
	}
	err = opened.Store.Ready(ctx)
	if err == nil && withKeyIfAny(config) {
		err = unlock(ctx, opened.Store, opened.Vault)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return demo.New(demo.World{
		Clock: clock, Unit: opened.Joint.Unit,
		Companies: opened.Companies, Agents: opened.Agents, Goals: opened.Goals, Projects: opened.Projects, Workflows: opened.Workflows,
		Budgets: opened.Budgets, Issues: opened.Issues, Approvals: opened.Approvals, Leases: opened.Leases,
	}), done, nil
}
