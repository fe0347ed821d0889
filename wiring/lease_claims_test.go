package wiring_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
)

func TestIssuesAreClaimedByPriorityAndThenByNumber(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 2)
		empty := s.found(t, acme, `{"name":"Empty","headcount":0}`)
		ada, bob := all[0], all[1]
		toAda, toSales := `,"assignedAgentId":"`+ada.ID+`"`, `,"assignedTeamId":"`+sales.ID+`"`
		for _, members := range []string{
			`,"priority":"low"` + toAda, toSales, "", toAda, `,"priority":"high"`, `,"priority":"urgent"` + toSales,
			`,"priority":"high"` + toAda, `,"priority":"urgent","assignedTeamId":"` + empty.ID + `"`,
			`,"priority":"urgent","assignedAgentId":"` + bob.ID + `"`,
		} {
			s.file(t, acme, members)
		}
		var order []int
		for range 7 {
			order = append(order, ada.claim(t, "").Issue.Number)
		}
		if diff := cmp.Diff([]int{6, 5, 7, 2, 3, 4, 1}, order); diff != "" {
			t.Error(diff)
		}
		ada.idles(t)
		if number := bob.claim(t, "").Issue.Number; number != 9 {
			t.Errorf("it was given %d", number)
		}
		bob.idles(t)
	})
}

func TestWhatMustWaitIsNotGiven(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		first := s.file(t, acme, `,"requiresReview":false`)
		blocked := s.file(t, acme, `,"priority":"urgent","blockedBy":["`+first.ID+`"]`)
		later := s.file(t, acme, `,"priority":"urgent","notBefore":"`+s.ahead(t, time.Minute)+`"`)
		parent := s.file(t, acme, "")
		s.file(t, acme, `,"priority":"urgent","parentId":"`+parent.ID+`"`)
		s.moved(t, parent, "cancel", "")

		lease := ada.claim(t, "")
		if lease.Issue.ID != first.ID {
			t.Errorf("%+v", lease)
		}
		ada.idles(t)
		ada.ends(t, lease, "complete", "")
		if lease := ada.claim(t, ""); lease.Issue.ID != blocked.ID {
			t.Errorf("%+v", lease)
		}
		ada.idles(t)
		s.clock.advance(time.Minute)
		if lease := ada.claim(t, `{"wait":30,"leaseSeconds":3600}`); lease.Issue.ID != later.ID {
			t.Errorf("%+v", lease)
		}
		ada.idles(t)
	})
}

func TestAnAgentHoldsAtMostAHundredLeases(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		ada, bob := all[0], all[1]
		for range 101 {
			s.file(t, acme, "")
		}
		var last apiLease
		for range 100 {
			last = ada.claim(t, "")
		}
		ada.idles(t)
		if live := resttest.Data[struct{ Leases int }](t, ada.Get(me)).Leases; live != 100 {
			t.Errorf("%d live leases", live)
		}
		if live := resttest.Data[[]apiLease](t, ada.Get(leases)); len(live) != 100 || live[0].Issue.Number != 1 {
			t.Errorf("%d live leases", len(live))
		}
		ada.ends(t, last, "complete", "")
		ada.claim(t, "")
		ada.idles(t)
		bob.idles(t)
	})
}

func TestNoIssueIsGivenTwice(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const count = 40
		acme, _, all := s.workers(t, 4)
		for range count {
			s.file(t, acme, `,"requiresReview":false`)
		}
		var mutex sync.Mutex
		given := map[int]int{}
		var working sync.WaitGroup
		for _, one := range all {
			working.Go(func() {
				for {
					answer := one.Post(leases, "")
					if answer.Status == 204 {
						return
					}
					if answer.Status == 503 { // the store was busy
						continue
					}
					lease := resttest.Data[apiLease](t, answer)
					mutex.Lock()
					given[lease.Issue.Number]++
					mutex.Unlock()
					if answer := one.call(t, lease, "complete", ""); answer.Status != 200 && answer.Status != 503 {
						t.Errorf("%s", answer.Body)
					}
				}
			})
		}
		working.Wait()
		for number := 1; number <= count; number++ {
			if given[number] != 1 {
				t.Errorf("issue %d was given %d times", number, given[number])
			}
		}
	})
}

// waiting sends a claim that waits, and returns what comes of it.
func (w worker) waiting(t *testing.T) <-chan resttest.Answer {
	t.Helper()
	before := w.s.waiting()
	came := make(chan resttest.Answer, 1)
	go func() { came <- w.Post(leases, `{"wait":30}`) }()
	await(t, "the wait", func() bool { return w.s.waiting() > before })
	return came
}

