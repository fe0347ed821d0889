package httpkit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/fault"
)

// Stream is an answer that is written in portions, for as long as it takes.
type Stream struct {
	c            *gin.Context
	controller   *http.ResponseController
	writeTimeout time.Duration
	stopping     *Stopping
	permitted    context.Context //nolint:containedctx // ends the stream: see WhilePermitted; nil: nothing does
	lost         bool            // the client took no more
}

// BeginStream begins an answer of a media type. It replaces the timeouts of the server by writeTimeout, which bounds each
// write.
func BeginStream(c *gin.Context, mediaType string, writeTimeout time.Duration) *Stream {
	s := &Stream{c: c, controller: http.NewResponseController(c.Writer), writeTimeout: writeTimeout, stopping: of(c).options.Stopping}
	c.Header("Content-Type", mediaType)
	c.Header("Cache-Control", "no-store")
	if mediaType == EventStream {
		// It ends with its connection, and its events say where they end: in chunks each portion would cost three writes, not one.
		c.Header("Transfer-Encoding", "identity")
	}
	noReadDeadline(s.controller)
	return s
}

// noReadDeadline ends the timeout for reading a request. The server detects a client that is gone by a read in the background, and
// takes an exceeded deadline for the same.
func noReadDeadline(c *http.ResponseController) {
	_ = c.SetReadDeadline(time.Time{}) // fails when the connection is closed, which a write will report
}

// Wait gives a handler so much more time than others have, and lets it see until then whether the client is gone.
func (r Request) Wait(more time.Duration) { Wait(r.c, more) }

// Wait is Request.Wait.
func Wait(c *gin.Context, more time.Duration) {
	controller := http.NewResponseController(c.Writer)
	noReadDeadline(controller)
	_ = controller.SetWriteDeadline(time.Now().Add(more + writeTimeout)) // as noReadDeadline
}

// Write sends a portion at once. An error means that the client takes no more, or that the server stops: a client that takes
// nothing then holds up nobody.
func (s *Stream) Write(portion []byte) error {
	if s.stopping.hasBegun() { // nothing was sent yet, perhaps: then there is time for an answer
		s.lost = true
		return context.Canceled
	}
	if s.permitted != nil && s.permitted.Err() != nil { // likewise
		s.lost = true
		return context.Cause(s.permitted)
	}
	giveUp := func() { _ = s.controller.SetWriteDeadline(time.Now()) }
	defer s.stopping.whenBegun(giveUp)()
	err := s.controller.SetWriteDeadline(time.Now().Add(s.writeTimeout))
	if s.permitted != nil {
		defer context.AfterFunc(s.permitted, giveUp)()
		if err == nil && s.permitted.Err() != nil { // perhaps before the deadline was set
			err = context.Cause(s.permitted)
		}
	}
	if err == nil && s.stopping.hasBegun() { // likewise
		err = context.Canceled
	}
	if err == nil {
		_, err = s.c.Writer.Write(portion)
	}
	if err == nil {
		err = s.controller.Flush()
	}
	s.lost = err != nil
	return err
}

// End ends the answer. After a failure the client must not take the part for the whole: when nothing was sent yet, it
// gets the error as usual, otherwise the connection is aborted.
func (s *Stream) End(failed error) {
	if failed != nil && s.permitted != nil {
		failed = OrNotPermitted(s.permitted, failed)
	}
	if failed != nil && s.stopping.hasBegun() {
		failed = fault.Stopping("try again").Because(context.Canceled)
	}
	switch {
	case failed == nil:
	case !s.c.Writer.Written():
		Fail(s.c, failed)
	default:
		level := slog.LevelError
		if s.lost || errors.Is(failed, context.Canceled) {
			level = slog.LevelInfo // nothing is wrong here: the client went away, its key ended, or the server stops
		}
		logFailure(s.c, level, "a stream broke off", failed)
		panic(http.ErrAbortHandler)
	}
}

// errEnded ends what WhilePermitted watches. It is no defect, which context.Canceled tells End.
var errEnded = fault.New(fault.Unauthorized, "The key has ended since the request came.").Because(context.Canceled)

// lookEvery is how often a stream, or a request that waits, looks whether its key still permits it: with what is cached of keys meanwhile,
// an end at another server is seen within a second.
const lookEvery = 250 * time.Millisecond

// WhilePermitted is the WhilePermitted of a request, and lets the stream end with the context, even while its client takes nothing.
func (s *Stream) WhilePermitted(ctx context.Context, changed *fault.Error) (permitted context.Context, stop func()) {
	permitted, stop = WhilePermitted(ctx, s.c, changed)
	s.permitted = permitted
	return permitted, stop
}

// WhilePermitted returns a context that ends as soon as what the request was let in by does not let it in any more: for a request that
// takes longer than a moment. So it does when what the key may see is not what it was, with changed. The caller calls stop at the end.
func WhilePermitted(ctx context.Context, c *gin.Context, changed *fault.Error) (permitted context.Context, stop func()) {
	permitted, end := context.WithCancelCause(ctx)
	look := of(c).permits
	ticker := time.NewTicker(lookEvery)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-permitted.Done():
				return
			case <-ticker.C:
				switch hasEnded, hasChanged := look(); {
				case hasEnded:
					end(errEnded)
					return
				case hasChanged:
					end(changed.Because(context.Canceled)) // no defect either
					return
				}
			}
		}
	}()
	return permitted, func() {
		ticker.Stop()
		end(context.Canceled)
		<-done
	}
}

// OrNotPermitted returns why a context of WhilePermitted has ended, if it has by what the request was let in by; otherwise an error.
func OrNotPermitted(permitted context.Context, otherwise error) error {
	if why := context.Cause(permitted); fault.Of(why) != nil {
		return why
	}
	return otherwise
}

// Feed is an answer that is written in portions, of another media type than JSON.
type Feed struct {
	MediaType string
	Head      []byte // what it begins with
	Write     func(write func(portion []byte) error) error

	Patience time.Duration // how long a client may take for a portion; 0: the usual time
}

func (f Feed) write(c *gin.Context) {
	out := BeginStream(c, f.MediaType, cmp.Or(f.Patience, portionTimeout))
	if c.Request.Method == http.MethodHead {
		return
	}
	var err error
	if len(f.Head) > 0 {
		err = out.Write(f.Head)
	}
	if err == nil {
		err = f.Write(out.Write)
	}
	out.End(err)
}
