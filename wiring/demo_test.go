package wiring_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/demo"
)

// plays hires an agent whose program is that of the demo, which thinks as long as the pace says.
func (s *instance) plays(t *testing.T, in team, pace, members string) apiAgent {
	t.Helper()
	return s.hire(t, in, `,"adapter":"process","adapterConfig":{"command":["holdco","demo-worker","--model","gpt-5","--pace","`+pace+`"],`+
		`"graceSeconds":2,"maxConcurrent":20}`+members)
}

// labelled files an issue with labels for an agent.
func (s *instance) labelled(t *testing.T, in company, of apiAgent, labels ...string) apiIssue {
	t.Helper()
	return s.named(t, in, of, `,"maxAttempts":2,"labels":["`+strings.Join(labels, `","`)+`"]`)
}

// asking waits until the agent of an issue has asked for an approval.
func (s *instance) asking(t *testing.T, of apiIssue) (asked apiApproval) {
	t.Helper()
	await(t, "the approval of "+of.Title, func() bool {
		found := resttest.Data[[]apiApproval](t, s.In(t).Get("/v1/companies/"+of.CompanyID+"/approvals?status=pending&issue="+of.ID))
		if len(found) == 1 {
			asked = found[0]
		}
		return len(found) == 1
	})
	return asked
}

// ends waits until an issue is in review, and checks what its agent said last.
func (s *instance) ends(t *testing.T, of apiIssue, said string) {
	t.Helper()
	done := s.reaches(t, of, "review")
	if !strings.Contains(string(done.Result), said) {
		t.Errorf("%q does not say %q", done.Result, said)
	}
}

func TestTheAgentsOfTheDemoPlayTheirScripts(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 3)
		ada := s.plays(t, sales, "0", "")
		summary := func(of apiIssue) string { return demo.Summary(int64(of.Number)) }

		plain := s.labelled(t, acme, ada, "bug")
		s.ends(t, plain, summary(plain))
		if done := s.look(t, plain); done.Budget.SpentUsd == "0" {
			t.Error("it was for nothing")
		}
		if log := s.logOf(t, plain, s.newest(t, plain)); strings.Count(log, "\n") < 4 || !strings.HasPrefix(log, "#1 Write, attempt 1\n") {
			t.Errorf("it says %q", log)
		}

		flaky := s.labelled(t, acme, ada, "tests", demo.Flaky)
		s.ends(t, flaky, summary(flaky))
		if done := s.look(t, flaky); done.Attempt != 2 {
			t.Errorf("it took %d attempts", done.Attempt)
		}

		handed := s.reaches(t, s.labelled(t, acme, ada, demo.Decision), "handoff")
		s.In(t).Post(handed.path()+"/comments", `{"body":"Say yes."}`).Is(t, 200, "")
		s.moved(t, handed, "assign", `{"agentId":"`+ada.ID+`"}`)
		s.ends(t, handed, summary(handed))

		granted, denied, asked := s.labelled(t, acme, ada, demo.Release), s.labelled(t, acme, ada, demo.Release),
			s.labelled(t, acme, ada, demo.Release)
		s.decided(t, s.asking(t, granted), "approve", `{"note":"Go."}`)
		s.ends(t, granted, summary(granted))
		s.decided(t, s.asking(t, denied), "deny", `{"note":"Not today."}`)
		s.ends(t, denied, demo.NotAllowed)
		question := s.asking(t, asked)
		s.In(t).Post(question.path()+"/comment", `{"body":"Is it tested?"}`).Is(t, 200, "")
		await(t, "the answer", func() bool { return len(s.reads(t, question).Comments) == 2 })
		if said := s.reads(t, question).Comments[1]; said.Body != demo.Answer || s.reads(t, question).Status != "pending" {
			t.Errorf("it says %q", said.Body)
		}
		s.decided(t, question, "approve-with-edits", `{"edits":{"when":"at night"}}`)
		s.ends(t, asked, summary(asked))
	})
}

