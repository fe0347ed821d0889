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
	worker := runner.Worker{Gateway: gateway, Programs: &programs{runs: runs}}
	told := agent.Program{Command: []string{"any"}, Usage: usage.HoldcoJSON, Timeout: time.Hour, Grace: time.Minute}
	if change != nil {
		change(&worker, &told)
	}
	began := time.Now()
	err = worker.Work(ctx, theLease(t), told, "", nil)
	return time.Since(began), err
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

// What a request could not have either is output, not a result.
func TestTheResultFileCountsIfARequestCouldHaveIt(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for file, isResult := range map[string]bool{
		`{"a":1}`: true, `[]`: true, nested(31): true,
		nested(32): false, `{"a":1,"a":2}`: false, `{"a":"\ud800"}`: false, `{} {}`: false, `{`: false,
	} {
		gateway := &calls{answers: func(string, int) error { return nil }}
		_, err := work(t.Context(), t, gateway, func(p *program) {
			p.ends(outbound.Exit{Output: "done", Result: []byte(file)})
		}, nil)
		want := `"done"`
		if isResult {
			want = file
		}
		if got := string(gateway.ended.Result); got != want || err != nil {
			t.Errorf("%.40s: the result is %.40s, %v", file, got, err)
		}
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
		if want := []string{"renew", "charge"}; err != nil || took != 20*time.Second || !slices.Equal(gateway.said, want) || left != 1 {
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
		const want = "The program did not end in time. The end of what it wrote:\nhalf\ufffd[0m of it"
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
		worker := runner.Worker{Gateway: gateway, Programs: &programs{refuse: c.refuse}}
		err := worker.Work(t.Context(), lease, agent.Program{}, "", nil)
		failure, isAdapters := errors.AsType[runner.NotStarted](err)
		if isAdapters != c.adapter || err != nil && !isAdapters {
			t.Errorf("%s: %v", name, err)
		}
		if isAdapters {
			must(t, worker.Release(t.Context(), lease, failure.Cause))
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

func TestAProgramComesToWhatItLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exit outbound.Exit
		want string
	}{
		"its result":              {outbound.Exit{Output: "said", Result: []byte(`{"a": 1}`)}, `complete {"a":1}`},
		"the token in it":         {outbound.Exit{Result: []byte(`"hcr_secret"`)}, `complete "[run token]"`},
		"the token in its output": {outbound.Exit{Output: "a hcr_secret\n"}, `complete "a [run token]"`},
		"no JSON":                 {outbound.Exit{Output: "said", Result: []byte("{")}, `complete "said"`},
		"nothing":                 {outbound.Exit{Output: " \n"}, `complete `},
		"too large a result":      {outbound.Exit{Output: "said", ResultIsTooLarge: true}, `fail result_too_large`},
		"failure before all":      {outbound.Exit{Code: 1, ResultIsTooLarge: true}, `fail exit_1`},
		"a signal":                {outbound.Exit{Signal: 9}, `fail signal_9`},
	} {
		gateway := &calls{}
		_, err := work(t.Context(), t, gateway, func(p *program) { p.ends(c.exit) }, nil)
		got := fmt.Sprint(gateway.ended.Action, " ", string(gateway.ended.Result))
		if code := gateway.ended.Failure.Code; code != nil {
			got += *code
		}
		if got != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
	// Each of these characters takes six bytes as JSON.
	gateway := &calls{}
	_, err := work(t.Context(), t, gateway, func(p *program) {
		p.ends(outbound.Exit{Output: "begin" + strings.Repeat("\x01", outbound.MostOutput-10) + "end"})
	}, nil)
	if result := string(gateway.ended.Result); err != nil || len(result) > issue.ResultSize || len(result) < issue.ResultSize/2 ||
		!strings.HasSuffix(result, `end"`) {
		t.Errorf("a result of %d bytes, %v", len(result), err)
	}
}
