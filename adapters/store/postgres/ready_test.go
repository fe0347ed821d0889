package postgres_test

import (
	"net/url"
	"testing"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/fault"
)

func TestADatabaseThatTakesNoWritesIsNotReady(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(postgrestest.EmptyURL(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, address.String()).Ready(t.Context()); err != nil {
		t.Error(err)
	}
	query := address.Query()
	query.Set("default_transaction_read_only", "on") // as on a standby
	address.RawQuery = query.Encode()
	if err := open(t, address.String()).Ready(t.Context()); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("got %v, want unavailable", err)
	}
}
