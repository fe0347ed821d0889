package wiring_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	secrets "holdco/domain/secret"
	"holdco/ports/store"
)

// keeps sets a secret of a company, as the command does.
func (s *instance) keeps(t *testing.T, in company, name, value string) secrets.Secret {
	t.Helper()
	made, err := s.secrets.Set(t.Context(), access.System("cli"), id.Company(in.ID), name, secrets.Draft{}, []byte(value))
	must(t, err)
	return made
}

func TestTheLookOfSecrets(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		s.keeps(t, acme, "github.token", "value of one")
		made, err := s.secrets.Set(t.Context(), access.System("cli"), id.Company(acme.ID), "anthropic",
			secrets.Draft{Category: new("api_key"), Description: new("For the writers")}, []byte("value of another"))
		must(t, err)
		s.golden(t, "secret", "GET", acme.path()+"/secrets/"+made.Name, "")
		s.golden(t, "secrets", "GET", acme.path()+"/secrets", "")
	})
}

func TestSecretsAreThoseOfTheirCompany(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, named("other"))
		s.keeps(t, acme, "anthropic", "value")
		for path, want := range map[string]int{
			acme.path() + "/secrets/anthropic": 200, acme.path() + "/secrets/Anthropic": 404, acme.path() + "/secrets/none": 404,
			other.path() + "/secrets/anthropic": 404, other.path() + "/secrets": 200,
			"/v1/companies/cmp_01j5ze2c4nf8vtkkq4d9w6m7xr/secrets": 404,
		} {
			if got := s.In(t).Get(path).Status; got != want {
				t.Errorf("%s: %d", path, got)
			}
		}
		if found := resttest.Data[[]any](t, s.In(t).Get(other.path()+"/secrets")); len(found) != 0 {
			t.Errorf("the other company has %v", found)
		}
		s.with(t, "company:"+acme.ID+":write").Get(acme.path()+"/secrets").Is(t, 403, "insufficient_scope")
		s.with(t, "company:"+other.ID+":read").Get(acme.path()+"/secrets/anthropic").Is(t, 404, "not_found")
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			if got := send(s.In(t), method, acme.path()+"/secrets/anthropic", `{"value":"x"}`).Status; got != 405 {
				t.Errorf("%s: %d", method, got)
			}
		}
		ctx, cli, of := context.Background(), access.System("cli"), id.Company(acme.ID)
		_, err := s.secrets.Rotate(ctx, cli, of, "anthropic", []byte("another value"))
		must(t, err)
		for range 2 { // the second changes nothing
			_, err = s.secrets.Update(ctx, cli, of, "anthropic", secrets.Draft{Description: new("For all")})
			must(t, err)
		}
		_, err = s.secrets.Remove(ctx, cli, of, "anthropic")
		must(t, err)
		var happened []string
		for _, e := range s.events(t, acme.ID) {
			if e.Type.Category() == "secret" {
				happened = append(happened, string(e.Type))
				if shown, err := json.Marshal(e.Data); err != nil || e.Subject.ID != "anthropic" || bytes.Contains(shown, []byte("value")) {
					t.Errorf("%s of %s: %s, %v", e.Type, e.Subject.ID, shown, err)
				}
			}
		}
		want := []event.Type{event.SecretCreated, event.SecretRotated, event.SecretUpdated, event.SecretRemoved}
		if fmt.Sprint(happened) != fmt.Sprint(want) {
			t.Errorf("what happened: %v", happened)
		}
		s.keeps(t, acme, "late", "value")
		s.In(t).Post(acme.path()+"/archive", "").Is(t, 200, "")
		if _, err := s.secrets.Remove(ctx, cli, of, "late"); err == nil || !strings.Contains(err.Error(), "company_archived") {
			t.Errorf("of an archived company: %v", err)
		}
	})
}

