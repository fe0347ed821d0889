package usage

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/anyjson"
	"holdco/domain/money"
)

// SetbackKind is what kept a program from its work that has nothing to do with the work.
type SetbackKind string

// The kinds of setbacks.
const (
	NoSetback            SetbackKind = ""
	RateLimited          SetbackKind = "rate_limited"          // by a rate limit, a subscription's window, a quota, credit, an overload
	AuthenticationFailed SetbackKind = "authentication_failed" // the key is bad or missing, or nobody is signed in
)

// Setback is what kept a program from its work, as it says so itself.
type Setback struct {
	Kind     SetbackKind
	ResetsAt time.Time // of RateLimited: when it can work again, ShortestReset to LongestReset from now; zero: not known
}

// Bounds of Setback.ResetsAt. What is outside is moved to the nearest bound.
const (
	ShortestReset = time.Minute
	LongestReset  = 8 * 24 * time.Hour
)

// bounded is the setback with an instant in bounds.
func (s Setback) bounded(now time.Time) Setback {
	if s.Kind != RateLimited || s.ResetsAt.IsZero() {
		return Setback{Kind: s.Kind}
	}
	earliest, latest := now.Add(ShortestReset), now.Add(LongestReset)
	switch {
	case s.ResetsAt.Before(earliest):
		s.ResetsAt = earliest
	case s.ResetsAt.After(latest):
		s.ResetsAt = latest
	}
	return s
}

// trouble is what a program says about a setback, before it is known when the program ended.
type trouble struct {
	kind       SetbackKind
	isOverload bool      // it is over soon
	resetsAt   time.Time // zero: see message
	message    string    // that may name a time; empty: none
}

// setback is the trouble as a setback of a program that ended.
func (t trouble) setback(now time.Time) Setback {
	s := Setback{Kind: t.kind, ResetsAt: t.resetsAt}
	switch {
	case t.kind != RateLimited || !s.ResetsAt.IsZero():
	case t.isOverload:
		s.ResetsAt = now.Add(ShortestReset)
	default:
		s.ResetsAt = resetIn(t.message, now)
	}
	return s
}

// ofStatus is the trouble that a status of HTTP stands for.
func ofStatus(status int64) trouble {
	switch status {
	case 401, 403:
		return trouble{kind: AuthenticationFailed}
	case 402, 429:
		return trouble{kind: RateLimited}
	case 503, 529:
		return trouble{kind: RateLimited, isOverload: true}
	}
	return trouble{}
}

// The words by which programs and providers name a setback, in small letters.
var (
	overloadWords = []string{
		"overloaded", "at capacity", "model is overloaded", "server_is_overloaded", "service unavailable", "status 503", "status 529",
		"currently experiencing high demand",
	}
	limitWords = []string{
		"usage limit", "rate limit", "rate_limit", "ratelimit", "hit your limit", "5-hour limit", "session limit", "weekly limit",
		"daily limit", "opus limit", "quota", "credit balance", "billing_error", "insufficient credit",
		"insufficient balance", "out of credits", "too many requests", "resource_exhausted", "resource exhausted", "status 429",
		"api error: 429", "payment required",
	}
	authWords = []string{
		"authentication_failed", "authentication_error", "authentication failed", "failed to authenticate", "invalid api key",
		"invalid x-api-key", "invalid_api_key", "incorrect api key", "api key not valid", "api_key_invalid", "api key expired",
		"api key is missing", "missing api key", "no api key", "not logged in", "please run /login", "please log in", "not signed in",
		"unauthorized", "unauthenticated", "status 401", "api error: 401", "api error: 403", "permission_error", "permission_denied",
		"oauth token has expired", "oauth token revoked", "missing environment variable", "missing bearer", "token has expired",
		"refresh token",
	}
)

// ofWords is the trouble that a message of a program stands for.
func ofWords(message string) trouble {
	lower := strings.ReplaceAll(strings.ToLower(message), "disk quota", "disk space")
	has := func(words []string) bool {
		for _, word := range words {
			if strings.Contains(lower, word) {
				return true
			}
		}
		return false
	}
	switch {
	case has(limitWords):
		return trouble{kind: RateLimited, message: message}
	case has(authWords):
		return trouble{kind: AuthenticationFailed}
	case has(overloadWords):
		return trouble{kind: RateLimited, isOverload: true}
	}
	return trouble{}
}

