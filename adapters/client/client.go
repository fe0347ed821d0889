package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/page"
)

// Client calls one server with one token.
type Client struct {
	URL   string // such as http://127.0.0.1:3100, without a slash at its end
	Token access.Value

	// Patience is how long a call may wait in all for a server that is busy or refuses more requests, or whose answer was
	// lost. Zero: a call is made once.
	Patience time.Duration

	// Wait waits, and returns an error when the context ended first. Why says what for. Nil: it only waits.
	Wait func(ctx context.Context, d time.Duration, why error) error
}

const (
	mostAttempts = 5
	timeout      = 30 * time.Second // of an attempt
)

// Unreachable is the error of a server to which there was no connection: nothing has happened.
type Unreachable struct {
	URL   string
	cause error
}

func (u *Unreachable) Error() string { return fmt.Sprintf("cannot reach %s: %v", u.URL, u.cause) }
func (u *Unreachable) Unwrap() error { return u.cause }

// Refusal is an error that the server answered with. It wraps the *fault.Error.
type Refusal struct {
	Fault     *fault.Error
	RequestID string // under which the server's log has more
}

func (r *Refusal) Error() string { return r.Fault.Error() }
func (r *Refusal) Unwrap() error { return r.Fault }

// lost is the error of a request whose answer did not arrive, and which may have been done.
type lost struct{ cause error }

func (l *lost) Error() string {
	return fmt.Sprintf("the connection was lost before the answer came, so the request may have been done: %v", l.cause)
}
func (l *lost) Unwrap() error { return l.cause }

// Do calls an operation and returns the data of its answer. When the server asks to wait, Do does so and tries again. It
// also tries again when the answer was lost, unless that could have a second effect: each POST carries an idempotency key.
// Do fails with a *Refusal, with *Unreachable, or with another error when there was no answer of the API.
func (c *Client) Do(ctx context.Context, call Call) (json.RawMessage, error) {
	answer, err := c.do(ctx, call)
	return answer.Data, err
}

// List calls an operation that lists, and returns the items of all pages.
func (c *Client) List(ctx context.Context, call Call) ([]json.RawMessage, error) {
	return c.ListSome(ctx, call, math.MaxInt)
}

// ListSome is List up to a number of items.
func (c *Client) ListSome(ctx context.Context, call Call, most int) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	for {
		call = call.With("limit", strconv.Itoa(min(page.MaxSize, most-len(items))))
		answer, err := c.do(ctx, call)
		if err != nil {
			return nil, err
		}
		found, err := Read[[]json.RawMessage](answer.Data)
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
		if answer.Meta.Page.Cursor == "" || len(items) >= most {
			return items, nil
		}
		call = call.With("cursor", answer.Meta.Page.Cursor)
	}
}

func (c *Client) do(ctx context.Context, call Call) (answer, error) {
	body, err := encode(call.body)
	if err != nil {
		return answer{}, err
	}
	key := call.key
	if key == "" && call.operation.Method == http.MethodPost && !call.operation.takesNoKey {
		key = rand.Text()
	}
	patience := c.Patience
	for attempt := 1; ; attempt++ {
		got, err := c.attempt(ctx, call, body, key)
		if err == nil || ctx.Err() != nil {
			return got, err
		}
		wait, again := pause(call.operation.Method, attempt, err)
		if !again || wait > patience || attempt == mostAttempts {
			return answer{}, err
		}
		patience -= wait
		if err := c.wait(ctx, wait, err); err != nil {
			return answer{}, err
		}
	}
}

// encode spells a body, and nothing for none. Objects that it holds keep their spelling.
func encode(body map[string]any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(body)
	return text.Bytes(), err
}

// pause says how long to wait before another attempt, and whether there may be one.
func pause(method string, attempt int, err error) (wait time.Duration, again bool) {
	wait = time.Duration(attempt) * time.Second
	repeatable := method != http.MethodDelete // a second one would find nothing
	switch refused := fault.Of(err); {
	case refused != nil && refused.RetryAfter > 0:
		return refused.RetryAfter, repeatable || refused.Code == fault.RateLimited // which did nothing
	case refused != nil:
		return 0, false
	case errors.As(err, new(*lost)):
		return wait, repeatable
	case errors.As(err, new(*Unreachable)):
		return wait, attempt > 1 // it was there a moment ago
	}
	return 0, false
}

func (c *Client) wait(ctx context.Context, d time.Duration, why error) error {
	if c.Wait != nil {
		return c.Wait(ctx, d, why)
	}
	return Sleep(ctx, d)
}

// Sleep waits, and returns an error when the context ended first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt sends a request once.
func (c *Client) attempt(ctx context.Context, call Call, body []byte, key string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout+call.wait)
	defer cancel()
	var connected atomic.Bool
	request, err := c.request(ctx, call, body, key, &connected)
	if err != nil {
		return answer{}, err
	}
	response, err := transport.Do(request)
	var text []byte
	if err == nil {
		defer response.Body.Close()
		text, err = io.ReadAll(response.Body)
	}
	if err != nil {
		return answer{}, c.failed(err, connected.Load())
	}
	return c.read(response, text)
}

// request makes a request, which notes when there is a connection for it.
func (c *Client) request(ctx context.Context, call Call, body []byte, key string, connected *atomic.Bool) (*http.Request, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	request, err := http.NewRequestWithContext(ctx, call.operation.Method, c.URL+call.target(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(c.Token))
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	return request, nil
}

// failed is the error of a request to which there was no answer.
func (c *Client) failed(err error, connected bool) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // which names neither method nor URL a second time
	}
	if !connected {
		return &Unreachable{c.URL, err}
	}
	return &lost{err}
}

// transport follows no redirects: the API has none, and a token is for one server alone.
var transport = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
