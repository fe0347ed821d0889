package deliveries

import (
	"slices"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// task is one attempt to be made.
type task struct {
	store.Queued
	body  []byte
	retry *webhook.Delivery // to be retried; nil: this is a first attempt
}

// backlog is what a worker has read from its queue and not recorded yet. First attempts about the same subject are made
// one after the other, about different subjects in parallel. Retries are not ordered.
type backlog struct {
	ready   []*task                   // first attempts that can be made now
	blocked map[event.Subject][]*task // wait for an attempt about their subject that is ready or in flight
	open    []*task                   // all first attempts that are not recorded, by position

	retries   []*task // ready
	retrying  map[id.Delivery]bool
	retryTurn bool
}

func newBacklog() backlog {
	return backlog{blocked: map[event.Subject][]*task{}, retrying: map[id.Delivery]bool{}}
}

// add appends a task.
func (b *backlog) add(t *task) {
	if t.retry != nil {
		b.retrying[t.retry.ID] = true
		b.retries = append(b.retries, t)
		return
	}
	b.open = append(b.open, t)
	if waiting, busy := b.blocked[t.Subject]; busy {
		b.blocked[t.Subject] = append(waiting, t)
		return
	}
	b.blocked[t.Subject] = nil
	b.ready = append(b.ready, t)
}

// next removes and returns the next task, or nil when there is none. It alternates between first attempts and retries,
// so that neither starves.
func (b *backlog) next() *task {
	from := &b.ready
	if len(b.ready) == 0 || b.retryTurn && len(b.retries) > 0 {
		from = &b.retries
	}
	if len(*from) == 0 {
		return nil
	}
	t := (*from)[0]
	*from = (*from)[1:]
	b.retryTurn = t.retry == nil
	return t
}

// putBack puts back a task that was not attempted.
func (b *backlog) putBack(t *task) {
	if t.retry != nil {
		b.retries = slices.Insert(b.retries, 0, t)
	} else {
		b.ready = slices.Insert(b.ready, 0, t)
	}
}

// attempted unblocks the next event about the same subject.
func (b *backlog) attempted(t *task) {
	if t.retry != nil {
		return
	}
	if waiting := b.blocked[t.Subject]; len(waiting) > 0 {
		b.ready = slices.Insert(b.ready, 0, waiting[0])
		b.blocked[t.Subject] = waiting[1:]
	} else {
		delete(b.blocked, t.Subject)
	}
}

// close removes tasks that were recorded or need no attempt.
func (b *backlog) close(tasks ...*task) {
	closed := make(map[*task]bool, len(tasks))
	for _, t := range tasks {
		closed[t] = true
		if t.retry != nil {
			delete(b.retrying, t.retry.ID)
		}
	}
	b.open = slices.DeleteFunc(b.open, func(t *task) bool { return closed[t] })
}

// openBut returns the positions of the first attempts that are not recorded, except those of some tasks.
func (b *backlog) openBut(tasks []*task) []int64 {
	but := make(map[*task]bool, len(tasks))
	for _, t := range tasks {
		but[t] = true
	}
	var positions []int64
	for _, t := range b.open {
		if !but[t] {
			positions = append(positions, t.Position)
		}
	}
	return positions
}
