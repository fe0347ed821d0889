package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdco/adapters/system"
	"holdco/app/runner"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/outbound"
)

// distant is what Remote works with: a gateway that answers as the test says, and what it said to people.
type distant struct {
	runner.Remote

	gateway  *calls
	programs *programs

	mutex  sync.Mutex
	said   []string
	claims []string    // the keys and how long to wait
	times  []time.Time // of all calls of Who and Claim
	issues int         // how many there are still to claim
	reason string      // why leases have ended
}

func newDistant() *distant {
	d := &distant{gateway: &calls{}, programs: &programs{runs: succeeds}, issues: 1}
	say := func(line string) {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		d.said = append(d.said, line)
	}
	keys := 0
	d.Remote = runner.Remote{
		Who: func(context.Context) (string, error) { return "Ada works.", nil },
		Key: func() string {
			keys++
			return fmt.Sprint("key-", keys)
		},
		Claim: d.claim,
		Ended: func(_ context.Context, runToken access.Value, _ id.Lease) (string, bool, error) {
			if runToken == "" { // that of the agent may have ended
				return "", false, fault.New(fault.Unauthorized, "No.")
			}
			d.mutex.Lock()
			defer d.mutex.Unlock()
			return d.reason, false, nil
		},
		Gateway:  func(access.Value) runner.Gateway { return d.gateway },
		Programs: d.programs,
		Clock:    system.Clock{},
		Duty:     agent.Duty{Program: &agent.Program{Command: []string{"any"}, Timeout: time.Hour, Grace: time.Minute}, Concurrent: 1},
		IsOnce:   true,
		Say:      say,
		Warn:     func(err error) { say("! " + err.Error()) },
	}
	return d
}

// claim leases an issue while there is one, and else waits as long as the gateway would.
func (d *distant) claim(ctx context.Context, key string, wait int) ([]byte, error) {
	d.mutex.Lock()
	d.claims, d.times = append(d.claims, fmt.Sprint(key, " ", wait)), append(d.times, time.Now())
	has := d.issues > 0
	if has {
		d.issues--
	}
	d.mutex.Unlock()
	if has {
		return []byte(`{"leaseId":"lse_1","fencingToken":1,"leaseSeconds":60,"runToken":"hcr_some",
			"issue":{"number":7,"title":"Write","attempt":2}}`), nil
	}
	select {
	case <-time.After(time.Duration(wait) * time.Second):
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// had is what was said, without what is said at every start.
func (d *distant) had() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.DeleteFunc(slices.Clone(d.said), func(line string) bool { return line == "Ada works." })
}

func (d *distant) says(t *testing.T, want ...string) {
	t.Helper()
	if got := d.had(); !slices.Equal(got, want) {
		t.Errorf("it says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// stopAfter ends the context after a time.
func stopAfter(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(d, cancel)
	return ctx
}

func TestWhatCannotBeReachedIsTriedLessAndLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDistant()
		answers := []error{
			errors.New("no route to host"), unavailable, fault.New(fault.CompanyArchived, "It is archived."), unavailable,
			&fault.Error{Code: fault.RateLimited, Message: "Too many.", RetryAfter: 50 * time.Second}, unavailable, unavailable, nil,
		}
		var pauses []int
		last := time.Now()
		d.Who = func(context.Context) (string, error) {
			pauses = append(pauses, int(time.Since(last)/time.Second))
			last = time.Now()
			err := answers[0]
			answers = answers[1:]
			return "Ada works.", err
		}
		must(t, d.Run(t.Context()))
		if want := []int{0, 1, 2, 4, 8, 50, 30, 30}; !slices.Equal(pauses, want) {
			t.Errorf("the pauses are %v, want %v", pauses, want)
		}
		d.says(t, "! no route to host; trying again", "The gateway answers again.", "#7 Write, attempt 2", "#7 Write: completed")
	})
}

func TestARefusalEndsTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDistant()
		refused := fault.New(fault.Unauthorized, "No.")
		d.Who = func(context.Context) (string, error) { return "", refused }
		if err := d.Run(t.Context()); !errors.Is(err, refused) {
			t.Errorf("%v", err)
		}

		// What runs is finished first.
		d = newDistant()
		d.IsOnce, d.Duty.Concurrent = false, 2
		claim := d.Claim
		d.Claim = func(ctx context.Context, key string, wait int) ([]byte, error) {
			if key == "key-2" {
				return nil, refused
			}
			return claim(ctx, key, wait)
		}
		d.programs.runs = func(p *program) {
			time.Sleep(time.Minute)
			succeeds(p)
		}
		if err := d.Run(t.Context()); !errors.Is(err, refused) {
			t.Errorf("%v", err)
		}
		d.says(t, "#7 Write, attempt 2", "No more issues are claimed; what runs is finished.", "#7 Write: completed")
	})
}

func TestClaimsThatAreAnsweredAtOnceAreKeptApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDistant()
		d.IsOnce, d.issues = false, 0
		d.Claim = func(ctx context.Context, key string, _ int) ([]byte, error) { return d.claim(ctx, key, 0) }
		must(t, d.Run(stopAfter(t, 3500*time.Millisecond)))
		if want := []string{"key-1 0", "key-1 0", "key-1 0", "key-1 0"}; !slices.Equal(d.claims, want) {
			t.Errorf("the claims are %v", d.claims)
		}
		d.says(t)
	})
}

