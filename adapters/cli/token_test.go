package cli_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/cli"
	"holdco/domain/access"
)

func TestTokenCreate(t *testing.T) {
	t.Parallel()
	var f fake
	got := f.runArgs("token", "create", "--name", "my deploy", "--scopes", "read, company:acme:write", "--data-dir", "here")
	want := "id       " + string(first.ID) + "\n" +
		"name     deploy\n" +
		"scopes   read,company:cmp_00000000000000000000000001:write\n" +
		"expires  never\n" +
		"token    " + string(value) + "  (shown only this once)\n"
	if got != (result{cli.Done, want, ""}) {
		t.Errorf("%+v", got)
	}
	if draft := f.tokens.draft; *draft.Name != "my deploy" || !slices.Equal(draft.Scopes, []string{"read", "company:acme:write"}) || draft.ExpiresAt != nil {
		t.Errorf("%+v", draft)
	}
	if f.dataDir != "here" || f.closed != 1 || f.tokens.caller.Actor != access.System("cli").Actor {
		t.Errorf("%+v", f)
	}
}

func TestTokenCreateTakesDurationsDatesAndTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"720h":                      now.Add(720 * time.Hour),
		"1ms":                       now.Add(time.Millisecond),
		"2027-04-11":                time.Date(2027, 4, 11, 0, 0, 0, 0, time.UTC),
		"2027-04-11T10:42:17Z":      time.Date(2027, 4, 11, 10, 42, 17, 0, time.UTC),
		"2027-04-11T10:42:17+02:00": time.Date(2027, 4, 11, 8, 42, 17, 0, time.UTC),
	} {
		var f fake
		if got := f.run(create("--expires " + text)); got.code != cli.Done || !f.tokens.draft.ExpiresAt.Equal(want) {
			t.Errorf("%s: %v, %+v", text, f.tokens.draft.ExpiresAt, got)
		}
	}
}

func TestJSONIsTheObjectOfTheAPIAndNothingElse(t *testing.T) {
	t.Parallel()
	object := `{
  "id": "tok_00000000000000000000000001",
  "name": "deploy",
  "scopes": [
    "read",
    "company:cmp_00000000000000000000000001:write"
  ],
  "hint": "` + value.Hint() + `",
  "createdAt": "2026-11-21T10:00:00.000Z",
  "expiresAt": null,
  "lastUsedAt": null,
  "revokedAt": null`
	withValue := object + ",\n  \"token\": \"" + string(value) + "\"\n}\n"
	for line, want := range map[string]string{
		create("--json"): withValue,
		rotate("--json"): withValue,
		"token --json revoke " + string(first.ID): object + "\n}\n",
	} {
		if got := new(fake).run(line); got != (result{cli.Done, want, ""}) {
			t.Errorf("%s: %+v", line, got)
		}
	}

	for want, pages := range map[string][][]access.Token{
		"[]\n": {{}},
		"[\n  " + strings.ReplaceAll(object, "\n", "\n  ") + "\n  }\n]\n": {{first}},
	} {
		f := fake{tokens: fakeTokens{pages: pages}}
		if got := f.run("token list --json"); got != (result{cli.Done, want, ""}) {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
}

func TestTokenListShowsAllPages(t *testing.T) {
	t.Parallel()
	f := fake{tokens: fakeTokens{pages: [][]access.Token{{first}, {second}, {}}}}
	want := []string{
		"ID NAME SCOPES HINT CREATED EXPIRES LAST USED REVOKED",
		"tok_00000000000000000000000001 deploy read,company:cmp_00000000000000000000000001:write " + value.Hint() + " 2026-11-21T10:00:00.000Z never never -",
		"tok_00000000000000000000000002 old <one> admin " + value.Hint() + " 2026-11-21T09:00:00.000Z 2026-11-21T11:00:00.000Z 2026-11-21T10:00:00.000Z 2026-11-21T10:00:00.000Z",
	}
	if got := f.run("token list"); got.code != cli.Done || !slices.Equal(squeezed(got.stdout), want) {
		t.Errorf("%d, %s\n%s", got.code, got.stderr, got.stdout)
	}
}

func TestTokenRotate(t *testing.T) {
	t.Parallel()
	var f fake
	if got := f.run(rotate("")); got.code != cli.Done || !strings.Contains(got.stdout, string(value)) || f.tokens.which != first.ID || f.tokens.grace != 0 {
		t.Errorf("%+v, %+v", got, f.tokens)
	}
	if got := f.run(rotate("--grace 720h")); got.code != cli.Done || f.tokens.grace != 720*time.Hour {
		t.Errorf("%+v, %+v", got, f.tokens)
	}
}

func TestTokenRevoke(t *testing.T) {
	t.Parallel()
	var f fake
	want := result{cli.Done, "The token " + string(first.ID) + " (deploy) is revoked.\n", ""}
	if got := f.run("token revoke " + string(first.ID)); got != want || f.tokens.which != first.ID {
		t.Errorf("%+v, %+v", got, f.tokens)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"migrate status": "MIGRATION            APPLIED\n" +
			"00001_companies.sql  2026-11-21T10:00:00.000Z\n" +
			"00002_agents.sql     pending\n",
		"migrate up": "MIGRATION         APPLIED\n" +
			"00002_agents.sql  2026-11-21T10:00:00.000Z\n",
		"migrate up --json": "[\n  {\n    \"version\": 2,\n    \"name\": \"00002_agents.sql\",\n    \"appliedAt\": \"2026-11-21T10:00:00.000Z\"\n  }\n]\n",
	} {
		var f fake
		if got := f.run(line); got != (result{cli.Done, want, ""}) || f.closed != 1 {
			t.Errorf("%s: %+v", line, got)
		}
	}
	for line, want := range map[string]string{"migrate up": "The schema is up to date.\n", "migrate up --json": "[]\n"} {
		f := fake{migrator: fakeMigrator{upToDate: true}}
		if got := f.run(line); got != (result{cli.Done, want, ""}) {
			t.Errorf("%s: %+v", line, got)
		}
	}
	f := fake{migrator: fakeMigrator{fails: errors.New("the schema is newer")}}
	if got := f.run("migrate up"); got != (result{cli.Failed, "", "holdco: the schema is newer\n"}) {
		t.Errorf("%+v", got)
	}
}
