package wiring_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/webhook"
)

// receiver is a program of an integrator: it takes what webhooks send, and answers as the test says.
type receiver struct {
	url    string
	mutex  sync.Mutex
	had    []receipt
	answer func(w http.ResponseWriter, r *http.Request)
}

// receipt is one request that a receiver got.
type receipt struct {
	header http.Header
	body   []byte

	id, Type, Timestamp string
	Sequence            int64
	Data                map[string]any
}

// listen starts a receiver that answers 204.
func listen(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }}
	server := httptest.NewServer(r)
	r.url = server.URL
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	got := receipt{header: request.Header, body: body, id: request.Header.Get("webhook-id")}
	if err != nil || json.Unmarshal(body, &got) != nil {
		got.Type = "broken"
	}
	r.mutex.Lock()
	r.had = append(r.had, got)
	answer := r.answer
	r.mutex.Unlock()
	answer(w, request)
}

// answers makes the receiver answer every request with a status.
func (r *receiver) answers(status int) {
	r.does(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

func (r *receiver) does(answer func(w http.ResponseWriter, r *http.Request)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.answer = answer
}

func (r *receiver) receipts() []receipt {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.had)
}

// types waits until the receiver had as many requests as are wanted, and checks the types of their events, in order.
func (r *receiver) types(t *testing.T, want ...string) {
	t.Helper()
	await(t, "the arrival of "+strings.Join(want, ", "), func() bool { return len(r.receipts()) >= len(want) })
	var got []string
	for _, one := range r.receipts() {
		got = append(got, one.Type)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the receiver had %q, want %q", got, want)
	}
}

// verify checks the signature of a request as a receiver does.
func (r receipt) verify(t *testing.T, secret string) {
	t.Helper()
	if err := r.check(secret); err != nil {
		t.Errorf("the signature of %s does not fit: %v", r.id, err)
	}
}

func (r receipt) check(secret string) error {
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return verifier.VerifyIgnoringTimestamp(r.body, r.header)
}

// apiWebhook is a webhook as the API shows it.
type apiWebhook struct {
	ID, URL        string
	Events         []string
	CompanyID      *string
	Enabled        bool
	Description    string
	DisabledReason *string
	CreatedAt      string
	UpdatedAt      string
	Secret         string
}

func (w apiWebhook) path() string { return "/v1/webhooks/" + w.ID }

// apiDelivery is a delivery as the API shows it.
type apiDelivery struct {
	ID, WebhookID, EventID, Type, Status string
	Attempts                             []struct {
		At        string
		Status    *int
		LatencyMs int64
		Response  string
		Error     *string
	}
	NextAttemptAt *string
	CreatedAt     string
	Body          *string // of one alone
}

// subscribe makes a webhook to a receiver, for what happens to companies unless more, members of the body, names events.
func (s *instance) subscribe(t *testing.T, to *receiver, more string) apiWebhook {
	t.Helper()
	if !strings.Contains(more, `"events"`) {
		more += `,"events":["company.*"]`
	}
	answer := s.In(t).Post("/v1/webhooks", `{"url":"`+to.url+`"`+more+`}`)
	answer.Is(t, http.StatusCreated, "")
	return resttest.Data[apiWebhook](t, answer)
}

// deliveries returns the log of a webhook, newest first.
func (s *instance) deliveries(t *testing.T, of apiWebhook) []apiDelivery {
	t.Helper()
	answer := s.In(t).Get(of.path() + "/deliveries?limit=200")
	answer.Is(t, http.StatusOK, "")
	return resttest.Data[[]apiDelivery](t, answer)
}

// settled waits until a webhook has a delivery like that, as its newest one.
func (s *instance) settled(t *testing.T, of apiWebhook, status webhook.Status, attempts int) apiDelivery {
	t.Helper()
	var newest apiDelivery
	await(t, "delivery "+string(status), func() bool {
		log := s.deliveries(t, of)
		if len(log) > 0 {
			newest = log[0]
		}
		return newest.Status == string(status) && len(newest.Attempts) == attempts
	})
	return newest
}
