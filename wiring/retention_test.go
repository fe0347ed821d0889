package wiring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/retention"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

const keepActivity = "HOLDCO_KEEP_ACTIVITY=90d"

// chained waits until all that was committed is chained.
func (s *instance) chained(t *testing.T, in company) {
	t.Helper()
	newest := resttest.Data[[]apiEntry](t, s.Get(in.path()+"/activity?limit=1"))[0].ID
	await(t, "all in the chain", func() bool {
		links, err := s.store.Activity().Links(t.Context(), []id.Entry{id.Entry(newest)})
		must(t, err)
		return len(links) == 1
	})
}

// clear removes what is old, as the job of the server does.
func (s *instance) clear(t *testing.T) {
	t.Helper()
	_, err := s.retention.Run(t.Context())
	must(t, err)
}

func TestOldActivityIsRemovedAndAllElseStays(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		clock := newClock()
		s := start(t, clock, append(slices.Clone(environ), keepActivity)...)
		acme := s.create(t, `{"name":"Acme","slug":"acme"}`)
		stream := s.streams(t, acme, string(rootToken), "")
		for n := range 3 {
			s.Post(acme.path()+"/issues", fmt.Sprintf(`{"title":"%d"}`, n)).Is(t, 201, "")
		}
		var place string
		for range 3 {
			newest := stream.next(t, "issue.created")
			place = stream.places()[newest.ID]
		}
		s.chained(t, acme)
		clock.advance(89 * 24 * time.Hour)
		s.Post(acme.path()+"/issues", `{"title":"young"}`).Is(t, 201, "")
		s.clear(t)
		if got := len(s.activity(t, acme.path()+"/activity")); got != 5 {
			t.Fatalf("there are %d entries", got)
		}
		clock.advance(2 * 24 * time.Hour)
		s.chained(t, acme)
		issues := s.Get(acme.path() + "/issues").Body
		s.clear(t)
		s.clear(t) // there is one pass a day

		var left []string
		for _, one := range s.activity(t, acme.path()+"/activity") {
			left = append(left, one.Action)
		}
		if want := []string{"issue.created", "company.created"}; !slices.Equal(left, want) {
			t.Errorf("left are %q", left)
		}
		pruned := s.activity(t, "/v1/activity?action=store.pruned&subject.id=activity")
		if len(pruned) != 1 || pruned[0].Payload["count"] != 3.0 || pruned[0].Payload["before"] != "2026-04-12T00:00:00.000Z" {
			t.Errorf("%+v", pruned)
		}
		if got := s.Get(acme.path() + "/issues").Body; string(untimed(t, got)) != string(untimed(t, issues)) {
			t.Errorf("issues were %s, and are %s", issues, got)
		}
		answer := s.In(t).Get(acme.path() + "/activity/stream?lastEventId=" + url.QueryEscape(place))
		answer.Is(t, 400, "invalid_cursor")
		oldest, _ := details(t, answer)["oldest"].(string)
		if e := s.streams(t, acme, string(rootToken), oldest).next(t, "company.created"); e.ID == "" {
			t.Error("the oldest place is none")
		}
		answer = s.In(t).Get(acme.path() + "/activity/export?after=" + pruned[0].ID)
		answer.Is(t, 400, "invalid_cursor")
		oldest, _ = details(t, answer)["oldest"].(string)
		if all, again := s.Get(acme.path()+"/activity/export"), s.Get(acme.path()+"/activity/export?after="+oldest); oldest == "" ||
			string(all.Body) != string(again.Body) || len(all.Body) == 0 {
			t.Errorf("the oldest place is %q, and what comes after it:\n%s\nof\n%s", oldest, again.Body, all.Body)
		}

		const twoOfFive = "2 entries, none changed, removed or inserted, beside 3 that were removed because they were old enough;"
		if said, isSound := verified(environ, acme.ID); !isSound || !strings.HasPrefix(said, twoOfFive) {
			t.Error(said)
		}
		head, key := keptHead(t, s.Client, acme.path())
		export := filepath.Join(t.TempDir(), "acme.jsonl")
		must(t, os.WriteFile(export, s.Get(acme.path()+"/activity/export").Body, 0o600))
		if said, isSound := verified(nil, export, "--head", head, "--key", key); !isSound || !strings.HasPrefix(said, twoOfFive) {
			t.Error(said)
		}
		if out, err := commandIn(environ, "key", "rotate").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if said, isSound := verified(environ, acme.ID); !isSound {
			t.Errorf("after a rotation of the key: %s", said)
		}
		runOn(t, beside(environ), "UPDATE audit_stubs SET removed = 4")
		if said, isSound := verified(environ, acme.ID); isSound || !strings.Contains(said, "the stub is not what the key has signed") {
			t.Error(said)
		}
		runOn(t, beside(environ), "UPDATE audit_stubs SET removed = 3")
		runOn(t, beside(environ), "DELETE FROM activity WHERE type = 'company.created'")
		if said, isSound := verified(environ, acme.ID); isSound || !strings.Contains(said, "removed, number 1") {
			t.Error(said)
		}
	})
}

