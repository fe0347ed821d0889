package worker

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"holdco/ports/outbound"
)

// Job is work that is done again and again. Each run does a small part and may be repeated at any time.
type Job struct {
	Name  string
	Every time.Duration   // the longest pause between two runs
	Wake  <-chan struct{} // ends a pause; may be nil
	Run   func(ctx context.Context) (more bool, err error)
}

// Run runs all jobs side by side, each first at once, until ctx ends; then it waits for those that are running. A job
// that has more to do goes on at once, one that fails rests until its next turn. Of failures in a row the first is
// logged.
func Run(ctx context.Context, log outbound.Log, jobs ...Job) {
	var running sync.WaitGroup
	for _, job := range jobs {
		running.Go(func() { job.loop(ctx, log) })
	}
	running.Wait()
}

func (j Job) loop(ctx context.Context, log outbound.Log) {
	for failing := false; ctx.Err() == nil; {
		more, err := j.attempt(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			log.Error(ctx, "The job \""+j.Name+"\" failed; it is tried again until it succeeds.", err)
		}
		failing = err != nil
		if more && !failing {
			continue
		}
		select {
		case <-ctx.Done():
		case <-j.Wake:
		case <-time.After(j.Every):
		}
	}
}

// attempt runs the job once. A panic is a failure like any other: it must not take the requests down with it.
func (j Job) attempt(ctx context.Context) (more bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			more, err = false, fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return j.Run(ctx)
}
