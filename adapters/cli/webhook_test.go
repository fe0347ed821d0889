package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/cli"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/webhook"
)

const shownHook = "id       whk_00000000000000000000000001\n" +
	"url      https://example.com/holdco\n" +
	"events   company.created,company.budget.*\n" +
	"company  cmp_00000000000000000000000001\n" +
	"state    enabled\n"

var withSecret = result{cli.Done, shownHook + "secret   " + string(secret) + "  (shown only this once)\n", ""}

func TestWebhookCreate(t *testing.T) {
	t.Parallel()
	company := string(hook.Company)
	for _, c := range []struct {
		args []string
		want webhook.Draft
	}{
		{nil, webhook.Draft{}},
		{[]string{"--disabled"}, webhook.Draft{Settings: webhook.Settings{Enabled: new(false)}}},
		{[]string{"--events", "company.created, company.*", "--events", "*"}, webhook.Draft{Settings: webhook.Settings{Events: &[]string{"company.created", "company.*", "*"}}}},
		{[]string{"--events", "", "--description", ""}, webhook.Draft{Settings: webhook.Settings{Events: &[]string{}, Description: new("")}}},
		{[]string{"--company", company, "--description", "To the chat."}, webhook.Draft{Company: &company, Settings: webhook.Settings{Description: new("To the chat.")}}},
	} {
		c.want.URL = new("https://example.com")
		var f fake
		got := f.runArgs(append([]string{"webhook", "create", "--url", "https://example.com", "--data-dir", "here"}, c.args...)...)
		if got != withSecret {
			t.Errorf("%q: %+v", c.args, got)
		}
		if diff := cmp.Diff(c.want, f.webhooks.draft); diff != "" {
			t.Errorf("%q: %s", c.args, diff)
		}
		if f.dataDir != "here" || f.closed != 1 || f.webhooks.caller.Actor != access.System("cli").Actor {
			t.Errorf("%+v", f)
		}
	}
}

func TestWebhookUpdateChangesWhatItNames(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]webhook.Settings{
		"--enable":                         {Enabled: new(true)},
		"--disable":                        {Enabled: new(false)},
		"--disable=false":                  {Enabled: new(true)},
		"--description=":                   {Description: new("")},
		"--url=http://a.b --events=*":      {URL: new("http://a.b"), Events: &[]string{"*"}},
		"--enable=false --description=new": {Enabled: new(false), Description: new("new")},
	} {
		var f fake
		if got := f.run(update(flags)); got != (result{cli.Done, shownHook, ""}) || f.webhooks.which != hook.ID {
			t.Errorf("%s: %+v, %+v", flags, got, f.webhooks)
		}
		if diff := cmp.Diff(webhook.Patch{Settings: want}, f.webhooks.patch); diff != "" {
			t.Errorf("%s: %s", flags, diff)
		}
	}
}

func TestWebhookListShowsAllPages(t *testing.T) {
	t.Parallel()
	f := fake{webhooks: fakeWebhooks{all: []webhook.Endpoint{hook, goneHook, idleHook}}}
	want := []string{
		"ID URL EVENTS COMPANY CREATED STATE",
		"whk_00000000000000000000000001 https://example.com/holdco company.created,company.budget.* cmp_00000000000000000000000001 2026-11-21T10:00:00.000Z enabled",
		"whk_00000000000000000000000002 https://example.com/gone * all 2026-11-21T09:00:00.000Z disabled: The endpoint answered 410 Gone",
		"whk_00000000000000000000000003 http://example.com * all 2026-11-21T10:00:00.000Z disabled",
	}
	got := f.run("webhook list")
	if diff := cmp.Diff(want, squeezed(got.stdout)); diff != "" || got.code != cli.Done {
		t.Error(diff, got.stderr)
	}
}

func TestWebhookSecretsAreRotated(t *testing.T) {
	t.Parallel()
	var f fake
	if got := f.run("webhook rotate-secret " + string(hook.ID)); got != withSecret || f.webhooks.which != hook.ID {
		t.Errorf("%+v, %+v", got, f.webhooks)
	}
}

func TestWebhookRm(t *testing.T) {
	t.Parallel()
	var f fake
	want := result{cli.Done, "The webhook " + string(hook.ID) + " (https://example.com/holdco) is removed.\n", ""}
	if got := f.run("webhook rm " + string(hook.ID)); got != want || f.webhooks.which != hook.ID {
		t.Errorf("%+v, %+v", got, f.webhooks)
	}
}

