package wiring_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/page"
)

// apiEnvelope is a budget as the API shows it.
type apiEnvelope struct {
	Scope, ScopeID, Level, PeriodStart        string
	SpentUsd, HeldUsd, RemainingUsd, LimitUsd json.Number
}

func (e apiEnvelope) String() string {
	return fmt.Sprintf("%s: %s spent, %s held, %s left, %s", e.Scope, e.SpentUsd, e.HeldUsd, e.RemainingUsd, e.Level)
}

// budgets checks what is spent and held.
func (s *instance) budgets(t *testing.T, of company, query string, want ...string) {
	t.Helper()
	answer := s.In(t).Get(of.path() + "/budgets" + query)
	answer.Is(t, 200, "")
	found := resttest.Data[[]apiEnvelope](t, answer)
	var shown []string
	for _, e := range found {
		shown = append(shown, e.String())
	}
	if !slices.Equal(shown, want) {
		t.Errorf("the budgets are\n%s\nwant\n%s", strings.Join(shown, "\n"), strings.Join(want, "\n"))
	}
}

// breaches are the levels that were reported, in their order.
func (s *instance) breaches(t *testing.T, of company) (found []string) {
	t.Helper()
	for _, e := range s.events(t, of.ID) {
		if strings.HasSuffix(string(e.Type), ".budget.breach") {
			var data struct{ Level, Scope string }
			must(t, json.Unmarshal(e.Data.Append(nil), &data))
			found = append(found, data.Scope+" "+data.Level)
		}
	}
	return found
}

// budgetOf is what a call on a lease says of its budget.
type budgetOf struct {
	Lease struct {
		ExpiresAt  string
		MustFinish bool
		FinishBy   *string
	}
	Budget struct {
		RemainingUsd json.Number
		Level        string
	}
}

// charges reports a cost.
func (w worker) charges(t *testing.T, lease apiLease, key, usd string) budgetOf {
	t.Helper()
	answer := w.In(t).Post(lease.path()+"/costs", lease.body(`"costs":[{"key":"`+key+`","kind":"tools","usd":`+usd+`}]`))
	answer.Is(t, 200, "")
	return resttest.Data[budgetOf](t, answer)
}

