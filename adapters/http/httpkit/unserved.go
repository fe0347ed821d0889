package httpkit

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// unserved keeps requests that cannot be served from filling the log, of which there are as many as clients send while the store is away:
// of those with one cause there is one line a second, which says how many there were since the last.
type unserved struct {
	mutex  sync.Mutex
	causes map[string]*cause
}

// cause is why requests cannot be served.
type cause struct {
	told  time.Time
	count int // of requests that no line has told of
}

const (
	unservedPause = time.Second // between two lines of one cause
	mostCauses    = 100         // that are remembered, but for those of the last second
)

// note counts a request, and returns how many there were since the last line if it is time for another one, or else 0. A cause is what is
// said of it without digits, which may be those of a port of the client of a database, say.
func (u *unserved) note(said string, now time.Time) (count int) {
	key := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, said)
	u.mutex.Lock()
	defer u.mutex.Unlock()
	one := u.causes[key]
	if one == nil {
		u.forget(now)
		one = &cause{}
		u.causes[key] = one
	}
	one.count++
	if now.Sub(one.told) < unservedPause {
		return 0
	}
	count, one.count, one.told = one.count, 0, now
	return count
}

// forget makes room for another cause.
func (u *unserved) forget(now time.Time) {
	if u.causes == nil {
		u.causes = map[string]*cause{}
	}
	if len(u.causes) < mostCauses {
		return
	}
	for key, one := range u.causes {
		if now.Sub(one.told) >= unservedPause {
			delete(u.causes, key)
		}
	}
}

// logUnserved logs that a request could not be served, unless a line of the last second tells of the same cause.
func logUnserved(c *gin.Context, err error) {
	if count := of(c).options.unserved.note(err.Error(), time.Now()); count > 0 {
		logFailure(c, slog.LevelWarn, "a request could not be served", err, slog.Int("requests", count))
	}
}
