package wiring_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// command runs a command beside the server, split at spaces, and returns what it printed.
func (s *instance) command(t *testing.T, line string, more ...string) string {
	t.Helper()
	command := exec.Command("holdco", append(strings.Fields(line), more...)...)
	command.Env = slices.Concat(os.Environ(), s.environ)
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.Output()
	if err != nil {
		t.Errorf("%s: %v: %s", line, err, &stderr)
	}
	return string(stdout)
}

// compact leaves out the spaces between the parts of a JSON text.
func compact(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	must(t, json.Compact(&out, []byte(text)))
	return out.String()
}

// squeezed splits a table into lines whose cells are one space apart.
func squeezed(table string) []string {
	var lines []string
	for line := range strings.Lines(table) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

func TestWebhooksAreManagedOnTheCommandLineAsOverTheAPI(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		create := func(want apiWebhook, flags ...string) apiWebhook {
			t.Helper()
			var made apiWebhook
			must(t, json.Unmarshal([]byte(s.command(t, "webhook create --json --url https://example.com/holdco", flags...)), &made))
			if !strings.HasPrefix(made.Secret, webhook.SecretPrefix) {
				t.Errorf("%+v", made)
			}
			shown := resttest.Data[apiWebhook](t, s.Get(made.path()))
			made.Secret = ""
			want.ID, want.URL, want.CreatedAt, want.UpdatedAt = made.ID, "https://example.com/holdco", made.CreatedAt, made.CreatedAt
			if diff := cmp.Diff(want, made) + cmp.Diff(made, shown); diff != "" {
				t.Errorf("%q: %s", flags, diff)
			}
			return made
		}
		create(apiWebhook{Events: []string{"*"}, Enabled: true})
		create(apiWebhook{Events: []string{"*"}}, "--disabled")
		create(apiWebhook{Events: []string{"company.created", "company.*", "*"}, Enabled: true},
			"--events", "company.created, company.*", "--events", "*")
		hook := create(apiWebhook{Events: []string{"*"}, Enabled: true, CompanyID: &acme.ID, Description: "To the chat."},
			"--company", acme.ID, "--description", "To the chat.")

		for _, c := range []struct {
			flags  string
			change func(w *apiWebhook)
		}{
			{"--disable", func(w *apiWebhook) { w.Enabled = false }},
			{"--enable", func(w *apiWebhook) { w.Enabled = true }},
			{"--enable=false --description=new", func(w *apiWebhook) { w.Enabled, w.Description = false, "new" }},
			{"--disable=false", func(w *apiWebhook) { w.Enabled = true }},
			{"--description=", func(w *apiWebhook) { w.Description = "" }},
			{"--url=http://example.com --events=company.created", func(w *apiWebhook) {
				w.URL, w.Events = "http://example.com", []string{"company.created"}
			}},
		} {
			c.change(&hook)
			var got apiWebhook
			must(t, json.Unmarshal([]byte(s.command(t, "webhook update --json "+c.flags+" "+hook.ID)), &got))
			hook.UpdatedAt = got.UpdatedAt
			if diff := cmp.Diff(hook, got); diff != "" {
				t.Errorf("%s: %s", c.flags, diff)
			}
		}
		want := []string{"id " + hook.ID, "url http://example.com", "events company.created", "company " + acme.ID, "state disabled"}
		if diff := cmp.Diff(want, squeezed(s.command(t, "webhook update --disable "+hook.ID))); diff != "" {
			t.Error(diff)
		}
		list := squeezed(s.command(t, "webhook list"))
		if len(list) != 5 || list[0] != "ID URL EVENTS COMPANY CREATED STATE" ||
			list[1] != hook.ID+" http://example.com company.created "+acme.ID+" "+hook.CreatedAt+" disabled" ||
			!strings.Contains(list[4], " https://example.com/holdco * all ") || !strings.HasSuffix(list[4], " enabled") {
			t.Errorf("%q", list)
		}
		if diff := cmp.Diff(string(s.Get("/v1/webhooks").Data), compact(t, s.command(t, "webhook list --json"))); diff != "" {
			t.Error(diff)
		}
		rotated := squeezed(s.command(t, "webhook rotate-secret "+hook.ID))
		last := rotated[len(rotated)-1]
		if !strings.HasPrefix(last, "secret whsec_") || !strings.HasSuffix(last, " (shown only this once)") {
			t.Errorf("%q", rotated)
		}
		if said := s.command(t, "webhook rm "+hook.ID); said != "The webhook "+hook.ID+" (http://example.com) is removed.\n" {
			t.Error(said)
		}
		s.Get(hook.path()).Is(t, 404, "not_found")
	})
}