func TestWhatIsSentToAWebhookIsNamed(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"webhook test " + string(hook.ID), redeliver("")} {
		var f fake
		want := "The delivery " + string(sent.ID) + " (webhook.test) is pending. The server makes it, at once if it is running;\n" +
			"\"holdco webhook deliveries " + string(hook.ID) + "\" shows what became of it.\n"
		if got := f.run(line); got != (result{cli.Done, want, ""}) || f.webhooks.which != hook.ID {
			t.Errorf("%s: %+v", line, got)
		}
	}
	var f fake
	if f.run(redeliver("")); f.webhooks.delivery != sent.ID {
		t.Errorf("%+v", f.webhooks)
	}
}

func TestWebhookDeliveriesTellTheLastAnswer(t *testing.T) {
	t.Parallel()
	answered, refused := webhook.Attempt{At: now, Status: 500}, webhook.Attempt{At: now, Error: "connection refused"}
	f := fake{webhooks: fakeWebhooks{deliveries: []webhook.Delivery{
		sent,
		{ID: sent.ID, Type: event.CompanyCreated, CreatedAt: now, Status: webhook.Pending, NextAttemptAt: now.Add(time.Hour), Attempts: []webhook.Attempt{answered, refused}},
		{ID: sent.ID, Type: event.CompanyUpdated, CreatedAt: now, Status: webhook.Failed, Attempts: []webhook.Attempt{refused, answered}},
	}}}
	want := []string{
		"ID EVENT CREATED STATUS ATTEMPTS LAST ANSWER NEXT ATTEMPT",
		"dlv_00000000000000000000000001 webhook.test 2026-11-21T10:00:00.000Z pending 0 - 2026-11-21T10:00:00.000Z",
		"dlv_00000000000000000000000001 company.created 2026-11-21T10:00:00.000Z pending 2 connection refused 2026-11-21T11:00:00.000Z",
		"dlv_00000000000000000000000001 company.updated 2026-11-21T10:00:00.000Z failed 2 500 -",
	}
	got := f.run("webhook deliveries " + string(hook.ID))
	if diff := cmp.Diff(want, squeezed(got.stdout)); diff != "" || got.code != cli.Done {
		t.Error(diff, got.stderr)
	}
}

func TestWebhookDeliveriesAreListedUpToTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags string
		lines int
		asked []int // sizes of the pages
	}{
		{"", 50, []int{50}},
		{"--limit 1", 1, []int{1}},
		{"--limit 200 --status failed", 200, []int{200}},
		{"--limit 450 --status failed", 450, []int{200, 200, 50}},
		{"--limit 1000", 500, []int{200, 200, 200}},
	} {
		f := fake{webhooks: fakeWebhooks{deliveries: slices.Repeat([]webhook.Delivery{sent}, 500)}}
		got := f.run("webhook deliveries " + string(hook.ID) + " " + c.flags)
		if lines := strings.Count(got.stdout, "\n") - 1; got.code != cli.Done || lines != c.lines {
			t.Errorf("%s: %d lines, %s", c.flags, lines, got.stderr)
		}
		var sizes []int
		for _, list := range f.webhooks.asked {
			sizes = append(sizes, list.Size)
			if list.Endpoint != hook.ID || (list.Status == webhook.Failed) != strings.Contains(c.flags, "failed") {
				t.Errorf("%s: %+v", c.flags, list)
			}
		}
		if diff := cmp.Diff(c.asked, sizes); diff != "" {
			t.Errorf("%s: %s", c.flags, diff)
		}
	}
}

