package wiring_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// slugs lists the slugs of a page of companies.
func slugs(t *testing.T, answer resttest.Answer) []string {
	t.Helper()
	answer.Is(t, 200, "")
	found := []string{}
	for _, c := range resttest.Data[[]company](t, answer) {
		found = append(found, c.Slug)
	}
	return found
}

// next is the query that asks for the page after an answer; "" when that is the last.
func next(answer resttest.Answer) string {
	if answer.Meta.Page.Cursor == nil {
		return ""
	}
	return "cursor=" + url.QueryEscape(*answer.Meta.Page.Cursor)
}

func TestTheListShowsActiveCompaniesUnlessAskedOtherwise(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for _, slug := range []string{"a", "b", "c", "d"} {
			s.create(t, named(slug))
			s.clock.advance(time.Second)
		}
		archived := resttest.Data[[]company](t, s.Get("/v1/companies?slug=b"))[0]
		s.Post(archived.path()+"/archive", "").Is(t, 200, "")
		for query, want := range map[string][]string{
			"": {"d", "c", "a"}, "?": {"d", "c", "a"}, "?status=active": {"d", "c", "a"}, "?status=archived": {"b"},
			"?slug=a": {"a"}, "?slug=b": {"b"}, "?slug=b&status=archived": {"b"},
			"?slug=b&status=active": {}, "?slug=a&status=archived": {},
			"?slug=z": {}, "?slug=A": {}, "?slug=no%20slug": {}, "?slug=%25": {}, "?slug='": {}, "?limit=2": {"d", "c"},
			"?slug=" + strings.Repeat("x", 3000): {}, "?limit=200": {"d", "c", "a"}, "?limit=3": {"d", "c", "a"},
		} {
			answer := s.Get("/v1/companies" + query)
			if got := slugs(t, answer); !slices.Equal(got, want) {
				t.Errorf("%s lists %v, want %v", query, got, want)
			}
			if last := answer.Meta.Page.Cursor == nil; last == (query == "?limit=2") {
				t.Errorf("%s: the last page is %t", query, last)
			}
		}
		if size := s.Get("/v1/companies").Meta.Page.Size; size != 50 {
			t.Errorf("a page has the size %d", size)
		}
	})
}

func TestWrongParametersOfListsAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for query, parameter := range map[string]string{
			"limit=0": "limit", "limit=201": "limit", "limit=-1": "limit", "limit=1.0": "limit",
			"limit=x": "limit", "limit=": "limit", "limit": "limit",
			"limit=01": "limit", "limit=%2B1": "limit", "limit=99999999999999999999": "limit", "limit=1&limit=1": "limit",
			"status=foo": "status", "status=": "status", "status=deleting": "status",
			"status=Active": "status", "status=active,archived": "status",
			"status=active&status=active": "status", "slug=": "slug", "slug=a&slug=b": "slug", "slug=%FF": "slug",
			"slug=%00": "slug", "slug=%zz": "slug",
			"Limit=1": "Limit", "page=1": "page", "include=teams": "include", "cursor=": "cursor", "x": "x", "limit=1;slug=a": "limit",
		} {
			answer := send(s.Client, "GET", "/v1/companies?"+query, "")
			answer.Is(t, 400, "invalid_parameter")
			if answer.Error.Details.Parameter != parameter {
				t.Errorf("%s: blamed is %q", query, answer.Error.Details.Parameter)
			}
		}
		send(s.Client, "POST", "/v1/companies?dry=1", named("a")).Is(t, 400, "invalid_parameter")
		send(s.Client, "GET", "/v1/whoami?x=1", "").Is(t, 400, "invalid_parameter")
		send(s.Client, "GET", "/v1/tokens?status=active", "").Is(t, 400, "invalid_parameter")
	})
}

func TestPagesNeitherSkipNorRepeatWhileCompaniesComeAndGo(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := map[string]company{}
		var order []string // newest first
		add := func(slug string) {
			made[slug] = s.create(t, named(slug))
			order = slices.Insert(order, 0, slug)
		}
		for i := range 30 {
			add(fmt.Sprintf("old-%d", i))
			if i%3 == 2 { // three share an instant
				s.clock.advance(time.Millisecond)
			}
		}
		want := slices.Clone(order)
		var got []string
		query := "limit=4"
		for page := 0; query != ""; page++ {
			answer := s.Get("/v1/companies?" + query)
			got = append(got, slugs(t, answer)...)
			if query = next(answer); query != "" {
				query += "&limit=" + fmt.Sprint(3+page%3) // the size may change on the way
			}
			for _, slug := range got[:min(len(got), 2*page)] {
				s.Delete(made[slug].path()) // what was seen goes, the row of a cursor too
			}
			add(fmt.Sprintf("new-%d", page))
			last := want[len(want)-1]
			if len(want) > len(got)+8 { // what was not seen yet is changed, archived, deleted
				s.Patch(made[last].path(), `{"name":"B"}`).Is(t, 200, "")
				s.Post(made[want[len(want)-2]].path()+"/archive", "").Is(t, 200, "")
				s.Delete(made[want[len(want)-3]].path()).Is(t, 200, "")
				want = append(want[:len(want)-3], last)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("listed %v\nwant %v", got, want)
		}
	})
}