func TestDeliveriesAreShownOnTheCommandLine(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		s.clock.ms.Store(time.Now().Add(time.Hour).UnixMilli()) // the clock of commands is the machine's
		to := listen(t)
		hook := s.subscribe(t, to, "")
		if none := s.command(t, "webhook deliveries --json "+hook.ID); none != "[]\n" {
			t.Error(none)
		}
		said := func(id string) string {
			return "The delivery " + id + " (webhook.test) is pending. The server sends it, at once if it is running;\n" +
				"\"holdco webhook deliveries " + hook.ID + "\" shows the outcome.\n"
		}
		text := s.command(t, "webhook test "+hook.ID)
		tested := s.settled(t, hook, webhook.Succeeded, 1)
		if diff := cmp.Diff(said(tested.ID), text); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(said(tested.ID), s.command(t, "webhook redeliver "+hook.ID+" "+tested.ID)); diff != "" {
			t.Error(diff)
		}
		s.settled(t, hook, webhook.Succeeded, 2)
		gone := listen(t)
		gone.answers(410)
		ended := s.subscribe(t, gone, "")
		s.command(t, "webhook test "+ended.ID)
		s.settled(t, ended, webhook.Failed, 1)
		if list := squeezed(s.command(t, "webhook list")); !strings.HasSuffix(list[1], " disabled: The endpoint answered 410 Gone") {
			t.Errorf("%q", list)
		}
		s.Patch(hook.path(), `{"enabled":false}`).Is(t, 200, "") // what is put into the store below stays as it is

		at := s.clock.Now().Add(time.Hour)
		answered, refused := webhook.Attempt{At: at, Status: 500}, webhook.Attempt{At: at, Error: "connection refused"}
		kept := []webhook.Delivery{
			{Type: event.CompanyCreated, Status: webhook.Pending, NextAttemptAt: at.Add(time.Hour),
				Attempts: []webhook.Attempt{answered, refused}},
			{Type: event.CompanyUpdated, Status: webhook.Failed, Attempts: []webhook.Attempt{refused, answered}},
		}
		for range 450 {
			kept = append(kept, webhook.Delivery{Type: event.CompanyUpdated, Status: webhook.Failed})
		}
		for i := range kept {
			kept[i].ID, kept[i].Endpoint = id.Delivery(fmt.Sprintf("dlv_%026d", len(kept)-i)), id.Webhook(hook.ID)
			kept[i].Event, kept[i].CreatedAt = id.Entry(fmt.Sprintf("act_%026d", len(kept)-i)), at
		}
		for some := range slices.Chunk(kept, 100) {
			must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				tx.Unrecorded()
				return tx.Deliveries().AddAll(ctx, some)
			}))
		}
		stamp := at.Format("2006-01-02T15:04:05.000Z")
		want := []string{
			"ID EVENT CREATED STATUS ATTEMPTS LAST ANSWER NEXT ATTEMPT",
			string(kept[0].ID) + " company.created " + stamp + " pending 2 connection refused " +
				at.Add(time.Hour).Format("2006-01-02T15:04:05.000Z"),
			string(kept[1].ID) + " company.updated " + stamp + " failed 2 500 -",
			string(kept[2].ID) + " company.updated " + stamp + " failed 0 - -",
		}
		if diff := cmp.Diff(want, squeezed(s.command(t, "webhook deliveries --limit 3 "+hook.ID))); diff != "" {
			t.Error(diff)
		}
		for flags, lines := range map[string]int{
			"": 50, "--limit 1": 1, "--limit 200 --status failed": 200, "--limit 450 --status failed": 450, "--limit 1000": 453,
			"--status succeeded": 1, "--status pending": 1,
		} {
			if got := len(squeezed(s.command(t, "webhook deliveries "+flags+" "+hook.ID))) - 1; got != lines {
				t.Errorf("%s: %d deliveries, want %d", flags, got, lines)
			}
		}
		shown := string(s.Get(hook.path() + "/deliveries").Data)
		if diff := cmp.Diff(shown, compact(t, s.command(t, "webhook deliveries --json "+hook.ID))); diff != "" {
			t.Error(diff)
		}
	})
}
