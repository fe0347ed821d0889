package wiring_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

// apiCounts are counts of issues as the API shows them.
type apiCounts struct {
	ByStatus  map[string]int
	Total     int
	Truncated bool
}

// tick lets the clock of the store go on, whichever it is, so that what happens next has a later instant.
func (s *instance) tick(t *testing.T) {
	t.Helper()
	before, err := s.store.StoreNow(t.Context())
	must(t, err)
	s.clock.advance(time.Second)
	await(t, "the next millisecond", func() bool {
		now, err := s.store.StoreNow(t.Context())
		must(t, err)
		return now.After(before)
	})
}

// titles lists the titles of all issues that a query finds, in pages of a size.
func (s *instance) titles(t *testing.T, in company, query string, size int) (titles []string) {
	t.Helper()
	for cursor := ""; ; {
		answer := s.In(t).Get(fmt.Sprintf("%s/issues?limit=%d&%s%s", in.path(), size, query, cursor))
		answer.Is(t, 200, "")
		for _, one := range resttest.Data[[]apiIssue](t, answer) {
			titles = append(titles, one.Title)
		}
		if cursor = next(answer); cursor == "" {
			return titles
		}
		cursor = "&" + cursor
	}
}

// workload is a company with issues from "a", the oldest, to "h".
func (s *instance) workload(t *testing.T) (acme company, ada apiAgent, issues map[string]apiIssue, instants map[string]string) {
	t.Helper()
	acme = s.create(t, draft(t, ""))
	sales, ops := s.found(t, acme, `{"name":"Sales","headcount":2}`), s.found(t, acme, `{"name":"Ops","headcount":1}`)
	ada = s.hire(t, sales, "")
	issues, instants = map[string]apiIssue{}, map[string]string{}
	for _, c := range []struct{ title, members string }{
		{"a", `,"priority":"low","labels":["red","Blue Sky"]`},
		{"b", `,"priority":"urgent","assignedAgentId":"` + ada.ID + `","dueAt":"2026-06-01T00:00:00Z"`},
		{"c", `,"assignedTeamId":"` + sales.ID + `","labels":["red"]`},
		{"d", `,"assignedTeamId":"` + ops.ID + `","dueAt":"2026-05-01T00:00:00Z","description":"Straße of ÄPFEL & 100% rain"`},
		{"e", `,"priority":"urgent","parentId":"%a","labels":["green"]`},
		{"f", `,"priority":"high","parentId":"%a","dueAt":"2026-06-01T00:00:00Z"`},
		{"g", `,"parentId":"%e","assignedAgentId":"` + ada.ID + `","labels":["red"]`},
		{"h", `,"blockedBy":["%a"],"description":"Äpfel\nunder_score"`},
	} {
		s.tick(t)
		for title, one := range issues {
			c.members = strings.ReplaceAll(c.members, "%"+title, one.ID)
		}
		answer := s.In(t).Post(acme.path()+"/issues", `{"title":"`+c.title+`"`+c.members+`}`)
		answer.Is(t, 201, "")
		issues[c.title] = resttest.Data[apiIssue](t, answer)
		instants[c.title] = issues[c.title].CreatedAt
	}
	s.tick(t)
	s.moved(t, issues["g"], "handoff", `{"note":"Well?"}`)
	s.tick(t)
	s.moved(t, issues["f"], "cancel", "")
	s.tick(t)
	s.Patch(issues["a"].path(), `{"requiresReview":false}`).Is(t, 200, "")
	s.Post(issues["d"].path()+"/comments", `{"body":"This is no change."}`).Is(t, 200, "")
	return acme, ada, issues, instants
}

