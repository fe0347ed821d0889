package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdco/adapters/system"
	"holdco/app/runner"
	"holdco/domain/agent"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/usage"
	"holdco/ports/outbound"
)

// theLease is a lease of a minute.
func theLease(t *testing.T) runner.Lease {
	t.Helper()
	lease, err := runner.ParseLease([]byte(`{"leaseId":"lse_1","fencingToken":7,"leaseSeconds":60,"runToken":"hcr_secret",
		"issue":{"number":3,"title":"Write"},"run":{"id":"run_1"}}`))
	must(t, err)
	return lease
}

// work works on theLease with a program that runs as told, and returns how long that took.
func work(
	ctx context.Context, t *testing.T, gateway *calls, runs func(p *program), change func(w *runner.Worker, p *agent.Program),
) (took time.Duration, err error) {
	t.Helper()
	worker := runner.Worker{Gateway: gateway, Clock: system.Clock{}, Programs: &programs{runs: runs}}
	told := agent.Program{
		Command: []string{"any"}, Usage: usage.HoldcoJSON, Timeout: time.Hour, Grace: time.Minute, GraceAfterEnd: 2 * time.Minute,
	}
	if change != nil {
		change(&worker, &told)
	}
	began := time.Now()
	err = worker.Work(ctx, theLease(t), told, "", nil)
	return time.Since(began), err
}

// workUntil is work with a lease that ends after a while.
func workUntil(
	t *testing.T, gateway *calls, after time.Duration, how runner.Stale, runs func(p *program), kind usage.Kind,
) (took time.Duration) {
	t.Helper()
	told := agent.Program{
		Command: []string{"any"}, Usage: kind, Timeout: time.Hour, Grace: time.Minute, GraceAfterEnd: 2 * time.Minute,
	}
	stale := make(chan runner.Stale, 1)
	time.AfterFunc(after, func() { stale <- how })
	began := time.Now()
	must(t, runner.Worker{Gateway: gateway, Clock: system.Clock{}, Programs: &programs{runs: runs}}.Work(t.Context(),
		theLease(t), told, "", stale))
	return time.Since(began)
}

func TestAProgramWhoseAgentEndsItsLeaseHasTimeForItsLastWords(t *testing.T) {
	t.Parallel()
	const cost = `{"holdco":{"cost":{"kind":"tools","usd":1}}}` + "\n"
	for name, c := range map[string]struct {
		byAgent bool
		runs    func(p *program)
		took    time.Duration
	}{
		"it ends by itself": {true, func(p *program) {
			time.Sleep(time.Minute)
			p.Output([]byte(cost))
			p.ends(outbound.Exit{Code: 1})
		}, time.Minute},
		"it stays": {true, func(p *program) {
			<-p.stopped
			p.Output([]byte(cost))
			p.ends(outbound.Exit{Signal: 15})
		}, 5*time.Second + 2*time.Minute},
		"a person ended it": {false, func(p *program) {
			<-p.stopped
			p.Output([]byte(cost))
			p.ends(outbound.Exit{Signal: 15})
		}, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gateway := &calls{}
				took := workUntil(t, gateway, 5*time.Second, runner.Stale{ByAgent: c.byAgent}, c.runs, usage.HoldcoJSON)
				if took != c.took || !slices.Equal(gateway.said, []string{"charge"}) || len(gateway.charged) != 1 {
					t.Errorf("%v after %s", gateway.said, took)
				}
			})
		})
	}
}

// A refusal to renew tells who ended the lease, too.
func TestARefusalToRenewTellsThatTheAgentEndedTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refusal := fault.New(fault.StaleLease, "It has ended.").With("endedByAgent", true)
		gateway := &calls{answers: func(call string, _ int) error { return ifTrue(call == "renew", refusal) }}
		took, err := work(t.Context(), t, gateway, func(p *program) {
			<-p.stopped
			p.ends(outbound.Exit{})
		}, nil)
		if want := 20*time.Second + 2*time.Minute; err != nil || took != want || !slices.Equal(gateway.said, []string{"renew"}) {
			t.Errorf("%v, %v after %s", gateway.said, err, took)
		}
	})
}

