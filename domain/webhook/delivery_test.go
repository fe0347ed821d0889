package webhook_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/event"
	"holdco/domain/webhook"
)

func delivery() webhook.Delivery {
	return webhook.NewDelivery("dlv_01h455vb4pex5vsknk084sn02q", hookID,
		event.Event{ID: "act_01h455vb4pex5vsknk084sn02q", Type: event.CompanyCreated, Company: acmeID}, noon)
}

const middle = 0.5 // the chance that makes a pause neither longer nor shorter

func TestAFailedDeliveryIsTriedForAboutThreeDays(t *testing.T) {
	t.Parallel()
	d, at := delivery(), noon
	var pauses []time.Duration
	for d.Status == webhook.Pending {
		if d.NextAttemptAt.Before(at) {
			t.Fatalf("it goes back to %s", d.NextAttemptAt)
		}
		pauses = append(pauses, d.NextAttemptAt.Sub(at))
		at = d.NextAttemptAt
		d = d.After(webhook.Attempt{At: at, Status: 500}, middle, at)
	}
	want := []time.Duration{
		0, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour,
		2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	if diff := cmp.Diff(want, pauses); diff != "" {
		t.Error(diff)
	}
	if d.Status != webhook.Failed || !d.NextAttemptAt.IsZero() || len(d.Attempts) != len(want) || d.Tries != len(want) {
		t.Errorf("%+v", d)
	}
	if whole := at.Sub(noon); whole < 70*time.Hour || whole > 74*time.Hour {
		t.Errorf("it was tried for %s", whole)
	}
}

func TestAPauseIsUpToAFifthLongerOrShorter(t *testing.T) {
	t.Parallel()
	for chance, want := range map[float64]time.Duration{0: 4 * time.Second, 0.25: 4500 * time.Millisecond, 1: 6 * time.Second} {
		d := delivery().After(webhook.Attempt{At: noon}, chance, noon)
		if got := d.NextAttemptAt.Sub(noon); got != want {
			t.Errorf("%v: %s", chance, got)
		}
	}
}

func TestAnAnswerDecidesHowADeliveryContinues(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]webhook.Status{
		200: webhook.Succeeded, 204: webhook.Succeeded, 299: webhook.Succeeded,
		0: webhook.Pending, 199: webhook.Pending, 300: webhook.Pending, 301: webhook.Pending, 400: webhook.Pending, 404: webhook.Pending,
		429: webhook.Pending, 500: webhook.Pending, 410: webhook.Failed,
	} {
		d := delivery().After(webhook.Attempt{At: noon, Status: status}, middle, noon)
		if d.Status != want || d.NextAttemptAt.IsZero() != (want != webhook.Pending) || d.Tries != 1 {
			t.Errorf("%d: %+v", status, d)
		}
	}
}

func TestRedeliveryStartsAnewAndKeepsTheLog(t *testing.T) {
	t.Parallel()
	d := delivery().After(webhook.Attempt{At: noon, Status: 200}, middle, noon)
	later := noon.Add(time.Hour)
	d = d.Redeliver(later)
	if d.Status != webhook.Pending || d.NextAttemptAt != later || d.Tries != 0 || len(d.Attempts) != 1 {
		t.Fatalf("%+v", d)
	}
	d = d.After(webhook.Attempt{At: later, Error: "no answer"}, middle, later)
	if d.NextAttemptAt != later.Add(5*time.Second) || len(d.Attempts) != 2 {
		t.Errorf("%+v", d)
	}
}

func TestTheLogKeepsTheNewestAttempts(t *testing.T) {
	t.Parallel()
	d := delivery()
	for i := range 60 {
		d = d.Redeliver(noon).After(webhook.Attempt{At: noon, Status: 500 + i}, middle, noon)
	}
	if len(d.Attempts) != webhook.MostAttempts || d.Attempts[0].Status != 510 || d.Attempts[49].Status != 559 {
		t.Errorf("%d, %+v", len(d.Attempts), d.Attempts)
	}
}

func TestADeliveryIsShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	d := delivery().
		After(webhook.Attempt{At: noon, Error: "connection refused", Latency: 3 * time.Millisecond}, middle, noon).
		After(webhook.Attempt{At: noon.Add(5 * time.Second), Status: 200, Response: "ok", Latency: time.Second}, middle,
			noon.Add(6*time.Second))
	got, err := json.Marshal(d.Fields())
	want := `{"id":"dlv_01h455vb4pex5vsknk084sn02q","webhookId":"whk_01h455vb4pex5vsknk084sn02q",` +
		`"eventId":"act_01h455vb4pex5vsknk084sn02q",` +
		`"type":"company.created","status":"succeeded","attempts":[` +
		`{"at":"2026-04-11T12:00:00.000Z","status":null,"latencyMs":3,"response":"","error":"connection refused"},` +
		`{"at":"2026-04-11T12:00:05.000Z","status":200,"latencyMs":1000,"response":"ok","error":null}],` +
		`"nextAttemptAt":null,"createdAt":"2026-04-11T12:00:00.000Z"}`
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestAQueueGivesAnEndpointUp(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration, status int) webhook.Attempt {
		return webhook.Attempt{At: noon.Add(d), Status: status}
	}
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		attempts []webhook.Attempt
		since    time.Time
		reason   string
	}{
		"success":                     {[]webhook.Attempt{at(0, 200)}, time.Time{}, ""},
		"first failure":               {[]webhook.Attempt{at(0, 500)}, noon, ""},
		"failing for less":            {[]webhook.Attempt{at(0, 500), at(5*day-time.Millisecond, 0)}, noon, ""},
		"failing for five days":       {[]webhook.Attempt{at(0, 500), at(day, 0), at(5*day, 404)}, time.Time{}, webhook.Failing},
		"a success in between":        {[]webhook.Attempt{at(0, 500), at(day, 200), at(2*day, 500), at(6*day, 500)}, noon.Add(2 * day), ""},
		"gone":                        {[]webhook.Attempt{at(0, 410)}, time.Time{}, webhook.Gone},
		"gone after failures":         {[]webhook.Attempt{at(0, 500), at(1, 410)}, time.Time{}, webhook.Gone},
		"afresh once it was disabled": {[]webhook.Attempt{at(0, 410), at(10*day, 500)}, noon.Add(10 * day), ""},
	} {
		var queue webhook.Queue
		var reason string
		for _, attempt := range test.attempts {
			queue, reason = queue.After(attempt)
		}
		if reason != test.reason || !queue.FailingSince.Equal(test.since) {
			t.Errorf("%s: %q, %s", name, reason, queue.FailingSince)
		}
	}
}

func TestStatusesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"pending": true, "succeeded": true, "failed": true, "": false, "Pending": false, "sent": false,
	} {
		if _, ok := webhook.ParseStatus(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}
