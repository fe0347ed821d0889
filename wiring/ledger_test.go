package wiring_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/money"
)

// Thirty-two clients charge while servers are killed. A charge whose answer was lost is sent again, and counts once: in the end there is
// what was acknowledged, to the last millionth of a dollar.
func TestNoChargeIsLostOrCountedTwiceWhileServersAreKilled(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		keepsTheLedger(t, newStorm(t, 1, dataDir+t.TempDir()))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		keepsTheLedger(t, newStorm(t, 2, dataDir+t.TempDir(), databaseURL+postgrestest.URL(t)))
	})
}

const (
	ledgerClients = 32
	ledgerKills   = 4
	ledgerCalls   = 12 // of each client at least
)

func keepsTheLedger(t *testing.T, s *workStorm) {
	t.Helper()
	s.until = time.Now().Add(time.Hour) // it ends when the work is done
	s.offices = s.offices[1:2]
	office := s.offices[0]
	before := s.kills
	enough, done := make(chan struct{}), make(chan struct{})
	var clients sync.WaitGroup
	for n := range ledgerClients {
		clients.Go(func() { s.newAgent(n).keepsALedger(n, enough) })
	}
	go func() {
		clients.Wait()
		close(done)
	}()
	isDone := false
	for !isDone {
		select {
		case <-done:
			isDone = true
		case <-time.After(300 * time.Millisecond):
			s.killOne(t)
			if s.kills-before == ledgerKills {
				close(enough)
			}
		}
	}

	r := s.left(t)
	r.checkCosts()
	r.checkBooks()
	var total int64
	byAgent := map[string]int64{}
	for _, e := range r.costs {
		total += e.micros
	}
	agentOf := map[string]string{}
	for _, one := range r.runs {
		agentOf[one.id] = one.agent
	}
	var acknowledged int64
	for what, n := range r.workStorm.charges {
		if n.known == 0 {
			s.fault("%+v was never acknowledged", what)
		}
		acknowledged += what.micros
		byAgent[agentOf[what.run]] += what.micros
	}
	c := s.newCaller(2000)
	costs := func(path string) money.USD {
		return s.inMicros(into[apiCosts](s, c.ask("costs of", http.MethodGet, office.path()+"/costs"+path, "", "")).Total.Usd.String())
	}
	if got := costs(""); total != acknowledged || got != money.USD(acknowledged) {
		s.fault("%d was acknowledged, %d is there, and the company is told %s", acknowledged, total, got)
	}
	for agent, want := range byAgent {
		if got := costs("/agents/" + agent); got != money.USD(want) {
			s.fault("%s has spent %d, and is said to have spent %s", agent, want, got)
		}
	}
	company := into[[]apiEnvelope](s, c.ask("budgets", http.MethodGet, office.path()+"/budgets?scope=company", "", ""))[0]
	if s.inMicros(company.SpentUsd.String()) != money.USD(acknowledged) || company.HeldUsd != "0" {
		s.fault("%d was acknowledged, and the budget says %v", acknowledged, company)
	}
	if len(byAgent) != ledgerClients {
		s.fault("%d agents were charged", len(byAgent))
	}
	for _, what := range s.faults {
		t.Error(what)
	}
	t.Logf("%d charges of %s dollars by %d clients, %d kills", len(r.costs), money.USD(acknowledged), ledgerClients, s.kills-before)
}

// keepsALedger works on one issue, whose costs it reports call by call, each until it is acknowledged, and some of them again. It ends
// the lease with costs, and reports others afterwards.
func (a *stormAgent) keepsALedger(n int, enough <-chan struct{}) {
	if !a.beHiredBy(a.offices[0], "") {
		a.fault("nobody was hired")
		return
	}
	person := a.newCaller(500 + n)
	person.ask("file", http.MethodPost, a.office.path()+"/issues", `{"title":"Write","assignedAgentId":"`+a.agent.ID+`"}`, person.unique())
	r := a.ask("claim", http.MethodPost, leases, `{"leaseSeconds":3600}`, a.unique())
	if r.status != http.StatusOK {
		a.fault("nothing was leased: %s", r.body)
		return
	}
	held := a.granted(r, time.Hour)
	isEnough := false
	for calls := 0; calls < ledgerCalls || !isEnough; calls++ {
		select {
		case <-enough:
			isEnough = true
		default:
		}
		a.acknowledges(held, "costs", "")
	}
	a.acknowledges(held, "complete", `"result":{}`)
	a.acknowledges(held, "costs", "")
}

// acknowledges makes a call with charges until it is answered, and some of those with costs alone again.
func (a *stormAgent) acknowledges(held *stormLeaseHeld, action, members string) {
	made, text := a.someCharges(held)
	if members != "" {
		text = members + "," + text
	}
	r := a.ask(action, http.MethodPost, held.at(action), held.body(text), "")
	for _, one := range made {
		note(a.workStorm, a.charges, one, r.ok(), r.lost)
	}
	if action != "costs" || a.IntN(3) > 0 {
		return
	}
	again := a.ask("again", http.MethodPost, held.at(action), held.body(text), "")
	state := into[apiState](a.workStorm, again)
	for _, e := range state.Entries {
		if !e.Duplicate {
			a.fault("a charge was counted again: %s", again.body)
		}
	}
	if len(state.Entries) < len(made) {
		a.fault("charges are missing: %s", again.body)
	}
}
