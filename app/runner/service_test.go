package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdco/app/runner"
	"holdco/domain/agent"
	"holdco/domain/page"
	"holdco/domain/usage"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

const (
	aProgram = `{"command":["any"]}`
	aURL     = `{"url":"https://agents.example.com"}`
)

// inBubble runs a test on a fixture with room for so many programs.
func inBubble(t *testing.T, processes int, run func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run(t, newFixture(t, runner.Settings{Processes: processes, LongestStop: time.Second}))
	})
}

func TestAnAdapterThatFailsIsTriedLessAndLessOften(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		f.programs.refuse = errNoProgram
		ada := f.hire(agent.ProcessAdapter, aProgram)
		task := f.file("Write", ada)
		f.run(21 * time.Minute)
		var pauses []time.Duration
		for n, at := range f.programs.times[1:] {
			pauses = append(pauses, at.Sub(f.programs.times[n]))
		}
		want := []time.Duration{5, 10, 20, 40, 80, 160, 300, 300, 300}
		for n, pause := range want[:min(len(want), len(pauses))] {
			if least := pause * time.Second; pauses[n] < least || pauses[n] > least+time.Second {
				t.Errorf("the pauses are %v", pauses)
				break
			}
		}
		if len(pauses) != len(want) || len(f.log.lines) != 1 {
			t.Errorf("%d pauses; the log has %q", len(pauses), f.log.lines)
		}
		f.programs.refuse, f.programs.runs = nil, succeeds
		f.run(5 * time.Minute)
		if got := f.status(task); !strings.HasPrefix(got, "review 1: cancelled") || !strings.HasSuffix(got, "succeeded/completed") {
			t.Error(got)
		}
		now, err := f.store.Agents().Get(t.Context(), ada.ID)
		if must(t, err); now.Stats.AdapterFailures != 0 || !now.Stats.RetryAt.IsZero() {
			t.Errorf("%+v", now.Stats)
		}
		f.stop()
	})
}

func TestWhoWaitsLongestIsServedFirst(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fixture) {
		f.programs.runs = func(p *program) {
			time.Sleep(1500 * time.Millisecond)
			succeeds(p)
		}
		all := []agent.Agent{f.hire(agent.ProcessAdapter, aProgram), f.hire(agent.ProcessAdapter, aProgram)}
		for range 3 {
			for _, one := range all {
				f.file("Write", one)
			}
		}
		f.run(20 * time.Second)
		var served []string
		for _, one := range f.programs.had() {
			served = append(served, one.Env["HOLDCO_AGENT_ID"])
		}
		if len(served) != 6 || served[0] == served[1] || !slices.Equal(served[:2], served[2:4]) || !slices.Equal(served[:2], served[4:]) {
			t.Errorf("served were %v", served)
		}
		f.stop()
	})
}

func TestProgramsRunOnWhileTheStoreFails(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		finish := make(chan struct{})
		f.programs.runs = func(p *program) {
			<-finish
			succeeds(p)
		}
		task := f.file("Write", f.hire(agent.ProcessAdapter, aProgram))
		f.run(time.Second)
		f.store.open = unavailable
		if failures := f.run(3 * time.Second); len(failures) != 3 || !errors.Is(failures[0], unavailable) {
			t.Errorf("%v", failures)
		}
		if is(f.programs.had()[0].stopped) {
			t.Error("the program was stopped")
		}
		f.gateway.set(f.gateway.before, "end", unavailable)
		close(finish)
		time.Sleep(10 * time.Second)
		f.store.open = nil
		f.gateway.set(f.gateway.before, "end", nil)
		f.run(2 * time.Second)
		if got := f.status(task); got != "review 1: succeeded/completed" || len(f.log.lines) > 0 {
			t.Errorf("%s; the log has %q", got, f.log.lines)
		}
		f.stop()
	})
}

func TestAProgramWhoseLeaseHasEndedIsStopped(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		f.programs.runs = func(p *program) {
			<-p.stopped
			p.ends(outbound.Exit{Signal: 15})
		}
		task := f.file("Write", f.hire(agent.ProcessAdapter, aProgram))
		f.run(time.Second)
		f.cancel(task)
		f.run(2 * time.Second)
		if got := f.status(task); got != "cancelled 1: cancelled/cancelled" || f.left != 1 {
			t.Errorf("%s; it is told %d times that a company may be gone", got, f.left)
		}
		f.stop()
	})
}

