package jobs_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdco/app/jobs"
)

// record is an outbound.Log that keeps what is logged.
type record struct {
	mutex  sync.Mutex
	causes []string
}

func (r *record) Error(_ context.Context, _ string, cause error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.causes = append(r.causes, cause.Error())
}

// runFor runs jobs for a while on a clock of its own.
func runFor(t *testing.T, while time.Duration, log *record, all ...jobs.Job) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), while)
	defer stop()
	jobs.Run(ctx, log, all...)
}

func TestAJobRunsAtOnceThenAtItsPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var runs []time.Duration
		runFor(t, 25*time.Second, &record{}, jobs.Job{Every: 10 * time.Second, Run: func(context.Context) (bool, error) {
			runs = append(runs, time.Since(start))
			return false, nil
		}})
		if want := []time.Duration{0, 10 * time.Second, 20 * time.Second}; !slices.Equal(runs, want) {
			t.Errorf("it ran at %v, not at %v", runs, want)
		}
	})
}

func TestAJobForLaterDoesNotRunAtTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var runs []time.Duration
		run := func(context.Context) (bool, error) {
			runs = append(runs, time.Since(start))
			return false, nil
		}
		runFor(t, 25*time.Second, &record{}, jobs.Job{Every: 10 * time.Second, Later: true, Run: run})
		runFor(t, 5*time.Second, &record{}, jobs.Job{Every: 10 * time.Second, Later: true, Run: run})
		if want := []time.Duration{10 * time.Second, 20 * time.Second}; !slices.Equal(runs, want) {
			t.Errorf("it ran at %v, not at %v", runs, want)
		}
	})
}

func TestAJobThatHasMoreToDoDoesNotPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		runFor(t, time.Second, &record{}, jobs.Job{Every: time.Hour, Run: func(context.Context) (bool, error) {
			runs++
			return runs < 5, nil
		}})
		if runs != 5 {
			t.Errorf("it ran %d times", runs)
		}
	})
}

func TestWakeEndsAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		runs := 0
		time.AfterFunc(time.Minute, func() { wake <- struct{}{} })
		runFor(t, 2*time.Minute, &record{}, jobs.Job{Every: time.Hour, Wake: wake, Run: func(context.Context) (bool, error) {
			runs++
			return false, nil
		}})
		if runs != 2 {
			t.Errorf("it ran %d times", runs)
		}
	})
}

func TestFailuresRestAndOnlyTheFirstOfARowIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log record
		runs := 0
		runFor(t, 5500*time.Millisecond, &log, jobs.Job{Every: time.Second, Run: func(context.Context) (bool, error) {
			switch runs++; runs {
			case 3:
				return false, nil
			case 5:
				panic("out of order")
			}
			return true, errors.New("no store")
		}})
		if runs != 6 || len(log.causes) != 2 || log.causes[0] != "no store" || log.causes[1] != "no store" {
			t.Errorf("%d runs, %q", runs, log.causes)
		}
	})
}

func TestAPanicEndsNeitherTheJobNorTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log record
		panics, others := 0, 0
		runFor(t, 2500*time.Millisecond, &log,
			jobs.Job{Every: time.Second, Run: func(context.Context) (bool, error) { panics++; panic("out of order") }},
			jobs.Job{Every: time.Second, Run: func(context.Context) (bool, error) { others++; return false, nil }})
		if panics != 3 || others != 3 || len(log.causes) != 1 {
			t.Errorf("%d panics, %d others, %d causes", panics, others, len(log.causes))
		}
	})
}
