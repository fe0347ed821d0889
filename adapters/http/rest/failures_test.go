package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/ratelimit"
	"holdco/ports/inbound"
)

// broken stands for services whose store fails, and for all else that a request meets before them.
type broken struct {
	inbound.Companies
	failure error
}

func (b broken) Get(context.Context, access.Caller, id.Company) (company.Company, error) {
	return company.Company{}, b.failure
}

func (broken) Authenticate(context.Context, string) (access.Caller, error) {
	return access.Caller{Token: "tok_x", Scopes: access.Scopes{{Permission: access.Admin}}}, nil
}

func (broken) Take(_ context.Context, _ ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict {
	return ratelimit.Verdict{Limit: limit, Admitted: true, Remaining: int64(limit) - 1, Reset: time.Minute}
}

func (broken) Now() time.Time   { return time.Date(2026, 4, 11, 10, 42, 17, 0, time.UTC) }
func (broken) UUIDv7() [16]byte { return [16]byte{} }

// unused are handlers of all operations with a token that these handlers leave out. No test calls them.
func unused(t *testing.T, but httpkit.Handlers) httpkit.Handlers {
	t.Helper()
	fails := func(httpkit.Request) (httpkit.Answer, error) { return httpkit.Answer{}, errors.ErrUnsupported }
	others := httpkit.Handlers{}
	for _, item := range readDocument(t).Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.Security == nil && but[operation.OperationID] == nil {
				others[operation.OperationID] = fails
			}
		}
	}
	return others
}

func TestAFailureOfTheStoreIsAnsweredAsInternalOrUnavailable(t *testing.T) {
	t.Parallel()
	for golden, failure := range map[string]error{
		"error_internal":    errors.New("disk I/O error in /var/lib"),
		"error_unavailable": fault.New(fault.Unavailable, "The store cannot be reached; try again.").Because(errors.New("dial tcp")),
	} {
		b := broken{failure: failure}
		companies := rest.Companies(b)
		handler, err := rest.New(rest.Options{
			Service: httpkit.Service{
				Options: httpkit.Options{Clock: b, IDs: b, Log: slog.New(slog.NewTextHandler(io.Discard, nil))},
				Limits:  httpkit.Limits{Limiter: b, ByClass: ratelimit.Limits{Read: 600}},
				Ready:   func(context.Context) error { return nil },
			},
			Resources: []httpkit.Routes{companies, unused(t, companies)},
			Auth:      b,
		})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		answer := resttest.New(t, server.URL, "any").Send(resttest.Request{
			Method: "GET", Path: "/v1/companies/cmp_01km3g0000e000000000000001", Header: map[string]string{"X-Request-Id": "req_golden"},
		})

		var want struct {
			Status  int
			Headers map[string]string
			Body    json.RawMessage
		}
		text, err := os.ReadFile("../../../testdata/golden/" + golden + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		var wanted, got any
		if err := errors.Join(json.Unmarshal(want.Body, &wanted), json.Unmarshal(answer.Body, &got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" || answer.Status != want.Status {
			t.Errorf("%d %s", answer.Status, diff)
		}
		for name, value := range want.Headers {
			if answer.Header.Get(name) != value {
				t.Errorf("%s: %q, want %q", name, answer.Header.Get(name), value)
			}
		}
	}
}