// Two agents, a dollar: what each lease reserves nobody else can have, and a spent budget stops them.
func TestADollarIsSpentOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"budget":{"usd":1.25,"reservePercent":20,"period":"daily"}`))
		sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		var hands []worker
		for range 2 {
			hired := s.hire(t, sales, "")
			hands = append(hands, worker{s.agent(t, hired.Token), hired, s})
		}
		ada, bob := hands[0], hands[1]
		first, second := s.file(t, acme, `,"budget":{"perTaskUsd":0.7}`), s.file(t, acme, `,"budget":{"perTaskUsd":0.5}`)
		lease := ada.claim(t, "")
		s.budgets(t, acme, "", "company: 0 spent, 0.7 held, 0.3 left, none")
		bob.idles(t) // half a dollar is not left
		third := s.file(t, acme, "")
		small := bob.claim(t, "")
		if lease.Issue.ID != first.ID || small.Issue.ID != third.ID {
			t.Errorf("%d and %d were leased", lease.Issue.Number, small.Issue.Number)
		}
		s.budgets(t, acme, "", "company: 0 spent, 0.8 held, 0.2 left, none")
		got := ada.charges(t, lease, "1", "0.4")
		if got.Budget.RemainingUsd != "0.3" || got.Budget.Level != "none" || got.Lease.MustFinish {
			t.Errorf("%+v", got)
		}
		s.budgets(t, acme, "", "company: 0.4 spent, 0.4 held, 0.2 left, none")
		s.budgets(t, acme, "?scope=issue", "issue: 0.4 spent, 0.3 held, 0 left, none", "issue: 0 spent, 0 held, 0.5 left, none")
		bob.charges(t, small, "1", "0.45") // beyond what it has reserved
		s.budgets(t, acme, "", "company: 0.85 spent, 0.3 held, 0 left, soft")
		bob.ends(t, small, "complete", ``)
		ada.ends(t, lease, "complete", `"costs":[{"key":"2","kind":"tools","usd":0.05}]`)
		s.budgets(t, acme, "", "company: 0.9 spent, 0 held, 0.1 left, soft")
		bob.idles(t) // the second issue costs half a dollar
		if got, want := s.breaches(t, acme), []string{"company soft"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		s.clock.advance(24 * time.Hour) // a day with a budget of its own
		if lease := bob.claim(t, ""); lease.Issue.ID != second.ID {
			t.Errorf("%d was leased", lease.Issue.Number)
		}
		s.budgets(t, acme, "", "company: 0 spent, 0.5 held, 0.5 left, none")
	})
}

// A charge shows at once in its issue and its agent, under other tags, and comes between nobody's reading and writing.
func TestAChargeShowsAndRaisesNoVersion(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		hired := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`), "")
		ada := worker{s.agent(t, hired.Token), hired, s}
		done := s.file(t, acme, "")
		ada.ends(t, ada.claim(t, ""), "complete", `"costs":[{"key":"1","kind":"tools","usd":0.5}]`)
		s.moved(t, done, "accept", "")
		issue := s.file(t, acme, "")
		lease := ada.claim(t, "")
		spent := func() string {
			t.Helper()
			by := resttest.Data[apiAgent](t, s.Get(hired.path()))
			return fmt.Sprint(s.look(t, issue).Budget.SpentUsd, " of ", *by.Stats.AverageTaskUsd)
		}
		if got := spent(); got != "0 of 0.5" {
			t.Errorf("before the charge: %s", got)
		}
		tags := map[string]string{}
		for _, path := range []string{issue.path(), hired.path()} {
			tags[path] = s.Get(path).Header.Get("ETag")
			send(s.Client, "GET", path, "", "If-None-Match", tags[path]).Is(t, 304, "")
		}
		place := s.placeOf(t, issue)
		ada.charges(t, lease, "1", "3.000002")
		entry := resttest.Data[[]struct{ ID string }](t, s.Get(acme.path()+"/costs/entries"))[0]
		s.Post(acme.path()+"/costs/adjust", `{"entryId":"`+entry.ID+`","usd":-0.000001,"reason":"Credit"}`).Is(t, 200, "")
		if got := spent(); got != "3.000001 of 3.500001" {
			t.Errorf("after the charge: %s", got)
		}
		if now := s.placeOf(t, issue); now != place {
			t.Errorf("the charge has changed the issue: it was at %s and is at %s", place, now)
		}
		for path, before := range tags {
			send(s.Client, "GET", path, "", "If-None-Match", before).Is(t, 200, "")
		}
		send(s.Client, "PATCH", issue.path(), `{"title":"Other"}`, "If-Match", tags[issue.path()]).Is(t, 200, "")
		send(s.Client, "PATCH", hired.path(), `{"role":"Other"}`, "If-Match", tags[hired.path()]).Is(t, 200, "")
		ada.ends(t, lease, "complete", `"costs":[{"key":"2","kind":"tools","usd":1}]`)
		if got := spent(); !strings.HasPrefix(got, "4.000001 of ") {
			t.Errorf("after the end: %s", got)
		}
	})
}

// placeOf is where PostgreSQL has the row of an issue, which each UPDATE moves. On SQLite it is the same always.
func (s *instance) placeOf(t *testing.T, of apiIssue) (place string) {
	t.Helper()
	database := beside(s.environ)
	if database.name != "pgx" {
		return ""
	}
	db, err := sql.Open(database.name, database.address)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRowContext(t.Context(), "SELECT ctid::text FROM issues WHERE id = $1", of.ID).Scan(&place))
	return place
}