// untimed is an answer without its meta.
func untimed(t *testing.T, answer []byte) json.RawMessage {
	t.Helper()
	var found struct{ Data json.RawMessage }
	must(t, json.Unmarshal(answer, &found))
	return found.Data
}

func TestWhatAWebhookHasStillToGetIsKept(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		clock := newClock()
		s := start(t, clock, append(slices.Clone(environ), keepActivity, allowPrivate)...)
		to := listen(t)
		blocked := make(chan struct{})
		release := sync.OnceFunc(func() { close(blocked) })
		t.Cleanup(release)
		to.does(func(w http.ResponseWriter, _ *http.Request) {
			<-blocked
			w.WriteHeader(http.StatusNoContent)
		})
		hook := s.subscribe(t, to, `,"events":["issue.*"]`)
		acme := s.create(t, `{"name":"Acme","slug":"acme"}`)
		const count = 5 // about one issue, so that one waits for another
		made := s.In(t).Post(acme.path()+"/issues", `{"title":"0"}`)
		issue := acme.path() + "/issues/" + resttest.Data[struct{ ID string }](t, made).ID
		for n := range count - 1 {
			s.Patch(issue, fmt.Sprintf(`{"title":"%d"}`, n+1)).Is(t, 200, "")
		}
		await(t, "the first message", func() bool { return len(to.receipts()) == 1 })
		await(t, "messages that are queued, as none is for a webhook that is disabled", func() bool {
			backlog, err := s.store.Outbox().Backlog(t.Context())
			must(t, err)
			return backlog.Unqueued == 0
		})
		s.Patch(hook.path(), `{"enabled":false}`).Is(t, 200, "")
		s.chained(t, acme)
		clock.advance(200 * 24 * time.Hour)
		s.clear(t)
		if got := len(s.activity(t, acme.path()+"/activity?category=task")); got < count-1 {
			t.Fatalf("%d entries are left", got)
		}
		release() // not before: who sends may learn only later that the webhook is disabled
		s.Patch(hook.path(), `{"enabled":true}`).Is(t, 200, "")
		await(t, "all messages", func() bool {
			had := map[string]bool{}
			for _, one := range to.receipts() {
				had[one.id] = true
			}
			return len(had) >= count
		})
	})
}

