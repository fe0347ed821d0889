package redislimit

import (
	"sync"
	"time"
)

// pause is how long a lost server is left alone between two attempts to reach it.
const pause = time.Second

// circuit keeps a server that is lost from costing every request the time to find that out.
type circuit struct {
	slots  chan struct{} // bounds the calls at a time
	probe  func() error
	onLost func(error)
	onBack func()

	mutex    sync.Mutex
	lost     bool
	back     time.Time // when it was last found again; zero: never
	closed   chan struct{}
	watching sync.WaitGroup
}

func newCircuit(slots int, probe func() error, onLost func(error), onBack func()) *circuit {
	c := &circuit{slots: make(chan struct{}, slots), probe: probe, onLost: onLost, onBack: onBack, closed: make(chan struct{})}
	c.try(probe)
	return c
}

// try calls, and reports whether that worked. While the server is lost it does not call.
func (c *circuit) try(call func() error) bool {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	if c.isLost() {
		return false
	}
	err := call()
	if err != nil {
		c.lose(err)
	}
	return err == nil
}

func (c *circuit) isLost() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.lost
}

// lose reports the first failure, and watches for the end of the loss.
func (c *circuit) lose(cause error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.lost {
		return
	}
	c.lost = true
	c.onLost(cause)
	c.watching.Go(c.watch)
}

func (c *circuit) watch() {
	for attempts := time.NewTicker(pause); ; {
		select {
		case <-c.closed:
			return
		case <-attempts.C:
		}
		if c.probe() == nil {
			c.mutex.Lock()
			defer c.mutex.Unlock()
			c.lost, c.back = false, time.Now()
			c.onBack()
			return
		}
	}
}

// backWithin reports whether the server was lost, and found again not longer ago than d.
func (c *circuit) backWithin(d time.Duration) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return !c.back.IsZero() && time.Since(c.back) < d
}

// close ends the watch.
func (c *circuit) close() {
	close(c.closed)
	c.watching.Wait()
}
