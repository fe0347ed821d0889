package wiring_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/leads/samples"
	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
)

// behindPooler are the variables of a database behind a pooler in transaction mode, which has fewer sessions than a server connections.
func behindPooler(t *testing.T, dir, address string) []string {
	t.Helper()
	pooler := postgrestest.NewPooler(t, address, postgrestest.Pooling{Mode: "transaction", Conns: 8})
	return withDatabase(dir, postgres.Options{URL: pooler.URL(address), Pooled: true, DirectURL: address})
}

// What each part of a server does in the store, through a pooler that has few sessions and gives each transaction another.
func TestServersBehindAPostgresPoolerDoAllTheirWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := append(behindPooler(t, dir, postgrestest.EmptyURL(t)), allowPrivate)
	receiver := listen(t)
	one := startProcess(t, environ...)
	two := startProcess(t, append(environ, "HOLDCO_LEASE_TIME=5s")...)
	ask := resttest.New(t, one.url, string(rootToken))

	ask.Post("/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["company.*"]}`, receiver.url)).Is(t, http.StatusCreated, "")
	acme := foundAcme(t, ask)
	in := "/v1/companies/" + acme.ID
	receiver.types(t, "company.created")

	hired := ask.Post(in+"/agents", fmt.Sprintf(`{"teamId":%q,"name":"Ada","role":"Engineer"}`, acme.Teams[0].ID))
	hired.Is(t, http.StatusCreated, "")
	agent := resttest.Data[struct{ ID, Token string }](t, hired)
	ask.Post(in+"/issues", `{"title":"Build it"}`).Is(t, http.StatusCreated, "")
	ada := resttest.NewBy(t, two.gatewayURL, "/gateway/openapi.json", agent.Token)
	claimed := ada.Post(leases, "")
	claimed.Is(t, http.StatusOK, "")
	lease := resttest.Data[apiLease](t, claimed)
	ada.Post(lease.path()+"/costs", lease.body(`"costs":[{"key":"1","kind":"tools","usd":1}]`)).Is(t, http.StatusOK, "")
	state := func() (status string) {
		return resttest.Data[[]struct{ Status string }](t, ask.Get(in+"/issues"))[0].Status
	}
	await(t, "the end of a lease that nobody keeps", func() bool { return state() != "in_progress" })

	const many = 2000
	set := samples.New(many, 1)
	for _, kind := range []struct {
		name  string
		write func(to io.Writer) error
	}{{"taxonomy", set.Taxonomy}, {"campaigns", set.Campaigns}, {"leads", set.Leads}} {
		var text bytes.Buffer
		must(t, kind.write(&text))
		file := filepath.Join(dir, kind.name+map[bool]string{true: ".json", false: ".ndjson"}[kind.name == "taxonomy"])
		must(t, os.WriteFile(file, text.Bytes(), 0o600))
		mustRun(t, environ, kind.name, "import", file)
	}
	if got := resttest.Data[struct{ Leads struct{ Leads int } }](t, ask.Get("/v1/instance")).Leads.Leads; got != many {
		t.Errorf("there are %d leads", got)
	}

	ask.Delete(in).Is(t, http.StatusOK, "")
	receiver.types(t, "company.created", "company.deleted")
	await(t, "the end of a removal", func() bool { return ask.Get(in).Status == http.StatusNotFound })

	file := filepath.Join(dir, "b.tar.zst")
	if printed := mustRun(t, environ, "backup", file); !strings.Contains(printed, "verified") {
		t.Error(printed)
	}
	if wrong := examine(t, environ...); wrong != nil {
		t.Error(wrong)
	}
	if printed, ok := runHoldco(t, environ, "restore", "--replace", file); ok || !strings.Contains(printed, "stop it first") {
		t.Errorf("beside a running server: %s", printed)
	}
	one.kill()
	two.kill()
	mustRun(t, environ, "restore", "--replace", file)

	// A move goes around the pooler too, and is seen through it.
	mustRun(t, environ, "move", "--to", "sqlite://"+filepath.Join(dir, "moved.db"))
	for _, by := range [][]string{environ, append(environ, "HOLDCO_DATABASE_MIGRATE_URL=")} {
		if printed, ok := runHoldco(t, by, "token", "list"); ok || !strings.Contains(printed, "was moved to") {
			t.Errorf("a store that was moved: %s", printed)
		}
	}
}

// Without a way around the pooler a server that migrates nothing runs all the same.
func TestAServerBehindAPostgresPoolerNeedsNoOtherWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address := postgrestest.URL(t)
	pooler := postgrestest.NewPooler(t, address, postgrestest.Pooling{Mode: "transaction", Conns: 3})
	environ := []string{dataDir + dir, databaseURL + pooler.URL(address), "HOLDCO_DATABASE_POOLER=transaction"}
	for _, args := range [][]string{{"serve"}, {"restore", "b.tar.zst"}, {"migrate", "up"}, {"move", "--to", "sqlite://moved.db"}} {
		if printed, ok := runHoldco(t, environ, args...); ok || !strings.Contains(printed, "set HOLDCO_DATABASE_MIGRATE_URL") {
			t.Errorf("%s: %s", args, printed)
		}
	}
	mustRun(t, environ, "token", "create", "--name", "ci", "--scopes", "read")
	mustRun(t, environ, "backup", filepath.Join(dir, "b.tar.zst"))
}
