package wiring_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// Whatever happens to an approval while somebody decides it, it has one outcome, which is recorded once, and who waits is told of it.
func TestAnApprovalHasOneOutcomeWhateverHappensAtOnce(t *testing.T) {
	t.Parallel()
	const rounds = 3
	for name, happens := range map[string]func(s *instance, ada worker, lease apiLease, a apiApproval) resttest.Answer{
		"another decision": func(s *instance, _ worker, _ apiLease, a apiApproval) resttest.Answer {
			return s.Post(a.path()+"/deny", `{"note":"No"}`)
		},
		"the run ends": func(_ *instance, ada worker, lease apiLease, _ apiApproval) resttest.Answer {
			return ada.Post(lease.path()+"/complete", lease.body(""))
		},
		"the agent retires": func(s *instance, ada worker, _ apiLease, _ apiApproval) resttest.Answer {
			return s.Post(ada.path()+"/retire", "")
		},
		"the issue is cancelled": func(s *instance, _ worker, lease apiLease, _ apiApproval) resttest.Answer {
			return s.Post(lease.Issue.path()+"/cancel", "")
		},
		"the company is archived": func(s *instance, _ worker, _ apiLease, a apiApproval) resttest.Answer {
			return s.Post("/v1/companies/"+a.CompanyID+"/archive", "")
		},
		"its time is over": func(s *instance, _ worker, _ apiLease, _ apiApproval) (none resttest.Answer) {
			s.clock.advance(2 * time.Minute)
			if _, err := s.work.ExpireApprovals(t.Context()); err != nil {
				t.Error(err)
			}
			return none
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme := s.create(t, draft(t, ""))
				of := s.found(t, acme, `{"name":"Sales","headcount":3}`)
				for range rounds {
					hired := s.hire(t, of, "")
					ada := worker{s.agent(t, hired.Token), hired, s}
					filed := s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`)
					lease := ada.claim(t, "")
					a := ada.asks(t, lease, `,"expiresIn":60`)
					told := make(chan resttest.Answer, 1)
					go func() { told <- ada.Get(a.asked() + "?wait=30") }()
					await(t, "the wait", func() bool { return s.deciding() == 1 })
					both := race(
						func() resttest.Answer { return s.Post(a.path()+"/approve", "") },
						func() resttest.Answer { return happens(s, ada, lease, a) },
					)
					if both[0].Status != 200 && both[0].Status != 409 || both[1].Status >= 500 {
						t.Errorf("%d %s, %d %s", both[0].Status, both[0].Body, both[1].Status, both[1].Body)
					}
					var got string
					await(t, "an outcome", func() bool {
						got = s.reads(t, a).Status
						return got != "pending"
					})
					if (got == "approved") != (both[0].Status == 200) {
						t.Errorf("the decision got %d, and it is %s", both[0].Status, got)
					}
					outcomes := slices.DeleteFunc(s.became(t, acme, a.ID), func(one string) bool { return one == "approval.requested" })
					if len(outcomes) != 1 || outcomes[0] != "approval."+got {
						t.Errorf("it is %s, and recorded are %q", got, outcomes)
					}
					select {
					case answer := <-told: // or it is told that its token has ended
						if answer.Status == 200 && resttest.Data[apiApproval](t, answer).Status != got ||
							answer.Status != 200 && !strings.Contains(name, "retires") {
							t.Errorf("it is %s, and the agent is told %d %s", got, answer.Status, answer.Body)
						}
					case <-time.After(25 * time.Second):
						t.Errorf("it is %s, and the agent was not told", got)
					}
					if strings.Contains(name, "archived") {
						s.Post(acme.path()+"/restore", "").Is(t, 200, "")
					}
					if strings.Contains(name, "decision") || strings.Contains(name, "time") {
						ada.ends(t, lease, "release", "")
					}
					_ = s.Post(filed.path()+"/cancel", "")
				}
			})
		})
	}
}
