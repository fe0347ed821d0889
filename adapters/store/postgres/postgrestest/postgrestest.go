// Package postgrestest gives tests a real PostgreSQL: a database each on a server that they share, or a whole Cluster
// that a test may stop and start.
//
// The servers are throw-away clusters made by the binaries that are installed. They end with the process of the test,
// however that ends. HOLDCO_TEST_POSTGRES_URL names a running server to share instead; its user must be allowed to
// create databases. With neither, tests fail: a store must not pass untested.
package postgrestest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdco/adapters/store/postgres"
	"holdco/adapters/system/processtest"
)

// URL returns the address of a database of the test's own, with the schema of this program and no rows.
func URL(t testing.TB) string {
	t.Helper()
	processtest.CheckName(t, "Postgres")
	server, err := shared()
	must(t, err)
	if server.template != "" {
		return create(t, server.url, server.template)
	}
	fresh := EmptyURL(t)
	must(t, migrate(fresh))
	return fresh
}

// EmptyURL is URL for a database without a schema.
func EmptyURL(t testing.TB) string {
	t.Helper()
	processtest.CheckName(t, "Postgres")
	server, err := shared()
	must(t, err)
	return create(t, server.url, "template0")
}

type server struct {
	url      string
	template string // a database with the schema, quicker to copy than to migrate anew; none on a server of somebody else
}

// shared is the server that all tests of this process share, started when the first of them asks.
var shared = sync.OnceValues(func() (server, error) {
	if given := os.Getenv("HOLDCO_TEST_POSTGRES_URL"); given != "" {
		return server{url: given}, nil
	}
	cluster, err := newCluster()
	if err != nil {
		return server{}, err
	}
	const template = "template_holdco"
	if err := execute(cluster.URL, "CREATE DATABASE "+template); err != nil {
		return server{}, err
	}
	return server{cluster.URL, template}, migrate(withDatabase(cluster.URL, template))
})

// create makes a database that is dropped at the end of the test. To copy the files of its template takes a third of the time of the
// default, which is for templates that are larger and servers that sync.
func create(t testing.TB, server, template string) string {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	must(t, execute(server, "CREATE DATABASE "+name+" TEMPLATE "+template+" ENCODING 'UTF8' STRATEGY FILE_COPY"))
	t.Cleanup(func() { must(t, execute(server, "DROP DATABASE "+name+" WITH (FORCE)")) })
	return withDatabase(server, name)
}

func withDatabase(server, name string) string {
	address, err := url.Parse(server)
	if err != nil {
		return server // no URL, so it will be refused as such
	}
	address.Path = name
	return address.String()
}

func migrate(address string) error {
	ctx := context.Background()
	engine, err := postgres.Open(ctx, postgres.Options{URL: address})
	if err != nil {
		return err
	}
	if _, err := engine.Migrator().Up(ctx); err != nil {
		return err
	}
	return engine.Close()
}

// execute runs one statement on a connection of its own.
func execute(address, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	_ = conn.Close(ctx)
	return err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