func TestAProgramGetsSecretsAndNobodyElseDoes(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		const value = `correct/horse+"battery" staple`
		s.keeps(t, acme, "password", value)
		s.keeps(t, acme, "certificate", "-----BEGIN-----\nAAAABBBBCCCC\n-----END-----")
		script := `
			test ${#PASSWORD} = 30 || exit 9
			raw() { printf '%s' "$PASSWORD"; }
			raw; echo; raw | base64; printf 'user:%s' "$PASSWORD" | base64 -w 0; echo; echo "$CERTIFICATE"
			printf 'correct/ho' ; sleep 0.1; printf 'rse+"battery" staple\n' ; raw >&2
			quoted='correct/horse+\"battery\" staple'
			lease="$HOLDCO_LEASE_ID"; token="\"fencingToken\":$HOLDCO_FENCING_TOKEN"
			ask POST "/gateway/v1/leases/$lease/comment" "{$token,\"body\":\"It is $quoted.\"}"
			ask POST "/gateway/v1/leases/$lease/checkpoint" "{$token,\"note\":\"It is $quoted\",\"data\":{\"is\":\"$quoted\"}}"
			printf '{"is": "%s", "url": "%s"}' "$quoted" "$(raw | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g')" >"$HOLDCO_RESULT_FILE"`
		config, err := json.Marshal(map[string]any{
			"command": []string{"sh", "-c", script}, "env": map[string]any{
				"PASSWORD": map[string]string{"secret": "password"}, "CERTIFICATE": map[string]string{"secret": "certificate"},
			},
		})
		must(t, err)
		ada := s.runs(t, sales, string(config))
		task := s.named(t, acme, ada, "")
		ended := s.reaches(t, task, "review")
		if want := `{"is":"[secret password]","url":"[secret password]"}`; string(ended.Result) != want {
			t.Errorf("the result is %s", ended.Result)
		}
		run := s.newest(t, task)
		log := s.logOf(t, task, run)
		if strings.Count(log, "[secret password]") < 5 || strings.Count(log, "[secret certificate]") != 1 {
			t.Errorf("the log is %s", log)
		}
		said := log + string(s.In(t).Get(task.path()+"/comments").Body) + string(s.In(t).Get(task.path()+"/runs/"+run.ID).Body)
		if strings.Count(said, "It is [secret password]") != 2 || !strings.Contains(said, `"is":"[secret password]"`) {
			t.Errorf("said is %s", said)
		}
		if got := s.keptSecret(t, acme, "password"); got.LastUsedAt.IsZero() {
			t.Errorf("%+v", got)
		}
		must(t, s.stop())
		s.betrays(t, value, "AAAABBBBCCCC")
	})
}

func (s *instance) keptSecret(t *testing.T, in company, name string) secrets.Secret {
	t.Helper()
	found, err := s.secrets.Get(context.Background(), access.System("cli"), id.Company(in.ID), name)
	must(t, err)
	return found
}

// betrays looks for values in all that a server has left and logged: its store, if that is in files, and all other files but those
// that programs made themselves.
func (s *instance) betrays(t *testing.T, values ...string) {
	t.Helper()
	looked := 0
	look := func(where string, content []byte) {
		looked++
		for _, value := range values {
			for _, form := range []string{
				value, url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte(value)), hex.EncodeToString([]byte(value)),
			} {
				if bytes.Contains(content, []byte(form)) {
					t.Errorf("%s holds %q", where, form)
				}
			}
		}
	}
	look("the log of the server", []byte(s.log.String()))
	root := strings.TrimPrefix(s.environ[0], dataDir)
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "result.json" {
			return err
		}
		content, err := os.ReadFile(path)
		look(path, content)
		return err
	}))
	for _, setting := range s.environ {
		if url, isPostgres := strings.CutPrefix(setting, databaseURL); isPostgres {
			for table, rows := range dumped(t, url) {
				look(table, []byte(rows))
			}
		}
	}
	if looked < 2 {
		t.Errorf("only %d things were looked at", looked)
	}
}

// dumped are all rows of a database of Postgres, by their tables.
func dumped(t *testing.T, url string) map[string]string {
	t.Helper()
	db, err := sql.Open("pgx", url)
	must(t, err)
	defer db.Close()
	var tables string
	must(t, db.QueryRow("SELECT string_agg(table_name, ' ') FROM information_schema.tables WHERE table_schema = current_schema()").
		Scan(&tables))
	found := map[string]string{}
	for table := range strings.FieldsSeq(tables) {
		var rows string
		must(t, db.QueryRow("SELECT coalesce(string_agg(one::text, ' '), '') FROM "+table+" AS one").Scan(&rows))
		found[table] = rows
	}
	if !strings.Contains(found["companies"], "cmp_") {
		t.Errorf("there are no companies among %d tables", len(found))
	}
	return found
}

// What is given on standard input is kept to the byte, up to its longest, and what is no value changes nothing.
func TestAValueIsKeptAsItIsGiven(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		set := func(given string) (said string, isKept bool) {
			command := exec.Command("holdco", "secret", "set", acme.Slug, "anthropic")
			command.Env, command.Stdin = slices.Concat(os.Environ(), s.environ), strings.NewReader(given)
			output, err := command.CombinedOutput()
			return string(output), err == nil
		}
		longest := strings.Repeat("\xff\x01k", secrets.MostValue)[:secrets.MostValue]
		kept := ""
		for _, c := range []struct{ given, want string }{
			{"hunter2", "hunter2"}, {"hunter2\r\n", "hunter2"}, {"hunter2\n\n", "hunter2\n"}, {" \t\xf0\x28 ", " \t\xf0\x28 "},
			{longest, longest}, {longest + "\n", longest}, {longest + "\r\n", longest}, {longest + "x", ""}, {longest + "x\r\n", ""},
			{strings.Repeat("x", 1<<20), ""}, {"hunter2\x00", ""}, {"", ""}, {"\n", ""},
		} {
			said, isKept := set(c.given)
			if isKept != (c.want != "") || strings.Contains(said, "hunter2") {
				t.Errorf("%.20q: %s", c.given, said)
			}
			if isKept {
				kept = c.want
			}
			if got := s.reveals(t, acme); got != kept {
				t.Errorf("%.20q was given, and %.20q of %d bytes is kept", c.given, got, len(got))
			}
		}
	})
}