// instantOf reads an instant as programs write it: seconds or milliseconds since 1970 as a number or a text, or RFC 3339. Zero: none.
func instantOf(value jsontext.Value) time.Time {
	number := money.Number(value)
	if value.Kind() == '"' {
		written := strings.TrimSpace(anyjson.Text(value))
		if at, err := time.Parse(time.RFC3339, written); err == nil {
			return at.UTC()
		}
		number = money.Number(written)
	} else if value.Kind() != '0' {
		return time.Time{}
	}
	const firstMillisecond = 100_000_000_000 // as seconds that is the year 5138
	seconds, err := number.Ceil(0)
	switch {
	case err != nil || seconds <= 0 || seconds > firstMillisecond*1000:
		return time.Time{}
	case seconds >= firstMillisecond:
		return time.UnixMilli(seconds).UTC()
	}
	return time.Unix(seconds, 0).UTC()
}

var (
	clockReset = regexp.MustCompile(
		`(?i)\b(?:resets?|try again|available again|retry)(?: (?:at|on|again at))?:? (?:at )?` +
			`(?:([A-Z][a-z]{2,8}) (\d{1,2})(?:st|nd|rd|th)?(?:, (\d{4}))?,? (?:at )?)?` +
			`(\d{1,2})(?::(\d{2}))? ?([ap]m)\b(?: \(([A-Za-z_/+\-0-9]{1,40})\))?`)
	inReset = regexp.MustCompile(`(?i)\b(?:try again|retry|resets?|available) (?:after|in):? ` +
		`((?:,? ?(?:and )?(?:\d+[dhm])*\d+(?:\.\d+)? ?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)\b)+)`)
	unitPart = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?(ms|d|h|m|s)`)
)

// maxUnits bounds the parts of a time such as 2 days 3 hours.
const maxUnits = 8

// resetIn is the last resort: the time that a message names, such as "resets 2pm (Europe/Berlin)", "try again at 12:00 PM", "resets
// Oct 7, 3am", or "try again in 2 days 3 hours". A time of day is the next one after now, in UTC if it names no zone. Zero: it names none.
func resetIn(message string, now time.Time) time.Time {
	if found := inReset.FindStringSubmatch(message); found != nil {
		var wait time.Duration
		for _, part := range unitPart.FindAllStringSubmatch(found[1], maxUnits) {
			amount, _ := strconv.ParseFloat(part[1], 64)
			unit := map[string]time.Duration{
				"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond,
			}[strings.ToLower(part[2])]
			wait += time.Duration(min(amount*float64(unit), float64(LongestReset)))
		}
		return now.Add(min(wait, LongestReset))
	}
	if found := clockReset.FindStringSubmatch(message); found != nil {
		return clockTime(found[1:], now)
	}
	return time.Time{}
}

// clockTime is the next instant of a day of a month (empty: any day) and a time of day, at least now.
func clockTime(found []string, now time.Time) time.Time {
	month, day, year, hour, minute, half, zone := found[0], found[1], found[2], found[3], found[4], found[5], found[6]
	location := time.UTC
	if known, err := time.LoadLocation(zone); err == nil && zone != "" && zone != "Local" {
		location = known
	}
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	if h < 1 || h > 12 || m > 59 {
		return time.Time{}
	}
	h %= 12
	if strings.EqualFold(half, "pm") {
		h += 12
	}
	local := now.In(location)
	if month == "" {
		at := time.Date(local.Year(), local.Month(), local.Day(), h, m, 0, 0, location)
		if at.Before(now) {
			at = time.Date(local.Year(), local.Month(), local.Day()+1, h, m, 0, 0, location)
		}
		return at.UTC()
	}
	named, err := time.Parse("Jan", strings.ToUpper(month[:1])+strings.ToLower(month[1:3]))
	if err != nil {
		return time.Time{}
	}
	d, _ := strconv.Atoi(day)
	y, _ := strconv.Atoi(year)
	if y == 0 {
		y = local.Year()
	}
	at := time.Date(y, named.Month(), d, h, m, 0, 0, location)
	if year == "" && at.Before(now.Add(-24*time.Hour)) {
		at = time.Date(y+1, named.Month(), d, h, m, 0, 0, location)
	}
	return at.UTC()
}
