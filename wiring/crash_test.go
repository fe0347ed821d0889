package wiring_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/access"
)

// rootToken is the first admin token of every server that the tests start as a process.
var rootToken = access.NewAPIToken([32]byte{31: 1})

// Faults lose nothing: whatever was acknowledged before the process was killed is there afterwards, and what was under
// way is there whole or not at all.
func TestKillingTheServerLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		killAndLook(t)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		killAndLook(t, "HOLDCO_DATABASE_URL="+postgrestest.URL(t))
	})
}

func killAndLook(t *testing.T, environ ...string) {
	dataDir := t.TempDir()
	environ = append(environ, "HOLDCO_DATA_DIR="+dataDir)
	all := map[string]*story{}
	for round := range 4 {
		server := startProcess(t, environ...)
		perClient := make([]map[string]*story, 6)
		var clients sync.WaitGroup
		var acknowledged atomic.Int64
		for n := range perClient {
			perClient[n] = map[string]*story{}
			clients.Go(func() { runStories(server.url, fmt.Sprintf("r%d-c%d", round, n), perClient[n], &acknowledged) })
		}
		enough := 20 + rand.Int64N(100)
		await(t, "so many writes", func() bool { return acknowledged.Load() >= enough })
		server.kill()
		clients.Wait()
		for _, stories := range perClient {
			maps.Copy(all, stories)
		}

		server = startProcess(t, environ...)
		alive := map[string]bool{}
		for slug, s := range all {
			if s.check(t, server.url, slug) {
				alive[s.id] = true
			}
		}
		checkWorkspaces(t, dataDir, alive)
		server.kill()
	}
}

// story is what a client knows of one company: the state that was acknowledged last, and the one that was asked for
// since, if an answer is missing.
type story struct {
	id    string
	is    state
	maybe *state
}

// state is what can be seen of a company. The zero state is that there is none.
type state struct{ Name, Status string }

const gone = "" // the status of a company that is not there

// runStories creates companies and takes each through its life, until the server is gone. It counts what is acknowledged.
func runStories(url, prefix string, stories map[string]*story, acknowledged *atomic.Int64) {
	for n := 0; ; n++ {
		slug := fmt.Sprintf("%s-%d", prefix, n)
		s := &story{}
		stories[slug] = s
		body := fmt.Sprintf(`{"name":"first","slug":%q,"startingTeams":[{"name":"a","headcount":2},{"name":"b","headcount":1}]}`, slug)
		ask := func(method, url, body string, next state) (id string, ok bool) {
			if id, ok = s.ask(method, url, body, next); ok {
				acknowledged.Add(1)
			}
			return id, ok
		}
		created, ok := ask(http.MethodPost, url+"/v1/companies", body, state{"first", "active"})
		if !ok {
			return
		}
		s.id = created
		path := url + "/v1/companies/" + s.id
		if _, ok := ask(http.MethodPatch, path, `{"name":"second"}`, state{"second", "active"}); !ok {
			return
		}
		if n%3 == 0 {
			continue
		}
		if _, ok := ask(http.MethodPost, path+"/archive", "", state{"second", "archived"}); !ok {
			return
		}
		if n%3 == 1 {
			continue
		}
		if _, ok := ask(http.MethodDelete, path, "", state{}); !ok {
			return
		}
	}
}

// ask makes one write and notes what came of it. It returns the id in the answer.
func (s *story) ask(method, url, body string, next state) (id string, ok bool) {
	s.maybe = &next
	status, answer, err := exchange(method, url, body)
	if err != nil || status >= 300 {
		return "", false
	}
	s.is, s.maybe = next, nil
	return answer.Data.ID, true
}

// check compares a company with its story, and reports whether it is there.
func (s *story) check(t *testing.T, url, slug string) (alive bool) {
	t.Helper()
	if s.id == "" { // the answer to its creation is missing
		status, found, err := exchangeList(url + "/v1/companies?slug=" + slug)
		if err != nil || status != http.StatusOK {
			t.Fatalf("look for %s: %d %v", slug, status, err)
		}
		if len(found) == 0 {
			s.is, s.maybe = state{}, nil
			return false
		}
		s.id = found[0].ID
	}

	var now state
	var teams int
	await(t, "the deletion of "+slug, func() bool {
		now, teams = s.look(t, url)
		return now.Status != "deleting"
	})
	if now != s.is && (s.maybe == nil || now != *s.maybe) {
		t.Errorf("%s is %+v; acknowledged was %+v, under way was %+v", slug, now, s.is, s.maybe)
	}
	if now.Status != gone && teams != 2 {
		t.Errorf("%s has %d teams of 2: it was made by halves", slug, teams)
	}
	s.is, s.maybe = now, nil
	return now.Status != gone
}

func (s *story) look(t *testing.T, url string) (now state, teams int) {
	t.Helper()
	status, answer, err := exchange(http.MethodGet, url+"/v1/companies/"+s.id+"?include=teams", "")
	switch {
	case err != nil:
		t.Fatal(err)
	case status == http.StatusNotFound:
		return state{}, 0
	case status != http.StatusOK:
		t.Fatalf("get %s: %d", s.id, status)
	}
	return state{answer.Data.Name, answer.Data.Status}, len(answer.Data.Teams)
}

// checkWorkspaces waits until the directories are those of the companies.
func checkWorkspaces(t *testing.T, dataDir string, alive map[string]bool) {
	t.Helper()
	want := slices.Sorted(maps.Keys(alive))
	await(t, fmt.Sprintf("workspaces of %d companies and no others", len(want)), func() bool {
		entries, err := os.ReadDir(filepath.Join(dataDir, "workspaces"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		have := make([]string, len(entries))
		for n, entry := range entries {
			have[n] = entry.Name()
		}
		return slices.Equal(have, want)
	})
}

// found is a company as the API shows it, as far as the tests of crashes look.
type found struct {
	ID, Name, Status string
	Teams            []struct{ ID string }
}

type answer struct{ Data found }

func exchange(method, url, body string) (int, answer, error) {
	var a answer
	status, err := exchangeInto(method, url, body, &a)
	return status, a, err
}

func exchangeList(url string) (int, []found, error) {
	var list struct{ Data []found }
	status, err := exchangeInto(http.MethodGet, url, "", &list)
	return status, list.Data, err
}

func exchangeInto(method, url, body string, into any) (int, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+string(rootToken))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if len(text) == 0 {
		return response.StatusCode, nil
	}
	return response.StatusCode, json.Unmarshal(text, into)
}
