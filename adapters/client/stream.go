package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"sync/atomic"
	"time"

	"holdco/domain/fault"
)

// Event is one of the server-sent events of a stream.
type Event struct {
	Place string // where it stands in the stream; empty: nobody knows yet where that begins
	Data  []byte // empty: the stream is open, and goes on from the place
}

// How a stream is read: how long nothing may come, where the server sends a comment every 15 s; how long the pauses before it is asked
// for again become; and how long a line may be.
const (
	quiet        = 50 * time.Second
	longestPause = 15 * time.Second
	longestLine  = 16 << 20
)

// brokeOff is the error of a stream that ended.
type brokeOff struct{ cause error }

func (b *brokeOff) Error() string { return fmt.Sprintf("the stream broke off: %v", b.cause) }
func (b *brokeOff) Unwrap() error { return b.cause }

// Follow calls an operation that answers with server-sent events, and hands them to take, in their order. When the stream breaks off,
// it goes on after the last event that was taken, however long the server is away. It ends when ctx does, without an error; when take
// fails; when the server refuses the stream for another reason than that it is busy; and when it could not be reached at first.
func (c *Client) Follow(ctx context.Context, call Call, take func(e Event) error) error {
	place, hasBegun, failures := "", false, 0
	var stopped error
	for {
		err := c.stream(ctx, call, place, func(e Event) error {
			hasBegun, failures = true, 0
			if stopped = take(e); stopped == nil {
				place = e.Place
			}
			return stopped
		})
		switch {
		case stopped != nil:
			return stopped
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was asked to end
		case !isPassing(err, hasBegun):
			return err
		}
		failures++
		wait := min(time.Duration(failures)*time.Second, longestPause)
		if refused := fault.Of(err); refused != nil {
			wait = max(wait, refused.RetryAfter)
		}
		if c.wait(ctx, wait, err) != nil {
			return nil //nolint:nilerr // it was asked to end
		}
	}
}

// isPassing reports whether a stream that ended with err may go on later.
func isPassing(err error, hasBegun bool) bool {
	switch refused := fault.Of(err); {
	case refused != nil:
		return refused.RetryAfter > 0 || refused.Code == fault.Unavailable
	case errors.As(err, new(*brokeOff)):
		return true
	}
	return hasBegun // what stands before the server, or what is there while it starts, answers something else
}

// stream reads one answer to its end. The error says why it ended.
func (c *Client) stream(ctx context.Context, call Call, place string, take func(e Event) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(quiet, func() { cancel(fmt.Errorf("nothing came for %s", quiet)) })
	defer silence.Stop()

	var connected atomic.Bool
	request, err := c.request(ctx, call, nil, "", &connected)
	if err != nil {
		return err
	}
	if place != "" {
		request.Header.Set("Last-Event-ID", place)
	}
	response, err := transport.Do(request)
	if err != nil {
		if err = c.failed(err, connected.Load()); connected.Load() {
			err = &brokeOff{errors.Unwrap(err)}
		}
		return err
	}
	defer response.Body.Close()
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind != "text/event-stream" { // refusals are JSON
		text, err := io.ReadAll(io.LimitReader(response.Body, longestLine))
		if err != nil {
			return &brokeOff{err}
		}
		if _, err = c.read(response, text); err == nil {
			err = fmt.Errorf("%s answered with no stream", c.URL)
		}
		return err
	}
	if err = take(Event{Place: place}); err != nil {
		return err
	}
	err = events(response.Body, func() { silence.Reset(quiet) }, take)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &brokeOff{err}
}

// events reads server-sent events until there are no more, or take fails. Each line calls alive. An event that did not come in full is
// none.
func events(from io.Reader, alive func(), take func(e Event) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
	var e Event
	for lines.Scan() {
		alive()
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			e.Place = value
		case "data":
			if e.Data != nil {
				e.Data = append(e.Data, '\n')
			}
			e.Data = append(e.Data, value...)
		case "":
			if lines.Text() != "" || e.Place == "" {
				continue // a comment, or nothing that a stream could go on from
			}
			if err := take(e); err != nil {
				return err
			}
			e = Event{}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errors.New("the server ended it")
}