// When its limit is reached a lease may finish, but not begin anything; when the reserve is spent too, it ends.
func TestABudgetThatIsSpentStopsAgents(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"budget":{"usd":10,"reservePercent":50}`))
		sales := s.found(t, acme, `{"name":"Sales","headcount":2,"budget":{"usd":4}}`)
		hired := s.hire(t, sales, "")
		ada := worker{s.agent(t, hired.Token), hired, s}
		issue := s.file(t, acme, "")
		lease := ada.claim(t, `{"leaseSeconds":3600}`)
		got := ada.charges(t, lease, "1", "4")
		by := s.clock.Now().Add(10 * time.Minute).Format("2006-01-02T15:04:05.000Z")
		if !got.Lease.MustFinish || got.Lease.FinishBy == nil || *got.Lease.FinishBy != by || got.Lease.ExpiresAt != by ||
			got.Budget.Level != "hard" || got.Budget.RemainingUsd != "0" {
			t.Errorf("%+v, finish by %s", got, by)
		}
		s.budgets(t, acme, "", "company: 4 spent, 0 held, 1 left, soft", "team: 4 spent, 0 held, 0 left, hard")
		ada.Post("/gateway/v1/issues", lease.body(`"leaseId":"`+lease.LeaseID+`","title":"More"`)).Is(t, 409, "budget_exhausted")
		ada.Post(lease.path()+"/checkpoint", lease.body(`"note":"Half"`)).Is(t, 200, "")
		s.Post(acme.path()+"/costs/topup", `{"teamId":"`+sales.ID+`","usd":2}`).Is(t, 200, "")
		s.budgets(t, acme, "", "company: 4 spent, 0 held, 3 left, none", "team: 4 spent, 0 held, 2 left, none")
		if got := ada.charges(t, lease, "2", "0"); got.Lease.MustFinish || got.Lease.FinishBy != nil || got.Budget.RemainingUsd != "2" {
			t.Errorf("%+v", got)
		}
		s.Post(acme.path()+"/costs/topup", `{"teamId":"`+sales.ID+`","usd":3.000001}`).Is(t, 422, "reserve_exhausted")
		s.Patch(sales.path(), `{"budget":null}`).Is(t, 200, "")
		s.Patch(acme.path(), `{"budget":{"usd":4}}`).Is(t, 200, "") // 2 reserved, and given to the team
		if got, want := s.breaches(t, acme), []string{
			"company soft", "team soft", "team hard", "company soft", "company hard", "company catastrophic",
		}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		s.shows(t, issue, "handoff, 1, agent")
		refused := ada.Post(lease.path()+"/complete", lease.body(``))
		refused.Is(t, 409, "stale_lease")
		if got := details(t, refused)["reason"]; got != "budget" {
			t.Errorf("%v", got)
		}
		ada.charges(t, lease, "3", "0.5") // what was spent is never lost
		s.budgets(t, acme, "?scope=company", "company: 4.5 spent, 0 held, 0 left, catastrophic")
		waiting := ada.waiting(t)
		next := s.file(t, acme, "")
		s.Patch(acme.path(), `{"budget":{"usd":20}}`).Is(t, 200, "")
		(<-waiting).Is(t, 200, "")
		s.shows(t, next, "running, 1, agent")
		if got := s.breaches(t, acme); len(got) != 6 {
			t.Errorf("%v", got)
		}
	})
}

// What a correction takes from what was spent can be spent again, and the limit that is reached then is reported, and ends leases, again.
func TestALimitThatIsReachedAgainAfterACorrectionStopsAgentsAgain(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		s.Patch(acme.path(), `{"budget":{"usd":2}}`).Is(t, 200, "")
		ada := all[0]
		for n := range 2 {
			s.file(t, acme, "")
			lease := ada.claim(t, "")
			ada.charges(t, lease, "1", "2")
			refused := ada.Post(lease.path()+"/renew", lease.body(``))
			refused.Is(t, 409, "stale_lease")
			if got := details(t, refused)["reason"]; got != "budget" {
				t.Errorf("%v", got)
			}
			if got := len(s.breaches(t, acme)); got != 3*(n+1) {
				t.Errorf("%v", s.breaches(t, acme))
			}
			entry := s.entries(t, acme, "")[0]
			s.Post(acme.path()+"/costs/adjust", `{"entryId":"`+entry.ID+`","usd":-2,"reason":"Credit"}`).Is(t, 200, "")
		}
	})
}

// What the reserve gave was given for one period: it is not given again by changing the kind of period there and back.
func TestTheReserveIsGivenOnceWhateverThePeriod(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"budget":{"usd":100,"reservePercent":10}`))
		sales := s.found(t, acme, `{"name":"Sales","headcount":2,"budget":{"usd":10}}`)
		for range 3 {
			s.Post(acme.path()+"/costs/topup", `{"teamId":"`+sales.ID+`","usd":10}`).Is(t, 200, "")
			s.Post(acme.path()+"/costs/topup", `{"teamId":"`+sales.ID+`","usd":1}`).Is(t, 422, "reserve_exhausted")
			s.budgets(t, acme, "", "company: 0 spent, 0 held, 100 left, none", "team: 0 spent, 0 held, 20 left, none")
			for _, period := range []string{"weekly", "monthly"} {
				s.Patch(acme.path(), `{"budget":{"period":"`+period+`"}}`).Is(t, 200, "")
			}
			s.budgets(t, acme, "", "company: 0 spent, 0 held, 90 left, none", "team: 0 spent, 0 held, 10 left, none")
		}
	})
}

