package postgres_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlstore"
)

func TestOpenWaitsForTheServer(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	cluster.Stop(t)
	attempts := refusing(t, cluster.URL)
	var waits atomic.Int32
	opened := make(chan error, 1)
	go func() {
		engine, err := postgres.Open(t.Context(), postgres.Options{
			URL:    cluster.URL,
			Wait:   time.Minute,
			OnWait: func(error) { waits.Add(1) },
		})
		if err == nil {
			err = engine.Close()
		}
		opened <- err
	}()
	attempts(3)
	cluster.Start(t)
	if err := <-opened; err != nil {
		t.Error(err)
	}
	if waits.Load() != 1 {
		t.Errorf("OnWait was called %d times", waits.Load())
	}
}

// refusing takes the place of the server that an address names, and closes each connection. The function that it returns
// waits for so many, and then makes room.
func refusing(t *testing.T, address string) (attempts func(count int)) {
	t.Helper()
	server, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", server.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return func(count int) {
		t.Helper()
		for range count {
			conn, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		}
		_ = listener.Close()
	}
}

// Whatever a user of the database may not do is explained in one line, by whichever way it is met.
func TestRightsThatAreMissingAreExplained(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	cluster.Execute(t, "CREATE ROLE outsider LOGIN PASSWORD 'secret'")
	check := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func(user string) *postgres.Engine {
		engine, err := postgres.Open(t.Context(), postgres.Options{URL: strings.Replace(cluster.URL, "holdco:", user+":", 1)})
		check(t, err)
		t.Cleanup(func() { check(t, engine.Close()) })
		return engine
	}
	outside := open("outsider")
	says := func(what string, err error, denied string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "the user of the database URL has to own the tables of the store") ||
			!strings.HasSuffix(err.Error(), "ERROR: permission denied for "+denied+" (SQLSTATE 42501)") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := outside.Migrator().Up(t.Context())
	says("to migrate a new store", err, "schema public")
	_, err = open("holdco").Migrator().Up(t.Context())
	check(t, err)
	_, err = outside.Migrator().Status(t.Context())
	says("to look at the schema", err, "table goose_db_version")
	_, err = outside.Source().Copy(t.Context(), "")
	says("to back up", err, "table goose_db_version")
	_, err = sqlstore.New(outside, nil, nil, outside.Migrator()).Tokens().HasLiveAdmin(t.Context(), time.Now())
	says("to read", err, "table tokens")

	cluster.Execute(t, "REVOKE USAGE ON SCHEMA public FROM PUBLIC")
	nowhere := open("outsider").Migrator()
	if schema, err := nowhere.Status(t.Context()); err != nil || schema.Version != 0 {
		t.Errorf("to look where there is no schema: %+v, %v", schema, err)
	}
	for range 2 { // beside the tables of others, and without any
		_, err = nowhere.Up(t.Context())
		if err == nil || !strings.Contains(err.Error(), "there is no schema that the user of the database URL may use; make one") ||
			strings.Count(err.Error(), "there is no schema") > 1 {
			t.Errorf("to migrate where there is no schema: %v", err)
		}
		cluster.Execute(t, "DROP SCHEMA IF EXISTS public CASCADE")
	}
}

// What waiting does not mend is refused at once, with words that help and without the password.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	cluster.Execute(t, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
	cluster.Execute(t, "CREATE ROLE outsider LOGIN PASSWORD 'secret'")
	cluster.Execute(t, "CREATE DATABASE closed")
	cluster.Execute(t, "REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
	for name, refused := range map[string]struct{ url, says string }{
		"a wrong password":    {strings.Replace(cluster.URL, "secret", "topsecret", 1), "check the user and the password"},
		"an unknown user":     {strings.Replace(cluster.URL, "holdco:", "nobody:", 1), `refuses the user "nobody"`},
		"an unknown database": {strings.Replace(cluster.URL, "/postgres", "/none", 1), `has no database "none"; create it`},
		"no right to connect": {
			strings.NewReplacer("holdco:", "outsider:", "/postgres", "/closed").Replace(cluster.URL),
			`does not let the user "outsider" into the database "closed"; GRANT CONNECT`,
		},
		"another encoding":      {strings.Replace(cluster.URL, "/postgres", "/latin", 1), "ENCODING 'UTF8'"},
		"an old version":        {oldServer(t), "Holdco needs PostgreSQL 15 or newer"},
		"a password not quoted": {"postgres://holdco:sec%ret@127.0.0.1:5432/holdco", "percent-encoded"},
		"no URL at all":         {"postgres://%zz:secret@/", "postgres://user:password@host:5432/database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const wait = 4 * time.Minute
			began := time.Now()
			_, err := postgres.Open(t.Context(), postgres.Options{URL: refused.url, Wait: wait})
			if err == nil || !strings.Contains(err.Error(), refused.says) {
				t.Errorf("%v; it should say %q", err, refused.says)
			}
			if err != nil && strings.Contains(strings.ReplaceAll(err.Error(), "user:password@", ""), "sec") {
				t.Errorf("the error contains the password: %v", err)
			}
			if took := time.Since(began); took > wait/2 {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestOpenGivesUp(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := nobody.Addr().String()
	if err := nobody.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), postgres.Options{URL: "postgres://holdco:secret@" + address + "/holdco", Wait: time.Second})
	if err == nil || !strings.Contains(err.Error(), address+" cannot be reached") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}

	others := address + "," + strings.Replace(address, "127.0.0.1", "127.0.0.2", 1)
	_, err = postgres.Open(t.Context(), postgres.Options{URL: "postgres://holdco:secret@" + others + "/holdco", Wait: time.Second})
	if err == nil || !strings.Contains(err.Error(), strings.Replace(others, ",", ", ", 1)+" cannot be reached") {
		t.Error(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = postgres.Open(ctx, postgres.Options{URL: "postgres://holdco:secret@" + address + "/holdco", Wait: time.Minute})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// oldServer answers as PostgreSQL 14 would.
func oldServer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAsOld(conn)
		}
	}()
	return "postgres://holdco:secret@" + listener.Addr().String() + "/holdco?sslmode=disable"
}

func answerAsOld(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	backend := pgproto3.NewBackend(conn, conn)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	backend.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	for {
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if backend.Flush() != nil {
			return
		}
		message, err := backend.Receive()
		if err != nil {
			return
		}
		query, isQuery := message.(*pgproto3.Query)
		if !isQuery {
			return
		}
		const integer, text = 23, 25
		if strings.Contains(query.String, "pg_try_advisory_lock_shared") { // which each connection takes
			for _, value := range []string{"t", "0"} {
				backend.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{DataTypeOID: text, DataTypeSize: -1}}})
				backend.Send(&pgproto3.DataRow{Values: [][]byte{[]byte(value)}})
				backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
			}
			continue
		}
		backend.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{
			{Name: []byte("number"), DataTypeOID: integer, DataTypeSize: 4},
			{Name: []byte("version"), DataTypeOID: text, DataTypeSize: -1},
			{Name: []byte("encoding"), DataTypeOID: text, DataTypeSize: -1},
		}})
		backend.Send(&pgproto3.DataRow{Values: [][]byte{[]byte("140012"), []byte("14.12"), []byte("UTF8")}})
		backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
	}
}