// leaves waits for an issue, as the only one, and leaves before there is any.
func (w worker) leaves(t *testing.T) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.s.gatewayURL+leases, strings.NewReader(`{"wait":30}`))
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+w.Token)
	request.Header.Set("Content-Type", "application/json")
	gone := make(chan error, 1)
	go func() {
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		gone <- err
	}()
	await(t, "the wait", func() bool { return w.s.waiting() == 1 })
	leave()
	if err := <-gone; err == nil {
		t.Error("the client got an answer")
	}
}

func TestAWaitingClaimGetsTheNextIssue(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 2)
		ada, bob := all[0], all[1]
		first, second := ada.waiting(t), bob.waiting(t)
		s.file(t, acme, `,"assignedAgentId":"`+bob.ID+`"`)
		answer := <-second
		answer.Is(t, 200, "")
		lease := resttest.Data[apiLease](t, answer)
		s.file(t, acme, `,"assignedTeamId":"`+sales.ID+`"`)
		(<-first).Is(t, 200, "")

		// An issue that comes back wakes too.
		third := ada.waiting(t)
		bob.ends(t, lease, "fail", ending["fail"])
		s.moved(t, lease.Issue, "unassign", "")
		(<-third).Is(t, 200, "")
		if left := s.waiting(); left != 0 {
			t.Errorf("%d claims wait", left)
		}
	})
}

func TestAWaitCountsOnceInTheRateLimit(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_GATEWAY=5")
	_, _, all := s.workers(t, 1)
	ada := all[0]
	answer := ada.Post(leases, `{"wait":1}`)
	answer.Is(t, 204, "")
	stands(t, answer, 5, 4, 60)
	stands(t, ada.Get(me), 5, 3, 60)
}

func TestAWaitingClaimWhoseClientIsGoneTakesNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		ada.leaves(t)
		await(t, "the end of the wait", func() bool { return s.waiting() == 0 })
		filed := s.file(t, acme, "")
		if lease := ada.claim(t, ""); lease.Issue.ID != filed.ID || lease.FencingToken != 1 {
			t.Errorf("%+v", lease)
		}
	})
}

func TestAServerThatStopsEndsAllWaits(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		_, _, all := s.workers(t, 1)
		came := all[0].waiting(t)
		must(t, s.stop())
		(<-came).Is(t, 204, "")
	})
}

func TestAWaitingClaimGetsWhatIsFiledAtAnotherServerOnPostgres(t *testing.T) {
	t.Parallel()
	clock := newClock()
	environ := []string{dataDir + t.TempDir(), databaseURL + postgrestest.URL(t), "HOLDCO_KEY_FILE=" + filepath.Join(t.TempDir(), "key")}
	here, elsewhere := start(t, clock, environ...), start(t, clock, environ...)
	acme, _, all := here.workers(t, 1)
	there := worker{elsewhere.agent(t, all[0].Token), all[0].apiAgent, elsewhere}
	came := there.waiting(t)
	filed := here.file(t, acme, "")
	answer := <-came
	answer.Is(t, 200, "")
	lease := resttest.Data[apiLease](t, answer)
	if lease.Issue.ID != filed.ID {
		t.Errorf("%+v", lease)
	}
	// The lease is as good at one server as at the other.
	all[0].state(t, lease, "renew", "")
	there.ends(t, lease, "complete", "")
	stale(t, all[0].call(t, lease, "renew", ""), "completed", "review")
}