func TestIssuesAreFilteredAndCountedAlike(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada, issues, at := s.workload(t)
		s.file(t, s.create(t, draft(t, `"slug":"other"`)), `,"labels":["red"]`)
		for query, want := range map[string]string{
			"": "hgfedcba", "status=queued": "heda", "status=assigned": "cb", "status=handoff": "g", "status=cancelled,handoff": "gf",
			"status=queued,assigned,running,review,handoff,done,failed,cancelled": "hgfedcba", "status=running,review": "",
			"agent=" + ada.ID: "gcb", "team=sales": "gcb", "team=ops": "d", "team=" + ada.TeamID + "&agent=" + ada.ID: "gcb",
			"team=ops&agent=" + ada.ID: "", "team=sales&status=assigned": "cb", "agent=" + ada.ID + "&status=assigned,handoff": "gcb",
			"parent=null": "hdcba", "parent=" + issues["a"].ID: "fe", "parent=" + issues["e"].ID: "g", "parent=" + issues["b"].ID: "",
			"label=red": "gca", "label=Red": "", "label=Blue%20Sky": "a", "label=%20red%20": "gca", "label=red&status=queued": "a",
			"label=re%25": "", "label=x": "", "priority=urgent": "eb", "priority=normal": "hgdc", "priority=high": "f",
			"priority=urgent&parent=null": "b", "since=" + at["f"]: "hgf", "until=" + at["c"]: "ba",
			"since=" + at["c"] + "&until=" + at["e"]: "dc",
			"since=" + at["e"] + "&until=" + at["c"]: "", "since=0001-01-01T00:00:00Z": "hgfedcba", "until=0001-01-01T00:00:00Z": "",
			"since=" + url.QueryEscape("9999-12-31T23:59:59-01:00"): "", "until=9999-12-31T23:59:59Z": "hgfedcba",
			"q=%C3%A4pfel": "hd", "q=APFEL": "", "q=STRASSE": "d", "q=rain+of": "d", "q=100%25": "d", "q=r_s": "h",
			"q=%20%C3%84PFEL%20under%20": "h", "q=pf%09el": "hd", "q=of%20nothing": "", "q=%C3%A4pfel&team=ops": "d",
			"q=%C3%A4pfel&status=queued&sort=priority": "hd", "q=%C3%A4pfel&parent=null&label=x": "",
		} {
			var wanted []string
			for _, title := range want {
				wanted = append(wanted, string(title))
			}
			for _, size := range []int{200, 2} {
				if diff := cmp.Diff(wanted, s.titles(t, acme, query, size)); diff != "" {
					t.Errorf("%s: %s", query, diff)
				}
			}
			if strings.Contains(query, "sort") {
				continue
			}
			counts := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts?"+query))
			byStatus := map[string]int{}
			for _, title := range wanted {
				byStatus[s.look(t, issues[title]).Status]++
			}
			for status, n := range counts.ByStatus {
				if n != byStatus[status] {
					t.Errorf("%s: %d are %s, want %d", query, n, status, byStatus[status])
				}
			}
			if counts.Total != len(want) || len(counts.ByStatus) != 8 || counts.Truncated {
				t.Errorf("%s: %+v", query, counts)
			}
		}
		const none = "_01h455vb4pex5vsknk084sn02q"
		for _, query := range []string{
			"agent=agt" + none, "agent=ada", "agent=" + ada.TeamID, "team=nobody", "team=tm" + none,
			"parent=iss" + none,
			"parent=7", "parent=NULL", "agent=agt" + none + "&status=done",
		} {
			send(s.Client, "GET", acme.path()+"/issues?"+query, "").Is(t, 404, "not_found")
			send(s.Client, "GET", acme.path()+"/issues/counts?"+query, "").Is(t, 404, "not_found")
		}
	})
}

func TestWrongFiltersOfIssuesAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for query, parameter := range map[string]string{
			"status=": "status", "status=open": "status", "status=queued,queued": "status", "status=queued,": "status", "agent=": "agent",
			"team=": "team", "parent=": "parent", "label=": "label", "label=%20": "label", "label=%00": "label", "label=a%0Ab": "label",
			"label=" + strings.Repeat("x", 51): "label", "priority=Low": "priority", "priority=low,high": "priority", "q=": "q", "q=a": "q",
			"q=%20a%20": "q", "q=%20%20%20": "q", "q=" + strings.Repeat("x", 201): "q", "q=%FF": "q", "since=": "since",
			"since=2026":       "since",
			"since=2026-04-11": "since", "until=2026-04-11T00:00:00": "until", "until=2026-04-11T00:00:00+02:00": "until",
			"until=today":               "until",
			"since=2026-04-11T1:00:00Z": "since", "run=x": "run", "include=runs": "include", "Status=queued": "Status",
		} {
			for _, path := range []string{"/issues?", "/issues/counts?"} {
				answer := send(s.Client, "GET", acme.path()+path+query, "")
				answer.Is(t, 400, "invalid_parameter")
				if answer.Error.Details.Parameter != parameter {
					t.Errorf("%s%s: blamed is %q", path, query, answer.Error.Details.Parameter)
				}
			}
		}
		for query, parameter := range map[string]string{"sort=title": "sort", "sort=": "sort", "limit=201": "limit", "cursor=": "cursor"} {
			answer := send(s.Client, "GET", acme.path()+"/issues?"+query, "")
			answer.Is(t, 400, "invalid_parameter")
			if answer.Error.Details.Parameter != parameter {
				t.Errorf("%s: blamed is %q", query, answer.Error.Details.Parameter)
			}
		}
		for _, query := range []string{"sort=due", "limit=5", "cursor=x"} {
			send(s.Client, "GET", acme.path()+"/issues/counts?"+query, "").Is(t, 400, "invalid_parameter")
		}
		hint := send(s.Client, "GET", acme.path()+"/issues?since=2026-04-11T00:00:00+02:00", "")
		if hint.Is(t, 400, "invalid_parameter"); !strings.Contains(hint.Error.Message, "%2B") {
			t.Error(hint.Error.Message)
		}
		for _, q := range []string{"ab", "a b", strings.Repeat("x", 200), "ä𝄞"} {
			s.Get(acme.path()+"/issues?q="+url.QueryEscape(q)).Is(t, 200, "")
		}
	})
}

