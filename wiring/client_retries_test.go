package wiring_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// The answer to a hire, and that to the first rotation after it, are lost between the server and the command.
func TestACommandWhoseAnswersAreLostHiresOneAgentWithAToken(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"Research","headcount":2}]`))
		server, err := url.Parse(s.url)
		must(t, err)
		var lost atomic.Int64
		proxy := httptest.NewServer(&httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) },
			ModifyResponse: func(answer *http.Response) error {
				isFirst := answer.Header.Get("Idempotency-Replayed") == ""
				if answer.Request.Method == http.MethodPost && isFirst && lost.Add(1) <= 2 {
					return errors.New("the line is cut")
				}
				return nil
			},
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		})
		t.Cleanup(proxy.Close)

		s.environ = append(s.environ, "HOLDCO_URL="+proxy.URL, "HOLDCO_TOKEN="+string(rootToken), "HOLDCO_COMPANY="+acme.Slug)
		token := s.command(t, "agent hire --team research --name Ada --role Engineer")
		if !strings.HasPrefix(token, "hca_") || strings.Count(token, "\n") != 1 {
			t.Errorf("the command printed %q", token)
		}
		if lost.Load() != 3 {
			t.Errorf("there were %d first answers, two of them lost", lost.Load())
		}
		if hired := resttest.Data[[]struct{ Name string }](t, s.Get(acme.path()+"/agents")); len(hired) != 1 {
			t.Errorf("there are the agents %v", hired)
		}
		var seen []string
		for _, e := range s.events(t, acme.ID) {
			seen = append(seen, string(e.Type))
		}
		if got := strings.Join(seen, " "); got != "company.created agent.hired agent.token.rotated agent.token.rotated" {
			t.Errorf("the events are %s", got)
		}
	})
}
