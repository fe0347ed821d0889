package wiring_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// allowPrivate lets webhooks reach the receivers of the tests.
const allowPrivate = "HOLDCO_WEBHOOK_ALLOW_PRIVATE=true"

// eachSending is eachStore with servers whose webhooks reach the receivers of the tests.
func eachSending(t *testing.T, test func(t *testing.T, s *instance)) {
	t.Helper()
	eachDatabase(t, func(t *testing.T, environ ...string) { test(t, start(t, newClock(), append(environ, allowPrivate)...)) })
}

func TestEveryChangeOfACompanyIsSentSignedAndInOrder(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		hook := s.subscribe(t, to, "")
		if !regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`).MatchString(hook.Secret) ||
			!slices.Equal(hook.Events, []string{"company.*"}) || !hook.Enabled {
			t.Errorf("%+v", hook)
		}
		acme := s.create(t, `{"name":"Acme","slug":"acme","startingTeams":[{"name":"a","headcount":2}]}`)
		s.Patch(acme.path(), `{"name":"Acme & Söhne","budget":{"usd":12.5}}`).Is(t, 200, "")
		s.Patch(acme.path(), `{}`).Is(t, 200, "")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		archived := s.Get(acme.path())
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		to.types(t, "company.created", "company.updated", "company.archived", "company.restored")
		s.Delete(acme.path()).Is(t, 200, "")
		to.types(t, "company.created", "company.updated", "company.archived", "company.restored", "company.deleted")

		had := to.receipts()
		seen := map[string]bool{}
		for _, one := range had {
			one.verify(t, hook.Secret)
			seen[one.id] = true
			if one.header.Get("Content-Type") != "application/json" || !strings.HasPrefix(one.header.Get("User-Agent"), "Holdco/") ||
				one.header.Get("webhook-timestamp") != fmt.Sprint(noon.Unix()) || one.Timestamp != "2026-04-11T12:00:00.000Z" ||
				one.Data["companyId"] != acme.ID || !strings.HasPrefix(one.Data["actor"].(string), "token:tok_") {
				t.Errorf("%s %s", one.header, one.body)
			}
		}
		if len(seen) != len(had) {
			t.Errorf("%d ids of %d events", len(seen), len(had))
		}
		updated := had[1].Data["previous"].(map[string]any)
		if updated["name"] != "Acme" || updated["description"] != nil || had[1].Data["name"] != "Acme & Söhne" ||
			had[0].Data["previous"] != nil {
			t.Errorf("%s", had[1].body)
		}
		// Beside who did it to which company, the data are what the API shows.
		shown := resttest.Data[map[string]any](t, archived)
		delete(had[2].Data, "actor")
		delete(had[2].Data, "companyId")
		if diff := cmp.Diff(shown, had[2].Data); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAWebhookGetsWhatItAskedFor(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, `{"name":"Other","slug":"other"}`)
		all, archives, ofAcme, off := listen(t), listen(t), listen(t), listen(t)
		s.subscribe(t, all, "")
		s.subscribe(t, archives, `,"events":["company.archived","company.budget.breach"]`)
		mine := s.subscribe(t, ofAcme, `,"events":["company.*"],"companyId":"`+acme.ID+`"`)
		disabled := s.subscribe(t, off, `,"enabled":false`)
		if mine.CompanyID == nil || *mine.CompanyID != acme.ID || disabled.Enabled {
			t.Errorf("%+v %+v", mine, disabled)
		}
		s.issue(t, "read") // nobody asked for events of tokens
		s.Patch(other.path(), `{"name":"Another"}`).Is(t, 200, "")
		all.types(t, "company.updated") // before the next: events of two companies may arrive in any order
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		all.types(t, "company.updated", "company.archived")
		archives.types(t, "company.archived")
		ofAcme.types(t, "company.archived")
		s.Delete(acme.path()).Is(t, 200, "")
		all.types(t, "company.updated", "company.archived", "company.deleted")
		archives.types(t, "company.archived")
		ofAcme.types(t, "company.archived", "company.deleted")
		off.types(t)
	})
}

func TestChangesOfTokensPartnersAndWebhooksAreSentWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		all, ofAcme, imports := listen(t), listen(t), listen(t)
		hook := s.subscribe(t, all, `,"events":["*"]`)
		s.subscribe(t, ofAcme, `,"events":["*"],"companyId":"`+acme.ID+`"`)
		other := s.subscribe(t, imports, `,"events":["lead.*","campaign.imported"]`)
		values := []string{other.Secret}
		s.Patch(hook.path(), `{"description":"What happens to a webhook is not sent to itself."}`).Is(t, 200, "")
		rotated := s.Post(other.path()+"/rotate-secret", "")
		rotated.Is(t, 200, "")
		values = append(values, resttest.Data[apiWebhook](t, rotated).Secret)
		token := s.issue(t, "read")
		again := s.Post("/v1/tokens/"+token.ID+"/rotate", "")
		again.Is(t, 200, "")
		values = append(values, token.Token, resttest.Data[apiToken](t, again).Token)
		s.Delete("/v1/tokens/"+token.ID).Is(t, 200, "")
		made := s.Post("/v1/partners", `{"name":"Partner","origins":["https://example.com"]}`)
		made.Is(t, 201, "")
		values = append(values, resttest.Data[struct{ Key string }](t, made).Key)
		must(t, s.store.Update(context.Background(), func(ctx context.Context, tx store.Tx) error {
			for _, what := range []event.Type{event.LeadImported, event.CampaignImported} {
				if err := tx.Record(ctx, event.Event{Type: what, Actor: "system:test",
					Subject: event.Subject{Type: what.Kind()}}); err != nil {
					return err
				}
			}
			return nil
		}))
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")

		has := func(to *receiver, want ...string) {
			t.Helper()
			var got []string
			await(t, "the arrival of the events", func() bool { return len(to.receipts()) >= len(want) })
			receipts := to.receipts()
			slices.SortFunc(receipts, func(a, b receipt) int { return int(a.Sequence - b.Sequence) })
			for _, one := range receipts {
				got = append(got, one.Type)
				for _, value := range values {
					if value == "" || strings.Contains(string(one.body), value) {
						t.Errorf("%s reveals a secret", one.Type)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the receiver had %q, want %q", got, want)
			}
		}
		has(all, "webhook.created", "webhook.created", "webhook.secret_rotated", "token.created", "token.rotated", "token.revoked",
			"partner.created", "campaign.imported", "company.archived")
		has(ofAcme, "company.archived")
		has(imports, "lead.imported", "campaign.imported")
	})
}

func TestAFailedDeliveryIsTriedAgainWithTheSameID(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		to.does(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, strings.Repeat("sorry ", 1000))
		})
		hook := s.subscribe(t, to, "")
		s.create(t, draft(t, ""))
		first := s.settled(t, hook, webhook.Pending, 1)
		attempt := first.Attempts[0]
		if *attempt.Status != 500 || attempt.Error != nil || attempt.Response != strings.Repeat("sorry ", 1000)[:1024] ||
			attempt.At != "2026-04-11T12:00:00.000Z" {
			t.Errorf("%+v", attempt)
		}
		next, err := time.Parse(time.RFC3339, *first.NextAttemptAt)
		if pause := next.Sub(noon); err != nil || pause < 4*time.Second || pause > 6*time.Second {
			t.Errorf("the next attempt is at %s, %v", *first.NextAttemptAt, err)
		}

		s.clock.advance(3900 * time.Millisecond)
		const runs = `holdco_job_runs_total{name="deliver webhooks",outcome="ok"}`
		before := scrape(t, s.url)[runs]
		// The first run to end may have begun before the clock was advanced.
		await(t, "a run of the job", func() bool { return scrape(t, s.url)[runs] >= before+2 })
		to.types(t, "company.created")
		s.clock.advance(2100 * time.Millisecond)
		to.types(t, "company.created", "company.created")
		s.settled(t, hook, webhook.Pending, 2)

		// What is pending is kept when the server stops.
		to.answers(http.StatusOK)
		s = s.again(t)
		s.clock.advance(40 * time.Second)
		to.types(t, "company.created", "company.created", "company.created")
		last := s.settled(t, hook, webhook.Succeeded, 3)
		if last.NextAttemptAt != nil || last.ID != first.ID {
			t.Errorf("%+v", last)
		}
		for _, one := range to.receipts() {
			one.verify(t, hook.Secret)
			if one.id != first.EventID {
				t.Errorf("the id %s is not that of the event, %s", one.id, first.EventID)
			}
		}
		if signed := to.receipts()[2].header.Get("webhook-timestamp"); signed != fmt.Sprint(noon.Add(46*time.Second).Unix()) {
			t.Errorf("the third attempt is from %s", signed)
		}
	})
}

func TestAReceiverThatIsGoneIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		to.answers(http.StatusGone)
		hook := s.subscribe(t, to, "")
		s.create(t, draft(t, ""))
		s.settled(t, hook, webhook.Failed, 1)
		now := resttest.Data[apiWebhook](t, s.Get(hook.path()))
		if now.Enabled || now.DisabledReason == nil || *now.DisabledReason != "The endpoint answered 410 Gone." {
			t.Fatalf("%+v", now)
		}
		s.Post(hook.path()+"/test", "").Is(t, 409, "invalid_transition")
		s.Post(hook.path()+"/deliveries/"+s.deliveries(t, hook)[0].ID+"/redeliver", "").Is(t, 409, "invalid_transition")
		s.create(t, `{"name":"Unheard","slug":"unheard"}`)

		to.answers(http.StatusOK)
		answer := s.Patch(hook.path(), `{"enabled":true}`)
		answer.Is(t, 200, "")
		if now := resttest.Data[apiWebhook](t, answer); !now.Enabled || now.DisabledReason != nil {
			t.Errorf("%+v", now)
		}
		s.create(t, `{"name":"Heard","slug":"heard"}`)
		to.types(t, "company.created", "company.created")
		if slug := to.receipts()[1].Data["slug"]; slug != "heard" {
			t.Errorf("it had %s", slug)
		}
		disabled := func(e event.Event) bool { return e.Type == "webhook.disabled" && e.Actor == "system:webhooks" }
		if events := s.events(t, ""); !slices.ContainsFunc(events, disabled) {
			t.Errorf("%+v", events)
		}
	})
}

func TestAnEndpointThatFailsForFiveDaysIsDisabled(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		to.answers(http.StatusServiceUnavailable)
		hook := s.subscribe(t, to, "")
		acme := s.create(t, draft(t, ""))
		s.settled(t, hook, webhook.Pending, 1)
		s.clock.advance(5*24*time.Hour - time.Minute)
		s.settled(t, hook, webhook.Pending, 2)
		if now := resttest.Data[apiWebhook](t, s.Get(hook.path())); !now.Enabled {
			t.Fatalf("%+v", now)
		}
		s.clock.advance(time.Minute)
		s.settled(t, hook, webhook.Pending, 3)
		now := resttest.Data[apiWebhook](t, s.Get(hook.path()))
		if now.Enabled || now.DisabledReason == nil || *now.DisabledReason != "Every attempt has failed for five days." {
			t.Fatalf("%+v", now)
		}

		// Its deliveries wait until it is enabled again.
		to.answers(http.StatusOK)
		s.clock.advance(time.Hour)
		s.Patch(acme.path(), `{"name":"Unheard"}`).Is(t, 200, "")
		s.Patch(hook.path(), `{"enabled":true}`).Is(t, 200, "")
		s.settled(t, hook, webhook.Succeeded, 4)
		to.types(t, "company.created", "company.created", "company.created", "company.created")
	})
}

func TestBothSecretsSignForADayAfterARotation(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		hook := s.subscribe(t, to, "")
		answer := send(s.Client, "POST", hook.path()+"/rotate-secret", "", "Idempotency-Key", "once")
		answer.Is(t, 200, "")
		rotated := resttest.Data[apiWebhook](t, answer)
		if rotated.Secret == "" || rotated.Secret == hook.Secret {
			t.Fatalf("%+v", rotated)
		}
		replay := send(s.Client, "POST", hook.path()+"/rotate-secret", "", "Idempotency-Key", "once")
		if replay.Header.Get("Idempotency-Replayed") != "true" || strings.Contains(string(replay.Body), "whsec_") {
			t.Errorf("%s", replay.Body)
		}
		acme := s.create(t, draft(t, ""))
		s.settled(t, hook, webhook.Succeeded, 1)
		s.clock.advance(24 * time.Hour)
		s.Patch(acme.path(), `{"name":"Later"}`).Is(t, 200, "")
		to.types(t, "company.created", "company.updated")
		during, after := to.receipts()[0], to.receipts()[1]
		during.verify(t, hook.Secret)
		during.verify(t, rotated.Secret)
		after.verify(t, rotated.Secret)
		if after.check(hook.Secret) == nil {
			t.Error("the old secret still signs")
		}
		for _, path := range []string{hook.path(), "/v1/webhooks"} {
			if shown := s.Get(path); strings.Contains(string(shown.Body), "whsec_") || strings.Contains(string(shown.Body), "secret") {
				t.Errorf("%s shows %s", path, shown.Body)
			}
		}
	})
}

func TestATestIsSentWhateverTheWebhookWants(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to, observer := listen(t), listen(t)
		hook := s.subscribe(t, to, `,"events":["company.deleted"]`)
		s.subscribe(t, observer, `,"events":["webhook.redelivered"]`)
		answer := s.Post(hook.path()+"/test", "")
		answer.Is(t, 202, "")
		sent := resttest.Data[apiDelivery](t, answer)
		if sent.Type != "webhook.test" || sent.Status != "pending" || sent.WebhookID != hook.ID || len(sent.Attempts) != 0 ||
			sent.NextAttemptAt == nil {
			t.Errorf("%+v", sent)
		}
		to.types(t, "webhook.test")
		done := s.settled(t, hook, webhook.Succeeded, 1)
		if done.ID != sent.ID || to.receipts()[0].id != sent.EventID || to.receipts()[0].Data["webhookId"] != hook.ID {
			t.Errorf("%+v %s", done, to.receipts()[0].body)
		}

		again := s.Post(hook.path()+"/deliveries/"+sent.ID+"/redeliver", "{}")
		again.Is(t, 202, "")
		if pending := resttest.Data[apiDelivery](t, again); pending.Status != "pending" || len(pending.Attempts) != 1 {
			t.Errorf("%+v", pending)
		}
		to.types(t, "webhook.test", "webhook.test")
		s.settled(t, hook, webhook.Succeeded, 2)
		if to.receipts()[1].id != sent.EventID {
			t.Error("a redelivery has another id")
		}
		observer.types(t, "webhook.redelivered")
		for name, want := range map[string]string{
			"webhookId": hook.ID, "deliveryId": sent.ID, "eventId": sent.EventID, "eventType": "webhook.test",
		} {
			if got := observer.receipts()[0].Data[name]; got != want {
				t.Errorf("%s of the redelivery is %v, want %s", name, got, want)
			}
		}
	})
}

func TestADeliveryShowsTheBodyAsItWasSent(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		hook := s.subscribe(t, to, "")
		acme := s.create(t, `{"name":"<Äcme> & \"Co\" 🦊","slug":"acme"}`)
		s.settled(t, hook, webhook.Succeeded, 1)
		s.Post(hook.path()+"/test", "").Is(t, 202, "")
		to.types(t, "company.created", "webhook.test")
		s.settled(t, hook, webhook.Succeeded, 1)
		log := s.deliveries(t, hook)
		for n, sent := range to.receipts() {
			logged := log[len(log)-1-n]
			path := hook.path() + "/deliveries/" + logged.ID
			answer := s.Get(path)
			answer.Is(t, 200, "")
			got := resttest.Data[apiDelivery](t, answer)
			if got.Body == nil || *got.Body != string(sent.body) {
				t.Errorf("%s was sent, shown is %s", sent.body, answer.Body)
			}
			got.Body = nil
			if diff := cmp.Diff(logged, got); diff != "" {
				t.Error(diff)
			}
			s.with(t, "read", "write").Get(path).Is(t, 403, "insufficient_scope")
			other := s.subscribe(t, to, `,"events":["company.deleted"]`)
			s.Get(other.path()+"/deliveries/"+logged.ID).Is(t, 404, "not_found")
		}
		send(s.Client, "GET", hook.path()+"/deliveries/dlv_1", "").Is(t, 404, "not_found")

		of := hook.path() + "/deliveries/" + log[1].ID
		database := beside(slices.DeleteFunc(slices.Clone(s.environ), func(one string) bool { return one == allowPrivate }))
		db, err := sql.Open(database.name, database.address)
		must(t, err)
		defer db.Close()
		_, err = db.ExecContext(t.Context(), "DELETE FROM activity WHERE id = '"+log[1].EventID+"'")
		must(t, err)
		answer := s.Get(of)
		answer.Is(t, 200, "")
		if got := resttest.Data[apiDelivery](t, answer); got.Body != nil || !strings.Contains(string(answer.Body), `"body":null`) {
			t.Errorf("without its event: %s", answer.Body)
		}
		s.Delete(acme.path()).Is(t, 200, "")
		await(t, "the end of the company's deliveries", func() bool { return s.Get(of).Status == 404 })
		s.Delete(hook.path()).Is(t, 200, "")
		s.Get(hook.path()+"/deliveries/"+log[0].ID).Is(t, 404, "not_found")
	})
}

func TestASlowReceiverHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		slow, fast := listen(t), listen(t)
		release := make(chan struct{})
		defer close(release)
		slow.does(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		})
		for range 20 {
			s.subscribe(t, slow, "")
		}
		s.subscribe(t, fast, "")
		acme := s.create(t, draft(t, ""))
		s.Patch(acme.path(), `{"name":"one"}`).Is(t, 200, "")
		s.Patch(acme.path(), `{"name":"two"}`).Is(t, 200, "")
		fast.types(t, "company.created", "company.updated", "company.updated")
		if had := len(slow.receipts()); had > 20 {
			t.Errorf("the slow receiver had %d requests: its first attempts have not kept their order", had)
		}
	})
}

func TestAPrivateTargetIsRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		to := listen(t)
		hook := s.subscribe(t, to, "")
		s.create(t, draft(t, ""))
		refused := s.settled(t, hook, webhook.Pending, 1)
		if attempt := refused.Attempts[0]; attempt.Status != nil || attempt.Error == nil || !strings.Contains(*attempt.Error, "127.0.0.1") {
			t.Errorf("%+v", attempt)
		}
		to.types(t)
	})
}

func TestWhatIsWrongWithAWebhookIsReportedAtOnceAndChangesNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for body, want := range map[string]string{
			`{}`: "url required",
			`{"url":"nowhere","events":[],"description":7,"companyId":"cmp_1","color":"red"}`: "color unknown_field," +
				"companyId unknown_value,description wrong_type,events required,url invalid_format",
			`{"url":"https://example.com","events":["company.*","company.born"]}`: "events.1 unknown_value",
			`{"url":"https://*.example.com"}`:                                     "url invalid_format",
			`{"url":"https://exam\u200bple.com"}`:                                 "url invalid_characters",
			`{"url":"https://example.com/a b"}`:                                   "url invalid_characters",
			`{"url":"http://0x7f.1/"}`:                                            "url invalid_format",
			`{"url":"http://example.com:/"}`:                                      "url invalid_format",
			`{"url":"https://example.com","enabled":null}`:                        "enabled not_null",
		} {
			answer := s.Send(resttest.Request{Method: "POST", Path: "/v1/webhooks", Body: body, Wrong: true})
			answer.Is(t, 422, "validation_failed")
			var got []string
			for _, field := range answer.Error.Details.Fields {
				got = append(got, field.Field+" "+field.Code)
			}
			slices.Sort(got)
			if strings.Join(got, ",") != want {
				t.Errorf("%s: %s", body, got)
			}
		}
		if list := resttest.Data[[]apiWebhook](t, s.Get("/v1/webhooks")); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		hook := resttest.Data[apiWebhook](t, s.Post("/v1/webhooks", `{"url":"https://example.com","companyId":null}`))
		s.Send(resttest.Request{Method: "PATCH", Path: hook.path(), Body: `{"companyId":"cmp_1"}`, Wrong: true}).Is(t, 422,
			"immutable_field")
		send(s.Client, "PATCH", hook.path(), `{"enabled":false}`, "If-Match", `"7"`).Is(t, 412, "precondition_failed")
		const nowhere, nothing = "/v1/webhooks/whk_01h455vb4pex5vsknk084sn02q", "/deliveries/dlv_01h455vb4pex5vsknk084sn02q/redeliver"
		s.Get(nowhere).Is(t, 404, "not_found")
		s.Patch(nowhere, `{"enabled":false}`).Is(t, 404, "not_found")
		s.Delete(nowhere).Is(t, 404, "not_found")
		s.Post(nowhere+"/test", "").Is(t, 404, "not_found")
		s.Post(nowhere+"/rotate-secret", "").Is(t, 404, "not_found")
		s.Get(nowhere+"/deliveries").Is(t, 404, "not_found")
		s.Post(nowhere+nothing, "").Is(t, 404, "not_found")
		s.Post(hook.path()+nothing, "").Is(t, 404, "not_found")
		s.Send(resttest.Request{Method: "GET", Path: hook.path() + "/deliveries?status=sent", Wrong: true}).Is(t, 400, "invalid_parameter")
		s.with(t, "read", "write").Get("/v1/webhooks").Is(t, 403, "insufficient_scope")
		s.with(t, "read", "write").Post("/v1/webhooks", `{"url":"https://example.com"}`).Is(t, 403, "insufficient_scope")

		s.Delete(hook.path()).Is(t, 200, "")
		s.Get(hook.path()).Is(t, 404, "not_found")
		var types []string
		for _, e := range s.events(t, "") {
			if strings.HasPrefix(string(e.Type), "webhook.") {
				types = append(types, string(e.Type))
			}
		}
		if want := []string{"webhook.created", "webhook.deleted"}; !slices.Equal(types, want) {
			t.Errorf("%q", types)
		}
	})
}

func TestThereAreAtMostAThousandWebhooks(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		fill(t, s, webhook.MostEndpoints-5)
		var made, refused int
		var mutex sync.Mutex
		var clients sync.WaitGroup
		for range 20 {
			clients.Go(func() {
				answer := s.Post("/v1/webhooks", `{"url":"https://example.com"}`)
				mutex.Lock()
				defer mutex.Unlock()
				switch {
				case answer.Status == 201:
					made++
				case answer.Status == 409 && answer.Error.Code == "webhook_limit":
					refused++
				default:
					t.Errorf("%s", answer.Body)
				}
			})
		}
		clients.Wait()
		if made != 5 || refused != 15 {
			t.Errorf("%d made, %d refused", made, refused)
		}
	})
}

// fill puts disabled webhooks into the store.
func fill(t *testing.T, s *instance, count int) {
	t.Helper()
	const perUnit = 100 // a unit may take only so long
	for first := 0; first < count; first += perUnit {
		must(t, s.store.Update(context.Background(), func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			for n := first; n < min(first+perUnit, count); n++ {
				url, off := fmt.Sprintf("https://example.com/%d", n), false
				draft := webhook.Draft{Settings: webhook.Settings{URL: &url, Enabled: &off}}
				newID := id.Webhook(fmt.Sprintf("whk_%026d", n))
				endpoint, _, err := webhook.New(newID, draft, "v1:", nil, tx.Now())
				if err != nil {
					return err
				}
				if err := tx.Webhooks().Add(ctx, endpoint); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

func TestSecretsAreNotInTheStoreNorInTheLog(t *testing.T) {
	t.Parallel()
	to := listen(t)
	s := start(t, newClock(), dataDir+sqlitetest.Dir(t), allowPrivate)
	hook := s.subscribe(t, to, "")
	s.create(t, draft(t, ""))
	to.types(t, "company.created")
	must(t, s.stop())
	folder := strings.TrimPrefix(s.environ[0], dataDir)
	found := 0
	must(t, filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		found++
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), strings.TrimPrefix(hook.Secret, "whsec_")) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	}))
	key, err := os.Stat(filepath.Join(folder, "key"))
	if err != nil || key.Mode().Perm() != 0o600 || found < 2 {
		t.Errorf("%v, %v, %d files", key, err, found)
	}
	if strings.Contains(s.log.String(), "whsec_") {
		t.Error("the log holds a secret")
	}
}

func TestAnotherKeyOrNoneStopsTheStart(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		must(t, start(t, newClock(), environ...).stop())
		key := filepath.Join(strings.TrimPrefix(environ[0], dataDir), "key")
		right, err := os.ReadFile(key)
		must(t, err)
		refused := func(why string) {
			t.Helper()
			server, done, err := open(t.Context(), t, newClock(), &record{}, environ...)
			if err == nil {
				err = server.Run(t.Context(), io.Discard, true)
				done()
			}
			if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), key) {
				t.Errorf("%q, not %q", err, why)
			}
		}
		must(t, os.Remove(key))
		refused("missing")
		if exists(t, key) {
			t.Error("a new key was made in place of the missing one")
		}
		other := startOnSQLite(t)
		must(t, other.stop())
		wrong, err := os.ReadFile(filepath.Join(strings.TrimPrefix(other.environ[0], dataDir), "key"))
		must(t, err)
		must(t, os.WriteFile(key, wrong, 0o600))
		refused("fingerprint")
		must(t, os.WriteFile(key, right, 0o600))
		must(t, start(t, newClock(), environ...).stop())
	})
}

func TestTwoServersOnOnePostgresShareTheWork(t *testing.T) {
	t.Parallel()
	clock := newClock()
	one := start(t, clock, dataDir+t.TempDir(), databaseURL+postgrestest.URL(t), allowPrivate)
	two := start(t, clock, append(slices.Clone(one.environ),
		"HOLDCO_KEY_FILE="+filepath.Join(strings.TrimPrefix(one.environ[0], dataDir), "key"))...)

	const receivers, changes = 12, 10
	var tos []*receiver
	var overlaps sync.Map
	for n := range receivers {
		to := listen(t)
		var busy sync.Map
		to.does(func(w http.ResponseWriter, r *http.Request) {
			which := r.Header.Get("webhook-id")
			if _, running := busy.LoadOrStore(which, true); running {
				overlaps.Store(which, n)
			}
			time.Sleep(5 * time.Millisecond)
			busy.Delete(which)
			w.WriteHeader(http.StatusOK)
		})
		one.subscribe(t, to, "")
		tos = append(tos, to)
	}
	acme := one.create(t, draft(t, ""))
	for n := range changes {
		s := []*instance{one, two}[n%2]
		s.Patch(acme.path(), fmt.Sprintf(`{"name":"Name %d"}`, n)).Is(t, 200, "")
	}
	want := []string{"company.created"}
	for range changes {
		want = append(want, "company.updated")
	}
	for _, to := range tos {
		to.types(t, want...)
		for n, got := range to.receipts()[1:] {
			if got.Data["name"] != fmt.Sprintf("Name %d", n) {
				t.Errorf("the update %d is to %s", n, got.Data["name"])
			}
		}
	}
	overlaps.Range(func(which, to any) bool {
		t.Errorf("%s was attempted by two at once at %v", which, to)
		return true
	})
}

// Of the events that were acknowledged before the process was killed each arrives at least once, under one id and one
// sequence, and those about one company first arrive in their order.
func TestKillingTheServerLosesNoDelivery(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		environ = append(environ, allowPrivate)
		const rounds, companies, changes = 3, 8, 4
		to := listen(t)
		to.does(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(50 * time.Millisecond)
			w.WriteHeader(http.StatusOK)
		})
		for round := range rounds {
			server := startProcess(t, environ...)
			if round == 0 {
				ask(t, http.MethodPost, server.url+"/v1/webhooks", `{"url":"`+to.url+`"}`)
			}
			var clients sync.WaitGroup
			for n := range companies {
				clients.Go(func() {
					made := ask(t, http.MethodPost, server.url+"/v1/companies", fmt.Sprintf(`{"name":"0","slug":"c-%d-%d"}`, round, n))
					for change := range changes {
						ask(t, http.MethodPatch, server.url+"/v1/companies/"+made.Data.ID, fmt.Sprintf(`{"name":"%d"}`, change+1))
					}
				})
			}
			clients.Wait()
			server.kill() // the last deliveries are in flight or have not begun
		}
		server := startProcess(t, environ...)
		defer server.kill()
		want := []string{"0", "1", "2", "3", "4"}
		arrived := func() map[string][]string {
			names, had := map[string][]string{}, map[string]bool{}
			for _, one := range to.receipts() {
				if !had[one.id] {
					had[one.id] = true
					slug := one.Data["slug"].(string)
					names[slug] = append(names[slug], one.Data["name"].(string))
				}
			}
			return names
		}
		await(t, "the arrival of every event", func() bool {
			complete := 0
			for _, names := range arrived() {
				if len(names) >= len(want) {
					complete++
				}
			}
			return complete == rounds*companies
		})
		for slug, names := range arrived() {
			if !slices.Equal(names, want) {
				t.Errorf("of %s first arrived %q", slug, names)
			}
		}
		sequences := map[string]int64{}
		for _, one := range to.receipts() {
			if sequence, again := sequences[one.id]; again && sequence != one.Sequence {
				t.Errorf("%s has the sequences %d and %d", one.id, sequence, one.Sequence)
			}
			sequences[one.id] = one.Sequence
		}
	})
}

// ask makes a request that must succeed.
func ask(t *testing.T, method, url, body string) answer {
	t.Helper()
	status, got, err := exchange(method, url, body)
	if err != nil || status >= 300 {
		t.Errorf("%s %s: %d, %v", method, url, status, err)
	}
	return got
}