func TestIssuesAreListedInEveryOrder(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada, _, _ := s.workload(t)
		for query, want := range map[string]string{
			"sort=created": "hgfedcba", "sort=updated": "afghedcb", "sort=priority": "ebfhgdca", "sort=due": "dbfacegh",
			"sort=updated&status=queued": "ahed", "sort=priority&status=queued,assigned": "ebhdca",
			"sort=due&status=cancelled,queued": "dfaeh",
			"sort=priority&agent=" + ada.ID:    "bgc", "sort=due&label=red": "acg", "sort=updated&parent=null": "ahdcb",
			"sort=priority&priority=urgent": "eb", "sort=due&q=pfel": "dh", "sort=updated&status=queued,handoff&q=pfel": "hd",
		} {
			for _, size := range []int{1, 2, 3, 7, 8, 200} {
				if got := strings.Join(s.titles(t, acme, query, size), ""); got != want {
					t.Errorf("%s in pages of %d: %s, want %s", query, size, got, want)
				}
			}
		}
	})
}

func TestPagesOfIssuesNeitherSkipNorRepeatWhileIssuesComeAndGo(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		var want []string
		for n := range 20 {
			made := s.file(t, acme, fmt.Sprintf(`,"priority":%q`, []string{"low", "high"}[n%2]))
			want = append(want, made.ID)
			if n%3 == 2 { // others share an instant
				s.tick(t)
			}
		}
		slices.Reverse(want)
		for _, sort := range []string{"created", "priority"} {
			var got []string
			for query := "limit=3"; query != ""; {
				answer := s.Get(acme.path() + "/issues?sort=" + sort + "&" + query)
				for _, one := range resttest.Data[[]apiIssue](t, answer) {
					if one.Title == "Write" {
						got = append(got, one.ID)
					}
				}
				query = next(answer)
				s.Post(acme.path()+"/issues", `{"title":"New","priority":"low"}`).Is(t, 201, "")
				s.Patch(acme.path()+"/issues/"+got[0], `{"description":"`+fmt.Sprint(len(got))+`"}`).Is(t, 200, "")
			}
			slices.Sort(got)
			wanted := slices.Sorted(slices.Values(want))
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("%s: %s", sort, diff)
			}
		}
	})
}

func TestACursorOfIssuesHoldsForItsFiltersAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, draft(t, `"slug":"other"`))
		made := s.file(t, acme, `,"labels":["a"]`)
		for range 2 {
			s.file(t, acme, `,"labels":["a"]`)
			s.Post(made.path()+"/comments", `{"body":"Well."}`).Is(t, 200, "")
		}
		cursor := next(s.Get(acme.path() + "/issues?limit=1&label=a&sort=priority"))
		s.Get(acme.path()+"/issues?label=a&sort=priority&limit=7&"+cursor).Is(t, 200, "")
		of := next(s.Get(made.path() + "/comments?limit=1"))
		s.Get(made.path()+"/comments?"+of).Is(t, 200, "")
		for _, path := range []string{
			acme.path() + "/issues?" + cursor, acme.path() + "/issues?label=a&" + cursor,
			acme.path() + "/issues?label=b&sort=priority&" + cursor,
			acme.path() + "/issues?label=a&sort=updated&" + cursor, acme.path() + "/issues?label=a&sort=priority&q=wr&" + cursor,
			acme.path() + "/issues?label=a&sort=priority&parent=null&" + cursor, other.path() + "/issues?label=a&sort=priority&" + cursor,
			acme.path() + "/agents?" + cursor, acme.path() + "/issues?" + of, made.path() + "/comments?" + cursor,
			acme.path() + "/issues?q=" + url.QueryEscape("wr&sort=priority&label=a") + "&" + cursor,
		} {
			send(s.Client, "GET", path, "").Is(t, 400, "invalid_cursor")
		}
	})
}

func TestCommentsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		ada := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`), "")
		made, apart := s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`), s.file(t, acme, "")
		s.Post(apart.path()+"/comments", `{"body":"Apart."}`).Is(t, 200, "")
		writer := s.issue(t, "company:"+acme.ID+":write")
		answer := s.As(writer.Token).In(t).Post(made.path()+"/comments", `{"body":"  *One*\r\n\tand cafe\u0301  "}`)
		answer.Is(t, 200, "")
		first := resttest.Data[apiComment](t, answer)
		want := apiComment{
			ID: first.ID, CompanyID: acme.ID, IssueID: made.ID, Author: "token:" + writer.ID, Body: first.Body, CreatedAt: first.CreatedAt,
		}
		if diff := cmp.Diff(want, first); diff != "" || first.Body != "  *One*\r\n\tand caf\u00e9  " {
			t.Errorf("%q %s", first.Body, diff)
		}
		if now := s.look(t, made); now.UpdatedAt != made.UpdatedAt || s.Get(made.path()).Header.Get("ETag") != `"1"` {
			t.Errorf("a comment changes its issue: %+v", now)
		}
		s.moved(t, made, "handoff", `{"note":"Two"}`)
		s.moved(t, made, "cancel", `{"reason":"Three"}`)
		s.moved(t, made, "comments", `{"body":"Four"}`)
		var got []string
		for query := "limit=3"; query != ""; {
			page := s.Get(made.path() + "/comments?" + query)
			for _, one := range resttest.Data[[]apiComment](t, page) {
				got = append(got, one.Body)
			}
			query = next(page)
		}
		if diff := cmp.Diff([]string{"Four", "Three", "Two", first.Body}, got); diff != "" {
			t.Error(diff)
		}
		send(s.Client, "GET", made.path()+"/comments?sort=created", "").Is(t, 400, "invalid_parameter")
	})
}

// copies puts copies of an issue into the store beside the server, each a millisecond younger than the one before. They are in the
// lists, but in nothing that is counted.
func (s *instance) copies(t *testing.T, of apiIssue, count int) {
	t.Helper()
	database := beside(s.environ)
	db, err := sql.Open(database.name, database.address)
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM issues WHERE 1 = 0")
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	must(t, rows.Err())
	values := slices.Clone(columns)
	for n, column := range columns {
		switch column {
		case "id": // of digits alone at its end
			values[n] = "substr(id, 1, length(id) - 5) || substr(CAST(100000 + n AS TEXT), 2)"
		case "number":
			values[n] = "1000 + n"
		case "created_at":
			values[n] = "created_at + n"
		case "title":
			values[n] = "'Hay'"
		}
	}
	_, err = db.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO issues (%s)
		WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
		SELECT %s FROM issues, numbers WHERE id = '%s'`, strings.Join(columns, ", "), count, strings.Join(values, ", "), of.ID))
	must(t, err)
}

func TestASearchLooksAtSoManyIssuesARequest(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const most = 20_000
		acme := s.create(t, draft(t, ""))
		s.file(t, acme, "")
		s.tick(t)
		last := s.file(t, acme, "")
		s.clock.advance(time.Minute)
		s.file(t, acme, "")
		s.copies(t, last, most-2) // so that it is the last one at which a request looks
		answer := s.Get(acme.path() + "/issues?q=write&limit=10")
		answer.Is(t, 200, "")
		found := resttest.Data[[]apiIssue](t, answer)
		if len(found) != 2 || found[0].Number != 3 || found[1].Number != 2 || next(answer) == "" {
			t.Fatalf("%+v, %q", found, next(answer))
		}
		answer = s.Get(acme.path() + "/issues?q=write&limit=10&" + next(answer))
		answer.Is(t, 200, "")
		if found := resttest.Data[[]apiIssue](t, answer); len(found) != 1 || found[0].Number != 1 || next(answer) != "" {
			t.Errorf("then %+v, %q", found, next(answer))
		}
		counts := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts?q=write"))
		if counts.Total != 2 || !counts.Truncated {
			t.Errorf("%+v", counts)
		}
	})
}
