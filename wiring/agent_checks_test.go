package wiring_test

import (
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// apiCheck is a check of an agent as the API shows it.
type apiCheck struct {
	AgentID  string
	OK       bool
	Findings []struct {
		Check, Message, Fix string
		OK                  bool
	}
}

// checks checks an agent, and returns the answer with the names of what is missing, separated by spaces.
func (s *instance) checks(t *testing.T, a apiAgent) (found apiCheck, missing string) {
	t.Helper()
	answer := s.In(t).Get(a.path() + "/check")
	answer.Is(t, 200, "")
	found = resttest.Data[apiCheck](t, answer)
	var names []string
	for _, finding := range found.Findings {
		if !finding.OK {
			names = append(names, finding.Check)
		}
	}
	if found.OK != (len(names) == 0) || found.AgentID != a.ID {
		t.Errorf("%+v", found)
	}
	return found, strings.Join(names, " ")
}

func TestACheckSaysWhatAnAgentNeeds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 5)
		ada := s.runs(t, sales, `{"command":["no-such-program","exec"],"env":{"KEY":{"secret":"anthropic"}}}`)
		s.golden(t, "agent_check", "GET", ada.path()+"/check", "")
		s.keeps(t, acme, "anthropic", "value-of-the-secret")
		s.Patch(ada.path(), `{"adapterConfig":{"command":["sh"],"usage":"holdco-json"}}`).Is(t, 200, "")
		if found, missing := s.checks(t, ada); missing != "" {
			t.Errorf("%+v", found)
		}
		behind := s.runs(t, sales, `{"url":"http://127.0.0.1:1/"}`)
		if found, missing := s.checks(t, behind); missing != "url" {
			t.Errorf("%+v", found)
		}
		alone := s.hire(t, sales, "")
		if found, missing := s.checks(t, alone); missing != "calls" {
			t.Errorf("%+v", found)
		}
		s.agent(t, alone.Token).Get("/gateway/v1/me").Is(t, 200, "")
		await(t, "its call to be written down", func() bool {
			_, missing := s.checks(t, alone)
			return missing == ""
		})
		s.Get(acme.path()+"/agents/agt_01h455vb4pex5vsknk084sn02q/check").Is(t, 404, "not_found")
	})
}