// An issue that loses its budget, and gets one again, has all its time to finish.
func TestTheTimeToFinishBeginsWithTheLimitThatIsReached(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		s.Patch(acme.path(), `{"budget":{"usd":100}}`).Is(t, 200, "")
		work := s.file(t, acme, "")
		lease := all[0].claim(t, `{"leaseSeconds":3600}`)
		all[0].charges(t, lease, "1", "2")
		for range 2 {
			s.Patch(work.path(), `{"budget":{"perTaskUsd":1}}`).Is(t, 200, "")
			by := s.clock.Now().Add(10 * time.Minute).Format("2006-01-02T15:04:05.000Z")
			if got := all[0].charges(t, lease, "1", "2"); got.Lease.FinishBy == nil || *got.Lease.FinishBy != by {
				t.Errorf("%+v, want %s", got.Lease, by)
			}
			s.Patch(work.path(), `{"budget":{"perTaskUsd":null}}`).Is(t, 200, "")
			if got := all[0].charges(t, lease, "1", "2"); got.Lease.MustFinish {
				t.Errorf("%+v", got.Lease)
			}
			s.clock.advance(11 * time.Minute)
		}
	})
}

// The limit of an issue without a budget of its own is that of the agent that works on it, from lease to lease.
func TestLevelsOfAnIssueFollowTheLimitOfItsAgent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		s.Patch(acme.path(), `{"budget":{"usd":100}}`).Is(t, 200, "")
		ada := all[0]
		allows := func(usd string) {
			t.Helper()
			s.Patch(ada.path(), `{"budget":{"perTaskUsd":`+usd+`}}`).Is(t, 200, "")
		}
		reported := func(want ...string) {
			t.Helper()
			if got := s.breaches(t, acme); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		s.file(t, acme, "")
		allows("1")
		lease := ada.claim(t, "")
		ada.charges(t, lease, "1", "1")
		reported("issue soft", "issue hard")
		ada.ends(t, lease, "release", "")
		ada.idles(t)
		allows("2")
		reported("issue soft", "issue hard")
		lease = ada.claim(t, "")
		ada.charges(t, lease, "2", "0.7")
		reported("issue soft", "issue hard", "issue soft")
		allows("1.5") // what an agent is working on is looked at
		reported("issue soft", "issue hard", "issue soft", "issue hard")
		if got := ada.charges(t, lease, "3", "0.01"); !got.Lease.MustFinish {
			t.Errorf("%+v", got)
		}
		reported("issue soft", "issue hard", "issue soft", "issue hard")
	})
}