// reveals opens the secret "anthropic" of a company.
func (s *instance) reveals(t *testing.T, in company) string {
	t.Helper()
	by := s.secrets.(interface {
		Reveal(ctx context.Context, of id.Company, names []string) (map[string]string, error)
	})
	values, err := by.Reveal(t.Context(), id.Company(in.ID), []string{"anthropic"})
	must(t, err)
	return values["anthropic"]
}

func TestTheDatabaseAloneShowsNoValue(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for n := range 50 {
			s.keeps(t, acme, fmt.Sprint("n", n), strings.Repeat("hunter2", 1000))
		}
		s.betrays(t, "hunter2hunter2") // while its write-ahead log is there
		found, err := s.store.Seals().After(t.Context(), store.Seal{}, 100)
		must(t, err)
		if len(found) != 50 || slices.ContainsFunc(found, func(one store.Seal) bool { return strings.Contains(one.Text, "hunter2") }) {
			t.Errorf("%d are sealed", len(found))
		}
	})
}

func TestASecretThatCannotBeHadStopsTheRun(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		ada := s.runs(t, sales, shell(`printf '%s' "$KEY" | tr a-z A-Z`, `,"env":{"KEY":{"secret":"anthropic"}}`))
		task := s.named(t, acme, ada, "")
		fails := func(times int, want string) {
			t.Helper()
			await(t, "a failure", func() bool {
				return resttest.Data[apiAgent](t, s.In(t).Get(ada.path())).Stats.AdapterFailures == times
			})
			run := s.ended(t, task)
			if run.Status != "cancelled" || run.Error.Code != "adapter_failed" || !strings.Contains(run.Error.Message, want) {
				t.Errorf("%+v %+v", run, run.Error)
			}
			if got := s.look(t, task); got.Status != "queued" || got.Attempt != 1 {
				t.Errorf("%+v", got)
			}
		}
		fails(1, "The company has no secret anthropic")

		// A row that was copied to another name does not open.
		other, kept := s.keeps(t, acme, "other", "value"), s.keeps(t, acme, "anthropic", "a value")
		sealed, err := s.store.Secrets().Sealed(t.Context(), other)
		must(t, err)
		must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Secrets().Keep(ctx, kept, sealed)
		}))
		s.clock.advance(6 * time.Minute)
		fails(2, "The secret anthropic of the company cannot be opened; set it anew.")
		s.keeps(t, acme, "anthropic", "a value")
		s.clock.advance(6 * time.Minute)
		if ended := s.reaches(t, task, "review"); string(ended.Result) != `"A VALUE"` {
			t.Errorf("the result is %s", ended.Result)
		}
	})
}

func TestTheKeyIsRotatedBesideARunningServer(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		s.keeps(t, acme, "first", "the first")
		s.In(t).Post("/v1/webhooks", `{"url":"https://example.com","enabled":false}`).Is(t, 201, "")
		before, err := os.ReadFile(filepath.Join(strings.TrimPrefix(s.environ[0], dataDir), "key"))
		must(t, err)
		for round := range 2 {
			if got := s.command(t, "key rotate"); !strings.Contains(got, "The key is rotated: ") {
				t.Errorf("rotated: %s", got)
			}
			s.keeps(t, acme, "second", "the second")
			hook := s.In(t).Post("/v1/webhooks", `{"url":"https://example.com","enabled":false}`)
			hook.Is(t, 201, "")
			id := resttest.Data[struct{ ID string }](t, hook).ID
			s.In(t).Post("/v1/webhooks/"+id+"/rotate-secret", "").Is(t, 200, "")
			ada := s.runs(t, sales, shell(`printf '%s, %s' "$A" "$B" | tr a-z A-Z`,
				`,"env":{"A":{"secret":"first"},"B":{"secret":"second"}}`))
			task := s.named(t, acme, ada, "")
			if ended := s.reaches(t, task, "review"); string(ended.Result) != `"THE FIRST, THE SECOND"` {
				t.Errorf("round %d: the result is %s", round, ended.Result)
			}
			s.ended(t, task)
		}
		s = s.again(t)
		after, err := os.ReadFile(filepath.Join(strings.TrimPrefix(s.environ[0], dataDir), "key"))
		if must(t, err); bytes.Equal(before, after) {
			t.Error("the key is the same")
		}
		entries, err := s.store.Activity().List(t.Context(), store.ActivityFilter{Company: new(id.Company(""))}, page.Position{}, 100)
		must(t, err)
		if n := len(slices.DeleteFunc(entries.Items, func(e event.Event) bool { return e.Type != event.KeyRotated })); n != 2 {
			t.Errorf("%d rotations are recorded", n)
		}
	})
}
