// Package redislimit counts requests in Redis, so that all processes that name the same one share their limits.
//
// Redis may be lost at any time. Then each process continues with a limiter of its own, tries again every second, and
// returns by itself; circuit.go decides when.
package redislimit

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"holdco/domain/ratelimit"
	"holdco/ports/outbound"
)

// connections is how many requests ask Redis at the same time. The others wait for them, not for Redis.
const connections = 32

// Options are what a limiter needs. Everything is required.
type Options struct {
	URL    string           // see ValidURL
	Own    outbound.Limiter // of this process alone, for as long as Redis is lost
	OnLost func(cause error)
	OnBack func() // called after OnLost, when Redis answers again

	// Timeout is how long one step may take: to connect, to send, to receive. Longer, and Redis is lost. That costs the
	// requests on their way to it so much time, and no others.
	Timeout time.Duration
}

// Limiter counts in Redis.
type Limiter struct {
	client  *redis.Client
	own     outbound.Limiter
	circuit *circuit
}

var _ outbound.Limiter = (*Limiter)(nil)

// ValidURL reports whether a text names a Redis server: redis://, rediss:// (TLS) or unix://.
func ValidURL(text string) bool {
	_, err := parse(text)
	return err == nil
}

func parse(text string) (*redis.Options, error) {
	if !strings.Contains(text, "://") {
		return nil, errors.New("the URL of Redis has no scheme")
	}
	options, err := redis.ParseURL(text)
	if err != nil || options.Network == "unix" {
		return options, err
	}
	_, port, err := net.SplitHostPort(options.Addr)
	if err != nil {
		return nil, err
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return options, err
}

// Open makes a limiter. It fails only when the URL is not valid: a Redis that does not answer is lost, and may come.
func Open(ctx context.Context, options Options) (*Limiter, error) {
	settings, err := parse(options.URL)
	if err != nil {
		return nil, err
	}
	settings.PoolSize, settings.MaxRetries, settings.DialerRetries = connections, -1, 1
	settings.DialTimeout, settings.ReadTimeout, settings.WriteTimeout = options.Timeout, options.Timeout, options.Timeout
	settings.DisableIdentity = true
	settings.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	logging.Disable() // it is a global of the library, and would print every failure to standard error

	l := &Limiter{client: redis.NewClient(settings), own: options.Own}
	l.circuit = newCircuit(connections, func() error { return l.probe(ctx) }, options.OnLost, options.OnBack)
	return l, nil
}

// Close ends the connections. Nobody may take any more.
func (l *Limiter) Close() error {
	l.circuit.close()
	return l.client.Close()
}

// Take implements outbound.Limiter. The process counts along, so that the loss of Redis gives no client a second limit,
// and neither does its return without the counts of the meantime.
func (l *Limiter) Take(ctx context.Context, key ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict {
	own := l.own.Take(ctx, key, limit)
	var shared ratelimit.Verdict
	answered := l.circuit.try(func() (err error) {
		shared, err = l.ask(ctx, key, limit)
		return err
	})
	if !answered || !own.Admitted && l.circuit.backWithin(ratelimit.Window) {
		return own
	}
	return shared
}

// take is the rule of ratelimit.Count. A window is the life of a key, by the clock of Redis.
var take = redis.NewScript(`
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local left = redis.call('PTTL', KEYS[1])
local admitted = 0
if left > 0 then
	admitted = tonumber(redis.call('GET', KEYS[1]))
else
	left = window
end
if admitted >= limit then
	return {0, 0, left}
end
if admitted == 0 then
	redis.call('SET', KEYS[1], 1, 'PX', window)
else
	redis.call('INCR', KEYS[1])
end
return {1, limit - admitted - 1, left}
`)

// probe fails where requests would: a Redis that only takes no writes is lost too.
func (l *Limiter) probe(ctx context.Context) error {
	_, err := l.ask(ctx, ratelimit.Key{Class: "probe"}, ratelimit.MostLimit)
	return err
}

// ask does not end with the request that asks: that would look as if Redis did not answer.
func (l *Limiter) ask(ctx context.Context, key ratelimit.Key, limit ratelimit.Limit) (ratelimit.Verdict, error) {
	name := "holdco:limit:" + string(key.Class) + ":" + key.Subject
	answer, err := take.Run(context.WithoutCancel(ctx), l.client, []string{name}, int64(limit),
		ratelimit.Window.Milliseconds()).Int64Slice()
	if err != nil {
		return ratelimit.Verdict{}, err
	}
	return ratelimit.Verdict{
		Limit:     limit,
		Admitted:  answer[0] == 1,
		Remaining: answer[1],
		Reset:     time.Duration(answer[2]) * time.Millisecond,
	}, nil
}
