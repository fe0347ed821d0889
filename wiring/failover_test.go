package wiring_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
)

// A primary that is gone at any instant costs 503 until another server is one, and nothing that was acknowledged: the servers of Holdco
// find it by themselves.
func TestServersFollowAPostgresThatFailsOver(t *testing.T) {
	t.Parallel()
	times := 5
	if testing.Short() {
		times = 1
	}
	pair := postgrestest.NewPair(t)
	environ := []string{dataDir + t.TempDir(), databaseURL + pair.Database(t)}
	one, two := startProcess(t, environ...), startProcess(t, environ...)
	ask := resttest.New(t, one.url, string(rootToken))
	created := ask.Post("/v1/companies", `{"name":"Acme","slug":"acme"}`)
	created.Is(t, http.StatusCreated, "")
	path := "/v1/companies/" + resttest.Data[struct{ ID string }](t, created).ID + "/issues"

	var clients sync.WaitGroup
	var stop atomic.Bool
	all := make([]*failoverClient, 6)
	for n := range all {
		all[n] = &failoverClient{name: fmt.Sprint("client-", n), url: []string{one.url, two.url}[n%2] + path}
		clients.Go(func() { all[n].files(&stop) })
	}
	t.Cleanup(func() { stop.Store(true); clients.Wait() })
	goOn := func(more int64) {
		t.Helper()
		for _, c := range all {
			want := c.done.Load() + more
			await(t, c.name+" to go on", func() bool { return c.done.Load() >= want || c.fault.Load() != nil })
			if fault := c.fault.Load(); fault != nil {
				t.Fatal(*fault)
			}
		}
	}
	for n := range times {
		if n > 0 {
			pair.Follow(t)
		}
		goOn(5)
		time.Sleep(rand.N(time.Second))
		pair.Kill(t)
		refused := all[0].refused.Load()
		await(t, "a refusal", func() bool { return all[0].refused.Load() > refused })
		resttest.New(t, two.url, "").Get("/readyz").Is(t, http.StatusServiceUnavailable, "unavailable")
		time.Sleep(rand.N(time.Second))
		pair.Promote(t)
		goOn(5)
	}
	stop.Store(true)
	clients.Wait()

	kept := map[string]int{}
	for next := path + "?limit=100"; next != ""; {
		answer := ask.Get(next)
		answer.Is(t, http.StatusOK, "")
		for _, issue := range resttest.Data[[]struct{ Title string }](t, answer) {
			kept[issue.Title]++
		}
		var about struct {
			Meta struct{ Page struct{ Cursor string } }
		}
		must(t, json.Unmarshal(answer.Body, &about))
		next = ""
		if cursor := about.Meta.Page.Cursor; cursor != "" {
			next = path + "?limit=100&cursor=" + cursor
		}
	}
	acknowledged, longest := 0, time.Duration(0)
	for _, c := range all {
		if fault := c.fault.Load(); fault != nil {
			t.Error(*fault)
		}
		for n := range c.done.Load() {
			if title := c.title(n); kept[title] != 1 {
				t.Errorf("%q was acknowledged, and is there %d times", title, kept[title])
			}
			acknowledged++
		}
		longest = max(longest, c.longest)
	}
	if wrong := examine(t, environ...); wrong != nil {
		t.Error(wrong)
	}
	t.Logf("%d times: %d writes acknowledged, the longest took %s", times, acknowledged, longest)
}

// failoverClient files issues one after the other, each until it is acknowledged.
type failoverClient struct {
	name, url     string
	done, refused atomic.Int64
	longest       time.Duration          // that one took
	fault         atomic.Pointer[string] // an answer that must not be
}

func (c *failoverClient) title(n int64) string { return fmt.Sprint(c.name, "-", n) }

func (c *failoverClient) files(stop *atomic.Bool) {
	began := time.Now()
	for !stop.Load() && c.fault.Load() == nil {
		title := c.title(c.done.Load())
		request, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(fmt.Sprintf(`{"title":%q}`, title)))
		if err != nil {
			c.fault.Store(new(err.Error()))
			return
		}
		request.Header.Set("Authorization", "Bearer "+string(rootToken))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", title)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			c.fault.Store(new(err.Error()))
			return
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		switch {
		case answer.StatusCode == http.StatusCreated:
			c.longest = max(c.longest, time.Since(began))
			c.done.Add(1)
			began = time.Now()
		case answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "":
			c.refused.Add(1)
			time.Sleep(50 * time.Millisecond)
		default:
			c.fault.Store(new(fmt.Sprintf("%s: %s: %s", title, answer.Status, text)))
		}
	}
}
