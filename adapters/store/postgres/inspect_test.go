package postgres_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/ports/store"
)

// Whether commits are kept when the server is gone is up to its settings, and to standbys, of which ordinary users see that they are there.
func TestInspectionLooksAtWhatKeepsCommitsOnPostgres(t *testing.T) {
	t.Parallel()
	pair := postgrestest.NewPair(t)
	address := pair.Database(t)
	pair.Execute(t, "CREATE ROLE plain LOGIN PASSWORD 'secret'")
	engine := open(t, strings.Replace(address, "holdco:secret", "plain:secret", 1))
	differs := func() (about []string) {
		if _, err := engine.Open(t.Context(), func(one store.Difference) { about = append(about, one.About) }); err != nil {
			t.Fatal(err)
		}
		return about
	}
	if got := differs(); got != nil {
		t.Errorf("with a standby: %v", got)
	}
	pair.Execute(t, "ALTER ROLE plain SET synchronous_commit = off")
	pair.Part(t)
	engine = open(t, strings.Replace(address, "holdco:secret", "plain:secret", 1))
	const limit = time.Minute
	want := []string{"synchronous_commit", "synchronous_standby_names"}
	for began := time.Now(); !slices.Equal(differs(), want); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("without one, and not waiting for the disk: %v", differs())
		}
	}
}