// The store fails in the moment of a claim: after the commit, or while what is around the issue is read.
func TestALeaseThatNobodyWorksOnIsGivenBack(t *testing.T) {
	for _, when := range []string{"claim", "context"} {
		for adapter, config := range map[string]string{agent.ProcessAdapter: aProgram, agent.HTTPAdapter: aURL} {
			if adapter == agent.HTTPAdapter && when == "claim" {
				continue // nobody knows of the lease: it runs out
			}
			t.Run(when+" of "+adapter, func(t *testing.T) {
				inBubble(t, 2, func(t *testing.T, f *fixture) {
					f.programs.runs = succeeds
					f.poster = func(context.Context, outbound.Offer) (outbound.OfferAnswer, error) {
						return outbound.OfferAnswer{IsComplete: true}, nil
					}
					task := f.file("Write", f.hire(adapter, config))
					f.gateway.set(f.gateway.after, when, unavailable)
					if failures := f.run(time.Second); len(failures) != 1 || !errors.Is(failures[0], unavailable) {
						t.Errorf("%v", failures)
					}
					f.gateway.set(f.gateway.after, when, nil)
					f.run(3 * time.Second)
					if got := f.status(task); got != "review 1: cancelled/released succeeded/completed" {
						t.Error(got)
					}
					f.stop()
				})
			})
		}
	}
}

func TestALeaseThatNobodyWorksOnIsGivenBackAtTheEnd(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		task := f.file("Write", f.hire(agent.ProcessAdapter, aProgram))
		f.gateway.set(f.gateway.after, "claim", unavailable)
		f.run(time.Second)
		f.store.open = unavailable
		if err := f.service.Stop(t.Context()); !errors.Is(err, unavailable) {
			t.Errorf("%v", err)
		}
		if len(f.programs.forgotten) > 0 {
			t.Error("the next start does not find the lease")
		}
		f.store.open = nil
		f.stop()
		if got := f.status(task); got != "queued 1: cancelled/released" {
			t.Error(got)
		}
		if !slices.Equal(f.programs.forgotten, []string{f.programs.Holder()}) {
			t.Errorf("forgotten are %v", f.programs.forgotten)
		}
	})
}

func TestAnAgentWaitsAfterItsAdapterFailed(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		f.programs.refuse = errNoProgram
		task := f.file("Write", f.hire(agent.ProcessAdapter, aProgram))
		f.run(time.Second)
		f.programs.refuse, f.programs.runs = nil, succeeds
		f.run(3 * time.Second)
		if got := f.status(task); got != "queued 1: cancelled/released" || len(f.log.lines) != 1 {
			t.Errorf("%s; the log has %q", got, f.log.lines)
		}
		f.run(4 * time.Second)
		if got := f.status(task); got != "review 1: cancelled/released succeeded/completed" {
			t.Error(got)
		}
		f.stop()
	})
}

func TestAnAdapterThatPanicsHoldsUpNothing(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		panics := true
		f.poster = func(context.Context, outbound.Offer) (outbound.OfferAnswer, error) {
			if panics {
				panic("the poster is broken")
			}
			return outbound.OfferAnswer{IsComplete: true}, nil
		}
		ada := f.hire(agent.HTTPAdapter, aURL)
		f.file("Write", ada)
		f.run(time.Second)
		panics = false
		next := f.file("Write more", f.hire(agent.HTTPAdapter, aURL))
		f.run(2 * time.Second)
		if got := f.status(next); got != "review 1: succeeded/completed" || len(f.log.lines) != 1 {
			t.Errorf("%s; the log has %q", got, f.log.lines)
		}
		f.stop()
	})
}

func TestWhatAnotherProcessLeftIsGivenBackOnceTheStoreAnswers(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		ada := f.hire(agent.ProcessAdapter, `{"command":["any"],"maxConcurrent":2}`)
		task := f.file("Write", ada)
		caller := agent.Caller{ID: ada.ID, Company: f.of}
		_, err := f.gateway.Claim(t.Context(), caller, inbound.Claim{Holder: "gone"})
		must(t, err)
		f.programs.left, f.programs.runs, f.store.open = []string{"gone"}, succeeds, unavailable
		if failures := f.run(5 * time.Second); len(failures) != 1 || !errors.Is(failures[0], unavailable) {
			t.Errorf("%v", failures) // it looks every ten seconds
		}
		f.store.open, f.programs.broken = nil, errors.New("the disk is full")
		if failures := f.run(10 * time.Second); len(failures) != 1 || !errors.Is(failures[0], f.programs.broken) {
			t.Errorf("%v", failures)
		}
		f.programs.broken = nil
		if len(f.programs.forgotten) > 0 {
			t.Error("the process is forgotten, and its leases are not released")
		}
		f.run(12 * time.Second)
		if got := f.status(task); got != "review 1: cancelled/released succeeded/completed" {
			t.Error(got)
		}
		if !slices.Equal(f.programs.forgotten, []string{"gone"}) {
			t.Errorf("forgotten are %v", f.programs.forgotten)
		}
		f.stop()
	})
}