func TestBudgetsFitIntoEachOther(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"budget":{"usd":1000,"reservePercent":10}`))
		teams := acme.path() + "/teams"
		sales := s.found(t, acme, `{"name":"Sales","headcount":3,"budget":{"usd":600}}`)
		s.Post(teams, `{"name":"Support","headcount":0,"budget":{"usd":300.000001}}`).Is(t, 422, "budget_invalid")
		s.found(t, acme, `{"name":"Support","headcount":0,"budget":{"usd":300}}`)
		refused := s.Patch(sales.path(), `{"budget":{"usd":601}}`)
		refused.Is(t, 422, "budget_invalid")
		if got := details(t, refused)["teamsUsd"]; got != 901.0 {
			t.Errorf("%v", got)
		}
		s.Patch(acme.path(), `{"budget":{"reservePercent":10.01}}`).Is(t, 422, "budget_invalid")
		s.Patch(acme.path(), `{"budget":{"usd":2000}}`).Is(t, 200, "")
		s.Patch(sales.path(), `{"budget":{"usd":1500}}`).Is(t, 200, "")
		// April has 30 days.
		ada := s.hire(t, sales, `,"budget":{"dailyUsd":20}`)
		refused = s.Post(acme.path()+"/agents", `{"teamId":"`+sales.ID+`","name":"B","role":"R","budget":{"dailyUsd":30.000001}}`)
		refused.Is(t, 422, "team_budget_exceeded")
		if got := details(t, refused); got["projectedUsd"] != 1500.00003 || got["budgetUsd"] != 1500.0 {
			t.Errorf("%v", got)
		}
		s.hire(t, sales, `,"budget":{"dailyUsd":30}`)
		s.hire(t, sales, "")
		s.Patch(ada.path(), `{"budget":{"dailyUsd":20.01}}`).Is(t, 422, "team_budget_exceeded")
		s.Patch(ada.path(), `{"budget":{"dailyUsd":19}}`).Is(t, 200, "")
		s.Patch(ada.path(), `{"budget":{"dailyUsd":null}}`).Is(t, 200, "")
		for body, want := range map[string]string{
			`{}`: "teamId required, usd required", `{"teamId":"tm_x","usd":0}`: "teamId unknown_value, usd out_of_range",
			`{"teamId":"` + sales.ID + `","usd":-1}`:        "usd out_of_range",
			`{"teamId":"` + sales.ID + `","usd":0.0000001}`: "usd too_precise",
		} {
			refused := send(s.Client, "POST", acme.path()+"/costs/topup", body)
			refused.Is(t, 422, "validation_failed")
			if got := strings.Join(wrong(refused), ", "); got != want {
				t.Errorf("%s: %s", body, got)
			}
		}
	})
}

func TestBudgetsAreListedPageByPage(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		want := []string{acme.ID}
		for n := range 3 {
			want = append(want, s.found(t, acme, fmt.Sprintf(`{"name":"Team %d","headcount":0,"budget":{"usd":1}}`, n)).ID)
		}
		var got []string
		for query := "?limit=1"; query != ""; {
			answer := s.Get(acme.path() + "/budgets" + query)
			answer.Is(t, 200, "")
			for _, e := range resttest.Data[[]apiEnvelope](t, answer) {
				got = append(got, e.ScopeID)
			}
			if query = ""; answer.Meta.Page.Cursor != nil {
				query = "?limit=1&cursor=" + *answer.Meta.Page.Cursor
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		for _, forged := range []page.Position{
			{ID: "tm_x"}, {ID: "tm_x", Values: []string{"tribe"}}, {ID: "tm_x", Values: []string{"team", "x"}},
		} {
			cursor := page.Cursor("budgets of="+acme.ID+" scope=", forged)
			s.Get(acme.path()+"/budgets?cursor="+cursor).Is(t, 400, "invalid_cursor")
		}
	})
}

// A full budget hides no other work: what it does not hold up is found, however much of it there is before.
func TestAnIssueThatIsTooDearHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"budget":{"usd":5}`))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		hired := s.hire(t, sales, "")
		ada := worker{s.agent(t, hired.Token), hired, s}
		for n := range 40 {
			s.file(t, acme, fmt.Sprintf(`,"priority":"high","budget":{"perTaskUsd":%d}`, 6+n%3))
		}
		ada.idles(t)
		cheap := s.file(t, acme, `,"priority":"low","budget":{"perTaskUsd":4}`)
		for range 2 { // also for one whose last claim got something
			lease := ada.claim(t, "")
			if lease.Issue.ID != cheap.ID {
				t.Errorf("%d was leased", lease.Issue.Number)
			}
			ada.ends(t, lease, "release", ``)
		}
		s.Patch(acme.path(), `{"budget":{"usd":6}}`).Is(t, 200, "")
		if lease := ada.claim(t, ""); lease.Issue.Number != 1 {
			t.Errorf("%d was leased", lease.Issue.Number)
		}
	})
}

func TestAnswersAboutBudgetsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		sales := s.found(t, acme, `{"name":"Field Sales","headcount":2,"budget":{"usd":300}}`)
		hired := s.hire(t, sales, `,"budget":{"dailyUsd":10}`)
		ada := worker{s.agent(t, hired.Token), hired, s}
		s.file(t, acme, `,"budget":{"perTaskUsd":2.5}`)
		lease := ada.claim(t, "")
		ada.charges(t, lease, "1", "1")
		s.golden(t, "budgets", "GET", acme.path()+"/budgets", "")
		s.golden(t, "budget_topup", "POST", acme.path()+"/costs/topup", `{"teamId":"`+sales.ID+`","usd":12.5}`)
		s.golden(t, "error_reserve_exhausted", "POST", acme.path()+"/costs/topup", `{"teamId":"`+sales.ID+`","usd":175.03125}`)
		s.golden(t, "error_team_budget_exceeded", "POST", acme.path()+"/agents",
			`{"teamId":"`+sales.ID+`","name":"Bob","role":"Engineer","budget":{"dailyUsd":0.01}}`)
		s.golden(t, "error_budget_of_teams", "PATCH", sales.path(), `{"budget":{"usd":1312.72}}`)
		ada.charges(t, lease, "2", "1.5")
		s.goldenAs(t, ada.Client, "gateway_lease_must_finish", "POST", lease.path()+"/renew", lease.body(""))
		s.goldenAs(t, ada.Client, "gateway_error_budget_exhausted", "POST", "/gateway/v1/issues",
			lease.body(`"leaseId":"`+lease.LeaseID+`","title":"More"`))
	})
}