func TestAPruneThatIsKilledLosesNothingElse(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		clock := newClock()
		clock.ms.Store(time.Now().Add(-200 * 24 * time.Hour).UnixMilli())
		s := start(t, clock, environ...)
		acme := s.create(t, `{"name":"Acme","slug":"acme"}`)
		const units, each = 40, 50
		for range units {
			clock.advance(time.Minute)
			must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				for n := range each {
					what := []event.Type{event.IssueCommented, event.IssueCommented, event.TeamUpdated}[n%3]
					happened := event.Of(what, id.Company(acme.ID), "x", event.Fields{event.F("text", strings.Repeat("a", 200))})
					if err := tx.Record(ctx, happened.By("system:test")); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		s.chained(t, acme)
		audited := len(s.activity(t, acme.path()+"/audit"))
		must(t, s.stop())

		gone := 0
		for round, killed := 0, 0; ; round++ {
			command := commandIn(environ, "prune", "--only", "activity", "--older-than", "90d", "--json")
			must(t, command.Start())
			if killed < 8 {
				time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
				_ = command.Process.Kill()
			}
			err := command.Wait()
			said, isSound := verified(environ, acme.ID)
			var there, removed int
			_, _ = fmt.Sscanf(said, "%d entries, none changed, removed or inserted, beside %d", &there, &removed) // none is removed yet
			if !isSound || there+removed != 1+units*each {
				t.Fatalf("round %d: %s", round, said)
			}
			if err == nil {
				break
			}
			killed++
		}
		out, err := commandIn(environ, "prune", "--only", "activity", "--older-than", "90d", "--json").Output()
		must(t, err)
		var report struct{ Kinds []struct{ Rows int } }
		must(t, json.Unmarshal(out, &report))
		if len(report.Kinds) != 1 || report.Kinds[0].Rows != 0 {
			t.Errorf("left over is %s", out)
		}
		next := start(t, newClockAt(time.Now()), environ...)
		for _, one := range next.activity(t, "/v1/activity?action=store.pruned&subject.id=activity") {
			count, _ := one.Payload["count"].(float64)
			gone += int(count)
		}
		if left := len(next.activity(t, acme.path()+"/activity")); left != audited || gone != 1+units*each-audited {
			t.Errorf("%d entries are left of %d that an audit shows, and %d are said to be gone", left, audited, gone)
		}
	})
}

func newClockAt(at time.Time) *clock {
	c := newClock()
	c.ms.Store(at.UnixMilli())
	return c
}

func TestADiskThatIsNearlyFullTakesNoWritesAndAnswersReads(t *testing.T) {
	t.Parallel()
	var free atomic.Int64
	free.Store(retention.LeastRoom)
	clock := newClock()
	clock.room = func() (outbound.Room, error) { return outbound.Room{Free: free.Load(), Size: 1 << 40}, nil }
	s := start(t, clock, dataDir+t.TempDir())
	acme := s.create(t, `{"name":"Acme","slug":"acme"}`)
	for _, low := range []bool{true, false} {
		free.Store(retention.LeastRoom)
		if low {
			free.Add(-1)
		}
		before := len(s.activity(t, acme.path()+"/activity"))
		written := s.In(t).Post(acme.path()+"/issues", `{"title":"A"}`)
		for _, listener := range []string{s.url, s.exportURL, s.gatewayURL} {
			answer, err := http.Get(listener + "/readyz")
			must(t, err)
			var probe struct{ Status string }
			must(t, json.NewDecoder(answer.Body).Decode(&probe))
			must(t, answer.Body.Close())
			if want := map[bool]string{true: "503 disk_low 30", false: "200 ok "}[low]; want !=
				fmt.Sprint(answer.StatusCode, " ", probe.Status, " ", answer.Header.Get("Retry-After")) {
				t.Errorf("%s/readyz: %d %s", listener, answer.StatusCode, probe.Status)
			}
		}
		after := len(s.activity(t, acme.path()+"/activity"))
		if !low {
			written.Is(t, 201, "")
			continue
		}
		written.Is(t, 503, "unavailable")
		if written.Header.Get("Retry-After") != "30" || !strings.Contains(string(written.Body), "less than 200 MB") || after != before {
			t.Errorf("%s, with %d entries after %d", written.Body, after, before)
		}
	}
}