func TestPagesOfEverySizeHoldTheWholeList(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		var want []string
		for i := range 7 {
			want = slices.Insert(want, 0, fmt.Sprintf("c-%d", i))
			s.create(t, named(want[0]))
		}
		for _, limit := range []int{1, 2, 3, 6, 7, 8, 200} {
			var got []string
			pages := 0
			for query := fmt.Sprintf("limit=%d", limit); query != ""; pages++ {
				answer := s.Get("/v1/companies?" + query)
				got = append(got, slugs(t, answer)...)
				if query = next(answer); query != "" {
					query += fmt.Sprintf("&limit=%d", limit)
				}
			}
			if !slices.Equal(got, want) || pages != (len(want)+limit-1)/limit {
				t.Errorf("limit %d: %d pages of %v", limit, pages, got)
			}
		}
	})
}

func TestACursorHoldsForItsListWithItsFiltersAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for i := range 3 {
			s.create(t, named(fmt.Sprintf("c-%d", i)))
			s.issue(t, "read")
		}
		companies, tokens := *s.Get("/v1/companies?limit=1").Meta.Page.Cursor, *s.Get("/v1/tokens?limit=1").Meta.Page.Cursor
		flipped := []byte(companies)
		flipped[len(flipped)/2] ^= 1
		for _, path := range []string{
			"/v1/companies?cursor=" + tokens, "/v1/tokens?cursor=" + companies, "/v1/companies?status=archived&cursor=" + companies,
			"/v1/companies?slug=c-1&cursor=" + companies, "/v1/companies?cursor=" + companies[1:],
			"/v1/companies?cursor=" + companies[:len(companies)-1],
			"/v1/companies?cursor=" + companies + "A", "/v1/companies?cursor=" + companies + "%0A",
			"/v1/companies?cursor=" + string(flipped),
			"/v1/companies?cursor=" + companies + companies, "/v1/companies?cursor=x",
			"/v1/companies?cursor=null",
			"/v1/companies?cursor=" + strings.Repeat("A", 6000),
		} {
			send(s.Client, "GET", path, "").Is(t, 400, "invalid_cursor")
		}
		s.Get("/v1/companies?status=active&limit=7&cursor="+companies).Is(t, 200, "")
		reader := s.with(t, "company:c-0:read")
		if got := slugs(t, reader.Get("/v1/companies?cursor="+companies)); !slices.Equal(got, []string{"c-0"}) {
			t.Errorf("with the cursor of another token %v are listed", got)
		}
	})
}

func TestListsAreSearchedForWords(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, `{"name":"Bäckerei İstanbul","slug":"bakery","description":"Bread, 100% rye"}`)
		s.create(t, named("other"))
		team := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		s.hire(t, team, `,"model":"rye"`)
		aim := s.aims(t, acme, "Sell RYE bread")
		s.aims(t, acme, "Rest")
		s.plans(t, acme, inGoal(aim)+`,"description":"Ads for rye"`)
		for path, want := range map[string]int{
			"/v1/companies?q=ISTANBUL+b%C3%84ck": 1, "/v1/companies?q=100%25+BAKERY": 1, "/v1/companies?q=rye&status=archived": 0,
			"/v1/companies?q=other&slug=bakery": 0, "/v1/companies?q=%25%25": 0,
			acme.path() + "/agents?q=gineer+ada": 1, acme.path() + "/agents?q=rye": 0,
			acme.path() + "/agents?q=ada&status=paused,retired": 0,
			acme.path() + "/goals?q=bread+rye":                  1, acme.path() + "/goals?q=re": 2,
			acme.path() + "/goals?q=rye&status=achieved": 0,
			acme.path() + "/projects?q=launch+ads":       1, acme.path() + "/projects?q=rye&goal=" + aim.ID: 1,
			acme.path() + "/projects?q=aye": 0,
		} {
			answer := s.Get(path)
			answer.Is(t, 200, "")
			if found := resttest.Data[[]any](t, answer); len(found) != want {
				t.Errorf("%s finds %d, want %d", path, len(found), want)
			}
		}
		first := s.Get(acme.path() + "/goals?q=re&limit=1")
		if rest := s.Get(acme.path() + "/goals?q=re&limit=1&" + next(first)); rest.Status != 200 || next(rest) != "" {
			t.Errorf("the second page of two: %d %s", rest.Status, rest.Body)
		}
		send(s.Client, "GET", acme.path()+"/goals?q=rye&"+next(first), "").Is(t, 400, "invalid_cursor")
		for _, list := range []string{"/v1/companies", acme.path() + "/agents", acme.path() + "/goals", acme.path() + "/projects"} {
			for _, q := range []string{"", "a", "++", "%20a%20", strings.Repeat("a", 201), "%FF"} {
				answer := send(s.Client, "GET", list+"?q="+q, "")
				if answer.Is(t, 400, "invalid_parameter"); answer.Error.Details.Parameter != "q" {
					t.Errorf("%s, %q: blamed is %q", list, q, answer.Error.Details.Parameter)
				}
			}
		}
	})
}