func TestJSONOfWebhooksIsTheObjectOfTheAPIAndNothingElse(t *testing.T) {
	t.Parallel()
	object := `{
  "id": "whk_00000000000000000000000001",
  "url": "https://example.com/holdco",
  "events": [
    "company.created",
    "company.budget.*"
  ],
  "companyId": "cmp_00000000000000000000000001",
  "enabled": true,
  "description": "To the chat.",
  "disabledReason": null,
  "createdAt": "2026-11-21T10:00:00.000Z",
  "updatedAt": "2026-11-21T10:00:00.000Z"`
	delivery := `{
  "id": "dlv_00000000000000000000000001",
  "webhookId": "whk_00000000000000000000000001",
  "eventId": "act_00000000000000000000000001",
  "type": "webhook.test",
  "status": "pending",
  "attempts": [],
  "nextAttemptAt": "2026-11-21T10:00:00.000Z",
  "createdAt": "2026-11-21T10:00:00.000Z"
}`
	issued := fmt.Sprintf("%s,\n  \"secret\": %q\n}\n", object, secret)
	listed := func(object string) string { return "[\n  " + strings.ReplaceAll(object, "\n", "\n  ") + "\n]\n" }
	which := string(hook.ID)
	for line, want := range map[string]string{
		"webhook create --json --url http://a.b":            issued,
		"webhook rotate-secret --json " + which:             issued,
		update("--enable --json"):                           object + "\n}\n",
		"webhook --json rm " + which:                        object + "\n}\n",
		"webhook --json list":                               listed(object + "\n}"),
		"webhook test --json " + which:                      delivery + "\n",
		redeliver("--json"):                                 delivery + "\n",
		"webhook deliveries --json " + which:                listed(delivery),
		"webhook deliveries --limit=1 --json=true " + which: listed(delivery),
	} {
		f := fake{webhooks: fakeWebhooks{all: []webhook.Endpoint{hook}, deliveries: []webhook.Delivery{sent}}}
		if diff := cmp.Diff(want, f.run(line).stdout); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
	for _, line := range []string{"webhook list --json", "webhook deliveries --json " + which} {
		if got := new(fake).run(line); got != (result{cli.Done, "[]\n", ""}) {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

func TestWrongUsageOfWebhooksIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"webhook":                                             `"holdco webhook" needs a command: create, deliveries, list, redeliver, rm, rotate-secret, test, update; see "holdco webhook --help"`,
		"webhook creat":                                       `"holdco webhook" has no command "creat", did you mean "create"?; see "holdco webhook --help"`,
		"webhook create":                                      `required flag(s) "url" not set; see "holdco webhook create --help"`,
		"webhook create http://a.b":                           `"holdco webhook create" takes no argument, and got "http://a.b"; see "holdco webhook create --help"`,
		"webhook rm":                                          `"holdco webhook rm" needs one argument, the id of a webhook; "holdco webhook list" shows them; see "holdco webhook rm --help"`,
		"webhook test " + string(first.ID):                    `"tok_00000000000000000000000001" is not the id of a webhook; "holdco webhook list" shows them; see "holdco webhook test --help"`,
		"webhook redeliver " + string(hook.ID):                `"holdco webhook redeliver" needs two arguments, the id of a webhook and the id of a delivery to it; "holdco webhook deliveries" shows these; see "holdco webhook redeliver --help"`,
		"webhook redeliver a b":                               `"a" is not the id of a webhook; "holdco webhook list" shows them; see "holdco webhook redeliver --help"`,
		"webhook redeliver " + string(hook.ID) + " b":         `"b" is not the id of a delivery; "holdco webhook deliveries" shows them; see "holdco webhook redeliver --help"`,
		update(""):                                            `at least one of the flags in the group [url events description enable disable] is required; see "holdco webhook update --help"`,
		update("--enable --disable"):                          `if any flags in the group [enable disable] are set none of the others can be; [disable enable] were all set; see "holdco webhook update --help"`,
		"webhook deliveries --limit 0 " + string(hook.ID):     `--limit must be 1 or more; it is 0; see "holdco webhook deliveries --help"`,
		"webhook deliveries --status= " + string(hook.ID):     `--status must be pending, succeeded or failed; it is ""; see "holdco webhook deliveries --help"`,
		"webhook deliveries --status lost " + string(hook.ID): `--status must be pending, succeeded or failed; it is "lost"; see "holdco webhook deliveries --help"`,
	} {
		var f fake
		if got := f.run(line); got != (result{cli.Misuse, "", "holdco: " + want + "\n"}) || f.dataDir != "" {
			t.Errorf("%s:\n got %+v\nwant %s", line, got, want)
		}
	}
}

func update(flags string) string { return "webhook update " + string(hook.ID) + " " + flags }
func redeliver(flags string) string {
	return "webhook redeliver " + string(hook.ID) + " " + string(sent.ID) + " " + flags
}

// squeezed splits a table into lines whose cells are one space apart.
func squeezed(table string) []string {
	var lines []string
	for line := range strings.Lines(table) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}