func TestARequestThatTheEndOfHoldcoBreaksOffIsNoFailure(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		f.poster = func(ctx context.Context, _ outbound.Offer) (outbound.OfferAnswer, error) {
			<-ctx.Done()
			return outbound.OfferAnswer{}, errors.New("there is no answer")
		}
		ada := f.hire(agent.HTTPAdapter, aURL)
		task := f.file("Write", ada)
		f.run(time.Second)
		f.stop()
		now, err := f.store.Agents().Get(t.Context(), ada.ID)
		must(t, err)
		if got := f.status(task); got != "queued 1: cancelled/released" || now.Stats.AdapterFailures != 0 || len(f.log.lines) > 0 {
			t.Errorf("%s; %+v; %q", got, now.Stats, f.log.lines)
		}
	})
}

func TestTheEndDoesNotWaitForEverForPrograms(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fixture) {
		finish := make(chan struct{})
		f.programs.runs = func(p *program) {
			<-finish
			p.ends(outbound.Exit{Signal: 9})
		}
		f.file("Write", f.hire(agent.ProcessAdapter, aProgram))
		f.run(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := f.service.Stop(ctx); err == nil || !strings.Contains(err.Error(), "the next start ends their leases") {
			t.Errorf("%v", err)
		}
		if !is(f.programs.had()[0].killed) {
			t.Error("the program was not killed")
		}
		close(finish)
		f.stop()
	})
}

func TestAProgramIsGivenSecretsThatAreHiddenUntilItEnds(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fixture) {
		f.secrets.values = map[string]string{"one": "first value", "two": "abc"}
		ada := f.hire(agent.ProcessAdapter, `{"command":["any"],"env":{"A":{"secret":"one"},"B":{"secret":"two"},"C":"text"}}`)
		task := f.file("Write", ada)
		f.run(time.Second)
		program := f.programs.had()[0]
		if program.Env["A"] != "first value" || program.Env["B"] != "abc" || program.Env["C"] != "text" {
			t.Errorf("the environment is %v", program.Env)
		}
		const said, want = "first value, Zmlyc3QgdmFsdWU=, abc", "[secret one], [secret one], abc" // which is too short
		if got := program.Hidden.Text(said); got != want {
			t.Errorf("shown is %q", got)
		}
		if len(f.secrets.given) != 1 {
			t.Fatalf("%d leases have secrets", len(f.secrets.given))
		}
		for _, hidden := range f.secrets.given {
			if got := hidden.Text(said); got != want {
				t.Errorf("shown is %q", got)
			}
		}
		program.ends(outbound.Exit{Output: said})
		f.run(time.Second)
		if got := f.status(task); got != "review 1: succeeded/completed" || len(f.secrets.given) != 0 {
			t.Errorf("%s; %d leases have secrets", got, len(f.secrets.given))
		}
	})
}

func TestASecretThatIsNotThereIsAFailureOfTheAdapterAndAStoreThatFailsIsNone(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fixture) {
		ada := f.hire(agent.ProcessAdapter, `{"command":["any"],"env":{"A":{"secret":"one"}}}`)
		task := f.file("Write", ada)
		failures := func() int {
			now, err := f.store.Agents().Get(t.Context(), ada.ID)
			must(t, err)
			return now.Stats.AdapterFailures
		}
		f.secrets.broken = unavailable
		f.run(3 * time.Second)
		if got := f.status(task); failures() != 0 || strings.Contains(got, "succeeded") || len(f.programs.had()) != 0 {
			t.Errorf("%s; %d failures", got, failures())
		}
		f.secrets.broken = nil
		f.run(5 * time.Second)
		if got := f.status(task); failures() != 1 || !strings.HasPrefix(got, "queued 1:") || len(f.programs.had()) != 0 {
			t.Errorf("%s; %d failures", got, failures())
		}
		f.secrets.values, f.programs.runs = map[string]string{"one": "value"}, succeeds
		f.run(time.Minute)
		if got := f.status(task); failures() != 0 || !strings.HasPrefix(got, "review 1:") {
			t.Errorf("%s; %d failures", got, failures())
		}
	})
}

func TestNoPartOfASecretIsLeftWhereAMessageIsCut(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fixture) {
		value := strings.Repeat("0123456789", 10)
		f.secrets.values = map[string]string{"one": value}
		ada := f.hire(agent.ProcessAdapter, `{"command":["any"],"usage":"claude-json","env":{"A":{"secret":"one"}}}`)
		task := f.file("Write", ada)
		f.programs.runs = func(p *program) {
			p.Output([]byte(`{"type":"result","is_error":true,"total_cost_usd":0,"usage":{},"result":"` +
				strings.Repeat("x", usage.MessageLength-50) + value + `"}` + "\n"))
			p.ends(outbound.Exit{})
		}
		f.run(time.Second)
		all, err := f.store.Runs().List(t.Context(), task.ID, page.Position{}, 1)
		must(t, err)
		if got := string(all.Items[0].Fields().Append(nil)); strings.Contains(got, "0123") || !strings.Contains(got, "xxx") {
			t.Errorf("the run shows %s", got)
		}
	})
}
