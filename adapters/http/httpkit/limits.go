package httpkit

import (
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/fault"
	"holdco/domain/ratelimit"
	"holdco/ports/outbound"
)

// Limits are the rate limits of an API.
type Limits struct {
	Limiter outbound.Limiter
	ByClass ratelimit.Limits // of each token, each partner's key, or each agent
}

// admit counts a request against the limit of its key, and reports to the client how much is left of it.
func (l Limits) admit(c *gin.Context, key ratelimit.Key) error {
	limit := l.ByClass.Of(key.Class)
	if limit == ratelimit.Off {
		return nil
	}
	verdict := l.Limiter.Take(c.Request.Context(), key, limit)
	c.Header("RateLimit-Limit", strconv.FormatInt(int64(limit), 10))
	c.Header("RateLimit-Remaining", strconv.FormatInt(verdict.Remaining, 10))
	c.Header("RateLimit-Reset", seconds(verdict.Reset))
	return verdict.Refusal(key)
}

// Failed answers a failed authentication, which counts against its client.
func (l Limits) Failed(c *gin.Context, err error) { Fail(c, l.orFailedTooOften(c, err)) }

// orFailedTooOften turns a failed authentication into fault.RateLimited when there were too many from the same client.
func (l Limits) orFailedTooOften(c *gin.Context, failed error) error {
	if fault.CodeOf(failed) != fault.Unauthorized {
		return failed
	}
	key := ratelimit.ByClient(siteOf(of(c).client))
	if refusal := l.Limiter.Take(c.Request.Context(), key, ratelimit.FailedAuthentications).Refusal(key); refusal != nil {
		return refusal
	}
	return failed
}

// seconds spells a duration in whole seconds, rounded up.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