func TestWhatWasClaimedWhileItStopsIsGivenBack(t *testing.T) {
	t.Parallel()
	const unknown = "! whether the last claim got an issue is not known; if so, its lease runs out by itself: "
	const lease = `{"leaseId":"lse_1","leaseSeconds":60,"issue":{"number":7,"title":"Write"}}`
	for name, c := range map[string]struct {
		shown  string // by the claim that is made again; empty: nothing
		fails  error  // the same
		ending error
		want   []string
	}{
		"nothing":     {},
		"an issue":    {shown: lease, want: []string{"#7 Write: released"}},
		"not known":   {fails: unavailable, want: []string{unknown + unavailable.Error()}},
		"a refusal":   {fails: fault.New(fault.Unauthorized, "No.")},
		"no lease":    {shown: `[`, want: []string{unknown + "this is no lease: unexpected end of JSON input"}},
		"no end":      {shown: lease, ending: unavailable, want: []string{unknown + unavailable.Error()}},
		"ended since": {shown: lease, ending: fault.New(fault.StaleLease, "No."), want: []string{"#7 Write: released"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDistant()
				d.IsOnce, d.issues = false, 0
				d.gateway.answers = func(string, int) error { return c.ending }
				d.Claim = func(ctx context.Context, key string, wait int) ([]byte, error) {
					if wait == 0 {
						d.claims = append(d.claims, key)
						if c.shown == "" {
							return nil, c.fails
						}
						return []byte(c.shown), nil
					}
					return d.claim(ctx, key, wait)
				}
				began := time.Now()
				must(t, d.Run(stopAfter(t, 5*time.Second)))
				if took := time.Since(began); took > 15*time.Second || len(d.claims) != 2 || d.claims[1] != "key-1" {
					t.Errorf("after %s the claims are %v", took, d.claims)
				}
				d.says(t, c.want...)
				if len(d.programs.had()) > 0 {
					t.Error("a program was started")
				}
			})
		})
	}
}

func TestARemoteProgramIsStoppedWhenItsLeaseHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDistant()
		time.AfterFunc(7*time.Second, func() {
			d.mutex.Lock()
			defer d.mutex.Unlock()
			d.reason = "cancelled"
		})
		began := time.Now()
		d.programs.runs = func(p *program) {
			<-p.stopped
			p.ends(outbound.Exit{Signal: 15})
		}
		must(t, d.Run(t.Context()))
		if took := time.Since(began); took != 10*time.Second || len(d.gateway.said) > 0 {
			t.Errorf("after %s: %v", took, d.gateway.said)
		}
		d.says(t, "#7 Write, attempt 2", "#7 Write: its lease had ended: cancelled")
	})
}

func TestARemoteProgramThatCannotBeStartedEndsTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDistant()
		d.IsOnce = false
		d.programs.refuse = errNoProgram
		if err := d.Run(t.Context()); !errors.Is(err, errNoProgram) {
			t.Errorf("%v", err)
		}
		if end := d.gateway.ended; end.Action != issue.Release || *end.Failure.Code != "adapter_failed" {
			t.Errorf("%+v", end)
		}
		d.says(t, "#7 Write, attempt 2", "#7 Write: released: there is no such program")
	})
}

func TestTheEndWaitsForLeasesNoLongerThanTheyNeed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers func(call string, n int) error
		took    time.Duration
		fails   bool
	}{
		"the gateway answers":      {func(_ string, n int) error { return ifTrue(n < 3, unavailable) }, 2 * time.Second, false},
		"the gateway is not there": {func(string, int) error { return unavailable }, 90 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDistant()
				d.IsOnce = false
				d.gateway.answers = func(call string, n int) error { return ifTrue(call == "release", c.answers(call, n)) }
				d.programs.runs = func(p *program) {
					<-p.stopped
					if c.fails {
						time.Sleep(p.Grace)
					}
					p.ends(outbound.Exit{Signal: 15})
				}
				began := time.Now()
				err := d.Run(stopAfter(t, 5*time.Second))
				if took := time.Since(began) - 5*time.Second; (err != nil) != c.fails || took != c.took {
					t.Errorf("%v after %s", err, took)
				}
				time.Sleep(15 * time.Minute) // until nothing is tried any more
			})
		})
	}
}

func TestWhatAnEarlierProcessLeftIsEndedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDistant()
		d.programs.left, d.issues = []string{"gone"}, 0
		must(t, d.Run(t.Context()))
		d.says(t, "An earlier process was killed; what it left running has ended now.", "There is nothing to do.")
		if !slices.Equal(d.programs.forgotten, []string{"gone"}) {
			t.Errorf("forgotten are %v", d.programs.forgotten)
		}
		d.programs.broken = errors.New("the disk is full")
		if err := d.Run(t.Context()); !errors.Is(err, d.programs.broken) || len(d.claims) != 1 {
			t.Errorf("%v after %v", err, d.claims)
		}
	})
}

func TestItIsSaidHowALeaseEnded(t *testing.T) {
	t.Parallel()
	stale := fault.New(fault.StaleLease, "It has ended.").With("reason", "expired")
	for want, c := range map[string]struct {
		exit    outbound.Exit
		answers func(call string, n int) error
	}{
		"#7 Write: completed": {},
		"#7 Write: failed: The program ended with exit code 3.": {exit: outbound.Exit{Code: 3, Output: "a\nb"}},
		"#7 Write: its lease had ended: expired": {
			answers: func(string, int) error { return stale },
		},
		"#7 Write: its lease had ended: unauthorized": {
			answers: func(string, int) error { return fault.New(fault.Unauthorized, "No.") },
		},
		"! #7 Write: validation_failed: No.": {answers: func(call string, _ int) error {
			return ifTrue(call == "complete", fault.New(fault.ValidationFailed, "No."))
		}},
	} {
		d := newDistant()
		d.gateway.answers = c.answers
		d.programs.runs = func(p *program) { p.ends(c.exit) }
		must(t, d.Run(t.Context()))
		d.says(t, "#7 Write, attempt 2", want)
	}
}
