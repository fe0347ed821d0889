package httpkit

import "context"

// Stopping is a switch that is thrown when the server stops. It ends what would take longer than other requests: streams, and files
// that are being received. Clients can resume on another server.
type Stopping struct {
	running context.Context //nolint:containedctx // ends when it begins
	Begin   func()          // throws the switch, for what is running and for all that begins later
}

// NewStopping returns a switch that is thrown by Begin.
func NewStopping() *Stopping {
	running, begin := context.WithCancel(context.Background())
	return &Stopping{running, begin}
}

// Within returns a context that ends when the server stops. The caller calls stop when it is not needed any more.
func (s *Stopping) Within(ctx context.Context) (within context.Context, stop func()) {
	within, cancel := context.WithCancel(ctx)
	leave := s.whenBegun(cancel)
	return within, func() {
		leave()
		cancel()
	}
}

func (s *Stopping) hasBegun() bool { return s != nil && s.running.Err() != nil }

// whenBegun calls do when the server stops, unless leave was called before.
func (s *Stopping) whenBegun(do func()) (leave func()) {
	if s == nil {
		return func() {}
	}
	stop := context.AfterFunc(s.running, do)
	return func() { stop() }
}