func TestFaultyFieldsOfCallsOnLeasesAreAllToldAndNothingIsKept(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		filed := s.file(t, acme, "")
		for body, want := range map[string][]string{
			`{"wait":31,"leaseSeconds":29}`:            {"leaseSeconds out_of_range", "wait out_of_range"},
			`{"wait":-1,"leaseSeconds":3601,"x":1}`:    {"leaseSeconds out_of_range", "wait out_of_range", "x unknown_field"},
			`{"wait":"1","leaseSeconds":30.5}`:         {"leaseSeconds wrong_type", "wait wrong_type"},
			`{"wait":null,"leaseSeconds":10000000000}`: {"leaseSeconds out_of_range", "wait not_null"},
		} {
			answer := send(ada.Client, "POST", leases, body)
			answer.Is(t, 422, "validation_failed")
			if diff := cmp.Diff(want, wrong(answer)); diff != "" {
				t.Errorf("%s: %s", body, diff)
			}
		}
		for _, key := range []string{"", "ä", strings.Repeat("k", 256)} {
			once(ada.Client, key, leases, "").Is(t, 400, "invalid_parameter")
		}
		lease := ada.claim(t, "")
		before, events := ada.finds(t, lease), len(s.events(t, acme.ID))
		long := func(count int) string { return `"` + strings.Repeat("ä", count) + `"` }
		large := func(bytes int) string { return `"` + strings.Repeat("x", bytes-2) + `"` }
		charge := func(members string) string { return `"costs":[{` + members + `}]` }
		many := `"costs":[` + strings.Repeat(`{"key":"k","kind":"tools","usd":1},`, 100) + `{"key":"k","kind":"tools","usd":1}]`
		for _, c := range []struct {
			action, members string
			want            []string
		}{
			{"renew", `"note":"x"`, []string{"note unknown_field"}},
			{"checkpoint", "", []string{"note required"}},
			{"checkpoint", `"note":" \n","data":` + large(64<<10+1), []string{"data too_long", "note required"}},
			{"checkpoint", `"note":` + long(2001), []string{"note too_long"}},
			{"checkpoint", `"note":"\u0000"`, []string{"note invalid_characters"}},
			{"comment", "", []string{"body required"}},
			{"comment", `"body":` + long(20001), []string{"body too_long"}},
			{"costs", "", []string{"costs required"}},
			{"costs", `"costs":[]`, []string{"costs required"}},
			{"costs", `"costs":{}`, []string{"costs wrong_type"}},
			{"costs", many, []string{"costs too_many"}},
			{"costs", charge(""), []string{"costs.0.key required", "costs.0.kind required", "costs.0.usd required"}},
			{"costs", charge(`"key":"a b","kind":"gold","usd":-1`),
				[]string{"costs.0.key invalid_format", "costs.0.kind unknown_value", "costs.0.usd out_of_range"}},
			{"costs", charge(`"key":` + large(203) + `,"kind":"llm","usd":1000000.000001`),
				[]string{"costs.0.key invalid_format", "costs.0.usd out_of_range"}},
			{"costs", charge(`"key":"k","kind":"llm","usd":-0.0000001`), []string{"costs.0.usd out_of_range"}},
			{"costs", charge(`"key":"k","kind":"llm","tokens":{"input":1}`), []string{"costs.0.usd required"}},
			{"costs", charge(`"key":"k","kind":"llm","model":"","tokens":{"input":-1,"output":1000000001},"calls":0`),
				[]string{"costs.0.calls out_of_range", "costs.0.model required", "costs.0.tokens.input out_of_range",
					"costs.0.tokens.output out_of_range"}},
			{"costs", charge(`"key":"k","kind":"tools","usd":1,"billing":` + long(51)), []string{"costs.0.billing too_long"}},
			{"complete", `"result":` + large(256<<10+1), []string{"result too_long"}},
			{"complete", `"summary":" ","costs":[{"kind":"tools","usd":1}],"retry":true`,
				[]string{"costs.0.key required", "retry unknown_field", "summary required"}},
			{"complete", `"summary":` + long(20001), []string{"summary too_long"}},
			{"fail", "", []string{"error.code required", "error.message required"}},
			{"fail", `"error":{"code":` + long(101) + `,"message":` + long(20001) + `},"retryAfter":86401`,
				[]string{"error.code too_long", "error.message too_long", "retryAfter out_of_range"}},
			{"fail", `"error":{"code":"c","message":" "},"retryAfter":-1,"retry":"yes"`,
				[]string{"error.message required", "retry wrong_type", "retryAfter out_of_range"}},
			{"handoff", "", []string{"note required"}},
			{"handoff", `"note":` + long(20001), []string{"note too_long"}},
			{"release", `"note":""`, []string{"note required"}},
		} {
			answer := send(ada.Client, "POST", lease.path()+"/"+c.action, lease.body(c.members))
			answer.Is(t, 422, "validation_failed")
			if diff := cmp.Diff(c.want, wrong(answer)); diff != "" {
				t.Errorf("%s %.100s: %s", c.action, c.members, diff)
			}
		}
		for body, want := range map[string][]string{
			`{}`: {"fencingToken required", "leaseId required", "title required"},
			lease.body(`"leaseId":"` + lease.LeaseID + `"`):                              {"title required"},
			lease.body(`"leaseId":"` + lease.LeaseID + `","title":"T","maxAttempts":3`):  {"maxAttempts unknown_field"},
			lease.body(`"leaseId":"` + lease.LeaseID + `","title":"T","priority":"top"`): {"priority unknown_value"},
			lease.body(`"leaseId":"` + lease.LeaseID + `","title":"T","parentId":"iss_1","assignedAgentId":"a","blockedBy":["b"]`): {
				"assignedAgentId unknown_value", "blockedBy.0 unknown_value", "parentId unknown_value"},
		} {
			answer := send(ada.Client, "POST", "/gateway/v1/issues", body)
			answer.Is(t, 422, "validation_failed")
			if diff := cmp.Diff(want, wrong(answer)); diff != "" {
				t.Errorf("%s: %s", body, diff)
			}
		}
		if diff := cmp.Diff(before, ada.finds(t, lease)); diff != "" || len(s.events(t, acme.ID)) != events {
			t.Errorf("what was refused left: %s", diff)
		}
		s.shows(t, filed, "running, 1, agent")

		// The longest that there can be.
		key := strings.Repeat("k", 200)
		ada.state(t, lease, "checkpoint", `"note":`+long(2000)+`,"data":`+large(64<<10))
		ada.state(t, lease, "costs", charge(`"key":"`+key+`","kind":"runtimeServices","usd":1000000,"calls":1000000000`))
		ada.call(t, lease, "comment", `"body":`+long(20000)).Is(t, 200, "")
		ended, _ := ada.ends(t, lease, "complete", `"result":`+large(256<<10)+`,"summary":`+long(20000))
		if len(ended.Result) != 256<<10 {
			t.Errorf("the result has %d bytes", len(ended.Result))
		}
	})
}