func TestTheAgentsOfTheDemoBehaveWhenTheirWorkEnds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 3)
		ada := s.plays(t, sales, "0", "")

		cancelled := s.labelled(t, acme, ada, demo.Release)
		approval := s.asking(t, cancelled)
		s.moved(t, cancelled, "cancel", "")
		if run := s.ended(t, cancelled); run.Status != "cancelled" {
			t.Errorf("the run is %s", run.Status)
		}
		if status := s.reads(t, approval).Status; status != "expired" {
			t.Errorf("the approval is %s", status)
		}

		late := s.labelled(t, acme, ada, demo.Release)
		approval = s.asking(t, late)
		s.clock.advance(5 * time.Hour)
		s.expires(t)
		await(t, "the end of the approval", func() bool { return s.reads(t, approval).Status == "expired" })

		poor := s.plays(t, sales, "0", `,"budget":{"perTaskUsd":0.0001}`)
		s.ends(t, s.labelled(t, acme, poor, "bug"), demo.OutOfBudget)
		s.ends(t, s.labelled(t, acme, poor, demo.Release), demo.OutOfBudget)

		slow := s.plays(t, sales, "10000", "")
		stopped := s.labelled(t, acme, slow, "bug")
		s.reaches(t, stopped, "running")
		began := time.Now()
		s.again(t)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("the server took %s to stop and start", took)
		}
	})
}

// demonstrates starts the command demo beside a server, at a quick pace, and returns what it says and how it is stopped.
func (p *process) demonstrates(t *testing.T, flags ...string) (said *record, stop func()) {
	t.Helper()
	said = &record{}
	command := exec.Command("holdco", append([]string{"demo", "--pace", "20ms", "--patience", "50ms", "--thinking", "0"}, flags...)...)
	command.Env = append(os.Environ(), "HOLDCO_URL="+p.url, "HOLDCO_TOKEN="+string(rootToken))
	command.Stdout, command.Stderr = said, said
	must(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	kill := sync.OnceValue(func() error {
		_ = command.Process.Signal(syscall.SIGINT)
		return <-ended
	})
	t.Cleanup(func() { _ = kill() })
	return said, func() {
		t.Helper()
		if err := kill(); err != nil || !strings.Contains(said.String(), "\nStopped. ") {
			t.Errorf("it ended with %v: %s", err, said)
		}
	}
}

func TestTheDemoIsAtWorkUntilItIsStopped(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		server := startProcess(t, environ...)
		client := resttest.New(t, server.url, string(rootToken))
		find := func() company {
			t.Helper()
			all := resttest.Data[[]company](t, client.Get("/v1/companies?slug=demo"))
			if len(all) != 1 {
				t.Fatalf("there are %d companies", len(all))
			}
			return all[0]
		}
		said, stop := server.demonstrates(t)
		for _, what := range []string{" is at work. ", ": filed\n", ": accepted\n", ". approved", ": answered\n", ": assigned\n"} {
			await(t, "what ends with "+what, func() bool { return strings.Contains(said.String(), what) })
		}
		stop()
		first := find()
		has := func(path string) int {
			t.Helper()
			return len(resttest.Data[[]struct{ ID string }](t, client.Get(first.path()+path)))
		}
		sizes := fmt.Sprint(has("/teams"), has("/agents"), has("/goals"), has("/projects"), has("/workflows"))
		if sizes != "3 6 2 3 1" {
			t.Errorf("it has %s", sizes)
		}

		// It goes on with the company that is there, whatever was changed in it.
		client.Patch(first.path(), `{"name":"Another"}`).Is(t, 200, "")
		said, stop = server.demonstrates(t, "--thinking", "1")
		await(t, "an issue", func() bool { return strings.Contains(said.String(), ": filed\n") })
		stop()
		again := fmt.Sprint(has("/teams"), has("/agents"), has("/goals"), has("/projects"), has("/workflows"))
		if find().ID != first.ID || again != sizes {
			t.Errorf("it has %s in %s", again, find().ID)
		}
	})
}
