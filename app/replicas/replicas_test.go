package replicas_test

import (
	"testing"
	"time"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/app/replicas"
	"holdco/domain/replica"
	"holdco/ports/storetest"
)

// Servers on one store know of each other until they stop, and of one that is gone for an hour.
func TestServersSayThatTheyRun(t *testing.T) {
	t.Parallel()
	engine := sqlitetest.Open(t)
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	s := sqlstore.New(engine, clock, ids, engine.Migrator()).WithClock(clock)
	one, two := replicas.New(s, ids, "v1"), replicas.New(s, ids, "v2")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(server *replicas.Service) {
		t.Helper()
		_, err := server.Run(t.Context())
		must(err)
	}
	began := clock.Now()
	run(one)
	clock.Advance(time.Second)
	run(two)
	clock.Advance(replica.ForgottenAfter)
	run(two)
	all, err := s.Replicas().List(t.Context())
	must(err)
	if len(all) != 1 || all[0].Version != "v2" || !all[0].Since.Equal(began.Add(time.Second)) || !all[0].SeenAt.Equal(clock.Now()) {
		t.Errorf("%+v", all)
	}
	run(one)
	must(two.Leave(t.Context()))
	must(two.Leave(t.Context()))
	all, err = s.Replicas().List(t.Context())
	must(err)
	if len(all) != 1 || all[0].Version != "v1" || !all[0].Since.Equal(began) {
		t.Errorf("%+v", all)
	}
}