func TestARunFilesIssuesBelowItsOwn(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 2)
		ada, bob := all[0], all[1]
		s.file(t, acme, "")
		other := s.file(t, acme, "")
		lease := ada.claim(t, "")
		file := func(members string) resttest.Answer {
			t.Helper()
			return ada.In(t).Post("/gateway/v1/issues", lease.body(`"leaseId":"`+lease.LeaseID+`","title":"Proofread"`+members))
		}
		first := file("")
		first.Is(t, 201, "")
		made := resttest.Data[apiIssue](t, first)
		if or(made.ParentID) != lease.Issue.ID || made.CreatedBy != "agent:"+ada.ID || made.where() != "queued, 1, nobody" ||
			first.Header.Get("Location") != "/gateway/v1/issues/"+made.ID {
			t.Errorf("%s %v", first.Body, first.Header)
		}
		ada.Get(first.Header.Get("Location")).Is(t, 200, "")
		full := resttest.Data[apiIssue](t, file(`,"description":"d","priority":"urgent","parentId":null,"assignedAgentId":"`+bob.ID+
			`","blockedBy":["`+other.ID+`"],"labels":["l"],"budget":{"perTaskUsd":2.5}`))
		if full.ParentID != nil || or(full.AssignedAgentID) != bob.ID || full.OpenBlockers != 1 || full.Priority != "urgent" ||
			*full.Budget.PerTaskUsd != "2.5" || !slices.Equal(full.Labels, []string{"l"}) || full.Description != "d" {
			t.Errorf("%+v", full)
		}
		team := resttest.Data[apiIssue](t, file(`,"parentId":"`+other.ID+`","assignedTeamId":"`+sales.ID+`"`))
		if or(team.ParentID) != other.ID || or(team.AssignedTeamID) != sales.ID {
			t.Errorf("%+v", team)
		}
		for range 47 {
			file("").Is(t, 201, "")
		}
		refused := file("")
		refused.Is(t, 422, "too_many")
		if details(t, refused)["limit"] != 50.0 {
			t.Errorf("%s", refused.Body)
		}
		children := resttest.Data[apiContext](t, ada.Get(lease.path()+"/context")).Children
		if len(children) != 48 || children[0].ID != made.ID || children[0].Status != "queued" {
			t.Errorf("%d children, %+v", len(children), children[0])
		}
		comments := ada.In(t).Get("/gateway/v1/issues/" + other.ID + "/comments?limit=1")
		comments.Is(t, 200, "")
	})
}

func TestCommentsAreReadInPagesByAgents(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.file(t, acme, "")
		lease := ada.claim(t, "")
		for n := range 3 {
			s.clock.advance(time.Second)
			ada.call(t, lease, "comment", fmt.Sprintf(`"body":"%d"`, n)).Is(t, 200, "")
		}
		path := "/gateway/v1/issues/" + lease.Issue.ID + "/comments?limit=2"
		first := ada.Get(path)
		if page := resttest.Data[[]apiComment](t, first); len(page) != 2 || page[0].Body != "2" || page[1].Body != "1" {
			t.Errorf("%+v", page)
		}
		last := ada.Get(path + "&" + next(first))
		if page := resttest.Data[[]apiComment](t, last); len(page) != 1 || page[0].Body != "0" || next(last) != "" {
			t.Errorf("%+v", page)
		}
		send(ada.Client, "GET", path+"&cursor=x", "").Is(t, 400, "invalid_cursor")
	})
}
