package jobs

import (
	"context"
	"sync"
	"time"

	"holdco/domain/fault"
	"holdco/ports/outbound"
)

// Job is background work that is repeated. Each run does a small part; it must be idempotent.
type Job struct {
	Name  string
	Every time.Duration   // the longest pause between two runs, and the pause after a failure
	Wake  <-chan struct{} // ends a pause; may be nil
	Later bool            // the first run comes after a pause too, because there is nothing to do at the start
	Run   func(ctx context.Context) (more bool, err error)
}

// Run runs all jobs concurrently until ctx ends, and then waits for those that are running. Each job runs at once after
// the start, unless it is for later. A job that has more to do runs again at once; one that failed waits for its next turn. Of consecutive
// failures only the first is logged.
func Run(ctx context.Context, log outbound.Log, jobs ...Job) {
	var running sync.WaitGroup
	for _, job := range jobs {
		running.Go(func() { job.loop(ctx, log) })
	}
	running.Wait()
}

func (j Job) loop(ctx context.Context, log outbound.Log) {
	if j.Later {
		j.pause(ctx)
	}
	for failing := false; ctx.Err() == nil; {
		more, err := j.attempt(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			log.Error(ctx, "The job \""+j.Name+"\" failed; Holdco retries it until it succeeds.", err)
		}
		failing = err != nil
		if more && !failing {
			continue
		}
		j.pause(ctx)
	}
}

func (j Job) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-j.Wake:
	case <-time.After(j.Every):
	}
}

// attempt runs the job once.
func (j Job) attempt(ctx context.Context) (more bool, err error) {
	err = fault.Contain(func() error {
		more, err = j.Run(ctx)
		return err
	})
	return more, err
}
