package issues_test

import (
	"context"
	"testing"
	"testing/synctest"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/agents"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/app/issues"
	"holdco/app/leases"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/run"
	"holdco/domain/team"
	"holdco/ports/inbound"
)

// Between the start of a run and that of its program there is no log yet.
func TestALogIsAwaitedWhileItsProgramStarts(t *testing.T) {
	t.Parallel()
	const never = 1000
	for what, c := range map[string]struct {
		holder  string
		isOver  bool
		missing int // how often there is no log
		looks   int // how often it is looked for
		code    fault.Code
	}{
		"it starts":                         {holder: "this", missing: 2, looks: 3},
		"another host has the log":          {holder: "other", missing: never, looks: 6, code: fault.NotFound},
		"the agent works by itself":         {missing: never, looks: 1, code: fault.NotFound},
		"the run ended, and had no program": {holder: "this", isOver: true, missing: never, looks: 1, code: fault.NotFound},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				late := &lateLogs{missing: c.missing}
				service, r := startRun(t, c.holder, c.isOver, late)
				log, err := service.Log(t.Context(), access.System("test"), r.Company, r.Issue, r.ID, inbound.LogPart{})
				if fault.CodeOf(err) != c.code || log.IsOpen != !c.isOver || late.looks != c.looks {
					t.Errorf("after %d looks: %+v, %v", late.looks, log, err)
				}
			})
		})
	}
}

// lateLogs are outbound.RunLogs with a log that is empty when it comes.
type lateLogs struct{ missing, looks int }

func (l *lateLogs) Read(id.Company, id.Run, int64) (written []byte, next int64, err error) {
	if l.looks++; l.looks <= l.missing {
		return nil, 0, fault.New(fault.NotFound, "This host has no log of the run.")
	}
	return nil, 0, nil
}

// startRun starts a run of an agent under a lease of a holder.
func startRun(t *testing.T, holder string, isOver bool, logs *lateLogs) (*issues.Service, run.Run) {
	t.Helper()
	engine := sqlitetest.Open(t)
	clock, ids, test := system.Clock{}, system.IDs{}, access.System("test")
	kept := sqlstore.New(engine, clock, ids, engine.Migrator())
	service, cached := issues.New(kept, ids, logs), &cache.Cache[agent.Credential]{}
	founding, err := companies.New(kept, noWorkspaces{}, ids, noLog{}, companies.Settings{Adapters: []string{"process"}}, cached).Create(
		t.Context(), test, company.Draft{Name: new("Acme"), Slug: new("acme"), Settings: company.Settings{
			Budget: &budget.Change{USD: new(money.Number("1000000"))},
		}, StartingTeams: []team.Draft{
			{Name: new("Sales"), Headcount: new(int64(1))},
		}}, idempotency.Request{})
	must(t, err)
	of := founding.Company.ID
	settings := agents.Settings{Adapters: []string{"process"}}
	hired, err := agents.New(kept, clock, ids, system.Entropy{}, settings, cached, &cache.Prices{}).Hire(
		t.Context(), test, of, agent.Draft{
			Team: new(string(founding.Teams[0].ID)), Settings: agent.Settings{Name: new("Ada"), Role: new("Engineer")},
		}, idempotency.Request{})
	must(t, err)
	_, err = service.Create(t.Context(), test, of, issue.Draft{Title: new("Write")}, idempotency.Request{})
	must(t, err)
	caller := agent.Caller{ID: hired.Agent.ID, Company: of}
	gateway := leases.New(kept, ids, system.Entropy{},
		leases.Settings{LeaseTime: run.LongestLease, Reserve: 100_000, MostWaiting: 1}, &cache.Prices{})
	granted, err := gateway.Claim(t.Context(), caller, inbound.Claim{Holder: holder})
	must(t, err)
	if isOver {
		call := inbound.LeaseCall{Lease: granted.Run.Lease.ID, Token: &granted.Run.Lease.Token}
		_, err = gateway.End(t.Context(), caller, call, inbound.LeaseEnd{Action: issue.Release})
		must(t, err)
	}
	return service, granted.Run
}

// noWorkspaces is an outbound.Workspaces without a disk.
type noWorkspaces struct{}

func (noWorkspaces) Make(id.Company) error       { return nil }
func (noWorkspaces) Remove(id.Company) error     { return nil }
func (noWorkspaces) List() ([]id.Company, error) { return nil, nil }

// noLog is an outbound.Log that keeps nothing.
type noLog struct{}

func (noLog) Error(context.Context, string, error) {}