func TestAProgramThatSaysItIsDoneIsStoppedAfterAWhile(t *testing.T) {
	t.Parallel()
	const message = `{"type":"assistant","message":{"id":"msg_%d","role":"assistant","model":"m","content":[],` +
		`"usage":{"input_tokens":1}}}` + "\n"
	for name, c := range map[string]struct {
		runs func(p *program)
		took time.Duration
	}{
		"it stays": {func(p *program) {
			p.Output(fmt.Appendf(nil, succeeded, "Done."))
			<-p.stopped
			p.ends(outbound.Exit{Signal: 15})
		}, 2 * time.Minute},
		"it works on": {func(p *program) {
			p.Output(fmt.Appendf(nil, succeeded, "Half."))
			time.Sleep(time.Minute)
			p.Output(fmt.Appendf(nil, message, 2))
			time.Sleep(10 * time.Minute)
			p.Output(fmt.Appendf(nil, succeeded, "Done."))
			<-p.stopped
			p.ends(outbound.Exit{Signal: 9})
		}, 13 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gateway := &calls{}
				took, err := work(t.Context(), t, gateway, c.runs, func(_ *runner.Worker, p *agent.Program) { p.Usage = usage.ClaudeJSON })
				if end := gateway.ended; err != nil || took != c.took || end.Action != issue.Complete || string(end.Result) != `"Done."` {
					t.Errorf("%+v, %v after %s", end, err, took)
				}
			})
		})
	}
}

func TestAnEndIsRepeatedWhileTheLeaseMayLast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers func(call string, n int) error
		took    time.Duration
		said    int
		fails   bool
	}{
		"at once":                {took: 0, said: 1},
		"when the store is back": {func(_ string, n int) error { return ifTrue(n <= 3, unavailable) }, 3 * time.Second, 4, false},
		"when it is reached": {
			func(_ string, n int) error { return ifTrue(n <= 2, errors.New("no route to host")) }, 2 * time.Second, 3, false,
		},
		"never":                 {func(string, int) error { return unavailable }, 11 * time.Minute, 660, true},
		"a refusal stays one":   {func(string, int) error { return fault.New(fault.ValidationFailed, "No.") }, 0, 1, true},
		"the lease had ended":   {func(string, int) error { return fault.New(fault.StaleLease, "It has ended.") }, 0, 1, false},
		"somebody else ends it": {func(string, int) error { return fault.New(fault.CompanyArchived, "No.") }, 0, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gateway := &calls{answers: c.answers}
				took, err := work(t.Context(), t, gateway, succeeds, nil)
				if took != c.took || (err != nil) != c.fails || gateway.counts["complete"] < c.said {
					t.Errorf("%v after %s and %v", err, took, gateway.said)
				}
				if !c.fails && c.took > 0 && string(gateway.ended.Result) != `"done"` {
					t.Errorf("%+v", gateway.ended)
				}
			})
		})
	}
}

func TestAResultThatIsRefusedFailsTheAttempt(t *testing.T) {
	t.Parallel()
	refusal := fault.New(fault.PayloadTooLarge, "It is too large.")
	gateway := &calls{answers: func(call string, _ int) error { return ifTrue(call == "complete", refusal) }}
	_, err := work(t.Context(), t, gateway, succeeds, nil)
	if end := gateway.ended; !errors.Is(err, refusal) || end.Action != issue.Fail || *end.Failure.Code != "result_refused" {
		t.Errorf("%v: %+v", err, end)
	}
}

func ifTrue(holds bool, err error) error {
	if holds {
		return err
	}
	return nil
}

func TestALeaseIsRenewedWhileItsProgramRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gateway := &calls{answers: func(call string, n int) error { return ifTrue(call == "renew" && (n == 2 || n == 3), unavailable) }}
		_, err := work(t.Context(), t, gateway, func(p *program) {
			time.Sleep(70 * time.Second) // renewed after 20, tried at 40, 41 and 42, then renewed at 62
			succeeds(p)
		}, nil)
		if want := []string{"renew", "renew", "renew", "renew", "renew", "complete"}; err != nil || !slices.Equal(gateway.said, want) {
			t.Errorf("%v, %v", gateway.said, err)
		}
	})
}

func TestAProgramWhoseLeaseHasEndedIsStoppedAndItsCostTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gateway := &calls{answers: func(call string, _ int) error { return ifTrue(call == "renew", fault.New(fault.StaleLease, "No.")) }}
		left := 0
		took, err := work(t.Context(), t, gateway, func(p *program) {
			p.Output([]byte(`{"holdco":{"cost":{"kind":"tools","usd":1}}}` + "\n"))
			<-p.stopped
			p.ends(outbound.Exit{Signal: 15})
		}, func(w *runner.Worker, _ *agent.Program) { w.Left = func() { left++ } })
		if want := []string{"charge", "renew"}; err != nil || took != 20*time.Second || !slices.Equal(gateway.said, want) || left != 1 {
			t.Errorf("%v, %v after %s; left %d times", gateway.said, err, took, left)
		}
	})
}

// The company of an agent is gone: whoever may have its directory looked after is told, also when the program ended first.
func TestItIsToldWhenTheCompanyOfAProgramIsGone(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]int{fault.NotFound: 1, fault.Unauthorized: 1, fault.StaleLease: 0, fault.CompanyArchived: 0} {
		gateway := &calls{answers: func(string, int) error { return fault.New(code, "No.") }}
		left := 0
		_, err := work(t.Context(), t, gateway, succeeds, func(w *runner.Worker, _ *agent.Program) { w.Left = func() { left++ } })
		if err != nil || left != want {
			t.Errorf("%s: it is told %d times, %v", code, left, err)
		}
	}
}

