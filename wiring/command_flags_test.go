package wiring_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/partner"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// The scripts of testdata/script test the commands. Here is what a script cannot compute or make: times that depend on the
// clock, and lists of several pages.

func TestFlagsOfCommandsSetWhenCredentialsEnd(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const createToken, createPartner = "token create --name a --scopes read", "partner create --name a --origin https://a.example"
		// run runs a command, and returns the id of what it created or changed, and how that is stored.
		run := func(line string) (which string, stored access.Credential) {
			t.Helper()
			var shown struct{ ID string }
			must(t, json.Unmarshal([]byte(s.command(t, line+" --json")), &shown))
			if asToken, ok := id.Parse[id.Token](shown.ID); ok {
				found, err := s.store.Tokens().Get(t.Context(), asToken)
				must(t, err)
				return shown.ID, found.Credential
			}
			found, err := s.store.Partners().Get(t.Context(), id.Partner(shown.ID))
			must(t, err)
			return shown.ID, found.Credential
		}
		expiresAt := func(c access.Credential) time.Time { return c.ExpiresAt }
		oldUntil := func(c access.Credential) time.Time { return c.OldUntil }
		// setsAfter checks that a command sets a time to a duration after the command ran.
		setsAfter := func(line string, set func(c access.Credential) time.Time, want time.Duration) (which string) {
			t.Helper()
			begun := instant.Cut(time.Now())
			which, stored := run(line)
			if ran := set(stored).Add(-want); ran.Before(begun) || ran.After(time.Now()) {
				t.Errorf("%s: it sets %s, which is %s after %s", line, set(stored), want, ran)
			}
			return which
		}

		token := setsAfter(createToken+" --expires 90m", expiresAt, 90*time.Minute)
		setsAfter("token rotate --grace 1h0m0.001s "+token, oldUntil, time.Hour+time.Millisecond)
		setsAfter("token rotate --grace 720h "+token, oldUntil, access.MostGrace)
		if _, rotated := run("token rotate " + token); rotated.OldHash != "" {
			t.Errorf("without --grace the old value stays valid until %s", rotated.OldUntil)
		}
		key := setsAfter(createPartner+" --expires 36h", expiresAt, 36*time.Hour)
		setsAfter("partner update --expires 48h "+key, expiresAt, 48*time.Hour)
		setsAfter("partner rotate --grace 2h "+key, oldUntil, 2*time.Hour)
		setsAfter("partner rotate "+key, oldUntil, partner.UsualGrace)
		if _, rotated := run("partner rotate --grace 0s " + key); rotated.OldHash != "" {
			t.Errorf("with --grace 0s the old key stays valid until %s", rotated.OldUntil)
		}

		for expires, want := range map[string]time.Time{
			"2097-04-11":                    time.Date(2097, 4, 11, 0, 0, 0, 0, time.UTC),
			"2097-04-11T10:42:17.123+02:00": time.Date(2097, 4, 11, 8, 42, 17, 123e6, time.UTC),
		} {
			for _, line := range []string{createToken, createPartner, "partner update " + key} {
				if _, made := run(line + " --expires " + expires); !made.ExpiresAt.Equal(want) {
					t.Errorf("%s --expires %s: it expires at %s", line, expires, made.ExpiresAt)
				}
			}
		}
		if _, admitted := run(createPartner); !admitted.ExpiresAt.IsZero() {
			t.Errorf("without --expires a key expires at %s", admitted.ExpiresAt)
		}
	})
}

func TestCommandsListAllPagesNewestFirst(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const most, step = 401, 100 // a page has at most 200 items
		of := func(kind string, n int) string { return fmt.Sprintf("%s_%026d", kind, n) }
		add := func(ctx context.Context, tx store.Tx, n int) error {
			at, credential := s.clock.Now().Add(time.Duration(n)*time.Second), access.Credential{Hint: "hint", Hash: fmt.Sprint(n)}
			return errors.Join(
				tx.Tokens().Add(ctx, access.Token{
					ID: id.Token(of("tok", n)), Name: "a", Scopes: access.Scopes{{Permission: access.Read}}, Credential: credential,
					CreatedAt: at, Version: 1,
				}),
				tx.Partners().Add(ctx, partner.Partner{
					ID: id.Partner(of("prt", n)), Name: "a", Origins: []string{"https://a.example"}, Credential: credential,
					CreatedAt: at, Version: 1,
				}),
				tx.Webhooks().Add(ctx, webhook.Endpoint{
					ID: id.Webhook(of("whk", n)), URL: "https://a.example", Events: []webhook.Pattern{webhook.Everything},
					CreatedAt: at, UpdatedAt: at, Version: 1,
				}),
			)
		}
		for first := 1; first <= most; first += step {
			must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
				tx.Unrecorded()
				for n := first; n < first+step && n <= most && err == nil; n++ {
					err = add(ctx, tx, n)
				}
				return err
			}))
		}
		for kind, line := range map[string]string{"tok": "token list", "prt": "partner list", "whk": "webhook list"} {
			want := []string{"ID"}
			for n := most; n > 0; n-- {
				want = append(want, of(kind, n))
			}
			var got []string
			for _, row := range squeezed(s.command(t, line)) {
				which, _, _ := strings.Cut(row, " ")
				got = append(got, which)
			}
			if kind == "tok" { // the server made the oldest one
				got = got[:len(got)-1]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", line, diff)
			}
		}
	})
}