func TestAProgramIsKilledWhenHoldcoStopsAndItDoesNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		longest, took time.Duration
	}{"within the longest stop": {5 * time.Second, 6 * time.Second}, "after its grace": {0, time.Minute + time.Second}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				gateway := &calls{}
				took, err := work(ctx, t, gateway, func(p *program) {
					<-p.stopped
					select {
					case <-p.killed:
					case <-time.After(p.Grace):
					}
					p.ends(outbound.Exit{Signal: 9})
				}, func(w *runner.Worker, _ *agent.Program) { w.LongestStop = c.longest })
				if err != nil || took != c.took || gateway.ended.Action != issue.Release || gateway.ended.Failure.Code != nil {
					t.Errorf("%+v, %v after %s", gateway.ended, err, took)
				}
			})
		})
	}
}

func TestAProgramThatTakesTooLongIsStoppedAndFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gateway := &calls{}
		took, err := work(t.Context(), t, gateway, func(p *program) {
			<-p.stopped
			time.Sleep(time.Second)
			p.ends(outbound.Exit{Output: "half\x1b[0m of it\n"})
		}, func(_ *runner.Worker, p *agent.Program) { p.Timeout = 10 * time.Second })
		const want = "The program did not end in time. It wrote:\nhalf\ufffd[0m of it"
		code, message := *gateway.ended.Failure.Code, *gateway.ended.Failure.Message
		if err != nil || took != 11*time.Second || code != "timeout" || message != want {
			t.Errorf("%s: %q, %v after %s", code, message, err, took)
		}
	})
}

func TestWhatCannotBeStartedIsAFailureOfTheAdapterOrOfTheAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse  error
		adapter bool
		code    string
	}{
		"the adapter": {errNoProgram, true, "adapter_failed"},
		"the attempt": {outbound.WorkspaceError{Cause: errors.New("there is no such directory")}, false, "workspace"},
	} {
		gateway, lease := &calls{}, theLease(t)
		worker := runner.Worker{Gateway: gateway, Clock: system.Clock{}, Programs: &programs{refuse: c.refuse}}
		err := worker.Work(t.Context(), lease, agent.Program{}, "", nil)
		failure, isAdapters := errors.AsType[runner.NotStarted](err)
		if isAdapters != c.adapter || err != nil && !isAdapters {
			t.Errorf("%s: %v", name, err)
		}
		if isAdapters {
			must(t, worker.Release(t.Context(), lease, failure))
		}
		if end := gateway.ended.Failure; *end.Code != c.code || *end.Message != c.refuse.Error() {
			t.Errorf("%s: %s, %s", name, *end.Code, *end.Message)
		}
	}
}

func TestCostsAreToldInPortionsAndTheLeaseEndsWhateverComesOfThem(t *testing.T) {
	t.Parallel()
	spends := func(p *program) {
		p.Output([]byte(strings.Repeat(`{"holdco":{"cost":{"kind":"tools","usd":1}}}`+"\n", 2*cost.MostInCall+1)))
		succeeds(p)
	}
	for name, c := range map[string]struct {
		refuse  error
		charged int
		calls   int
	}{"taken": {nil, 2*cost.MostInCall + 1, 3}, "refused": {fault.New(fault.ValidationFailed, "No."), cost.MostInCall, 2}} {
		gateway := &calls{answers: func(call string, n int) error { return ifTrue(call == "charge" && n == 2, c.refuse) }}
		_, err := work(t.Context(), t, gateway, spends, nil)
		if len(gateway.charged) != c.charged || gateway.counts["charge"] != c.calls || gateway.counts["complete"] != 1 {
			t.Errorf("%s: %d are charged by %v", name, len(gateway.charged), gateway.said)
		}
		if !errors.Is(err, c.refuse) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestItIsToldWhenCostsCannotBeRead(t *testing.T) {
	t.Parallel()
	spends := func(p *program) {
		p.Output([]byte(`{"holdco":{"cost":{"kind":"tools","usd":1}}}` + "\n" + `{"holdco":{"cost":{"kind":"tools","usd":"much"}}}` + "\n"))
		succeeds(p)
	}
	gateway := &calls{answers: func(string, int) error { return nil }}
	var told []string
	_, err := work(t.Context(), t, gateway, spends, func(w *runner.Worker, _ *agent.Program) {
		w.Warn = func(err error) { told = append(told, err.Error()) }
	})
	const want = "1 charges that the program of run run_1 reported could not be read, or not in full"
	if err != nil || len(gateway.charged) != 1 || !slices.Equal(told, []string{want}) {
		t.Errorf("%v: %d are charged, and told is %q", err, len(gateway.charged), told)
	}
}
