package ratelimit_test

import (
	"testing"
	"time"

	"holdco/domain/fault"
	"holdco/domain/ratelimit"
)

var noon = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)

func TestAWindowStartsWithItsFirstRequestAndLastsAMinute(t *testing.T) {
	t.Parallel()
	var count ratelimit.Count
	for _, c := range []struct {
		at        time.Duration
		admitted  bool
		remaining int64
		reset     time.Duration
	}{
		{0, true, 1, time.Minute},
		{59 * time.Second, true, 0, time.Second},
		{59*time.Second + 999*time.Millisecond, false, 0, time.Millisecond},
		{time.Minute, true, 1, time.Minute},
		{3 * time.Minute, true, 1, time.Minute}, // not 2: windows follow requests, not each other
		{2 * time.Minute, true, 0, time.Minute}, // the clock was set back
		{2 * time.Minute, false, 0, time.Minute},
		{3 * time.Minute, true, 1, time.Minute},
	} {
		var verdict ratelimit.Verdict
		count, verdict = count.Take(2, noon.Add(c.at))
		want := ratelimit.Verdict{Limit: 2, Admitted: c.admitted, Remaining: c.remaining, Reset: c.reset}
		if verdict != want {
			t.Errorf("after %s: %+v, want %+v", c.at, verdict, want)
		}
	}
}

func TestALimitThatWasLoweredHoldsAtOnce(t *testing.T) {
	t.Parallel()
	count := ratelimit.Count{Since: noon, Admitted: 5}
	after, verdict := count.Take(3, noon)
	if after != count || verdict.Admitted || verdict.Remaining != 0 {
		t.Errorf("%+v, %+v", after, verdict)
	}
}

func TestEveryClassHasItsLimit(t *testing.T) {
	t.Parallel()
	limits := ratelimit.Limits{Read: 600, Write: 120, Costly: 10, Partner: 60, Gateway: 1200}
	for class, want := range map[ratelimit.Class]ratelimit.Limit{
		ratelimit.Read: 600, ratelimit.Write: 120, ratelimit.Costly: 10, ratelimit.Partner: 60, ratelimit.Gateway: 1200,
	} {
		if got := limits.Of(class); got != want {
			t.Errorf("%s: %d, want %d", class, got, want)
		}
		if got := (ratelimit.Limits{}).Of(class); got != ratelimit.Off {
			t.Errorf("%s: %d, want off", class, got)
		}
	}
}

func TestNothingIsCountedTogetherThatDiffers(t *testing.T) {
	t.Parallel()
	keys := map[ratelimit.Key]bool{
		ratelimit.ByToken("tok_1", ratelimit.Read):      true,
		ratelimit.ByToken("tok_1", ratelimit.Write):     true,
		ratelimit.ByToken("tok_1", ratelimit.Costly):    true,
		ratelimit.ByToken("tok_2", ratelimit.Read):      true,
		ratelimit.ByPartner("tok_1", ratelimit.Partner): true,
		ratelimit.ByAgent("tok_1", ratelimit.Gateway):   true,
		ratelimit.ByClient("tok_1"):                     true,
		ratelimit.ByClient("192.0.2.1"):                 true,
	}
	if len(keys) != 8 {
		t.Errorf("%v", keys)
	}
}

func TestARefusalSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	for key, message := range map[ratelimit.Key]string{
		ratelimit.ByToken("tok_1", ratelimit.Costly):    "The token has made its 7 costly requests of this minute; wait until it is over.",
		ratelimit.ByPartner("prt_1", ratelimit.Partner): "The key has made its 7 requests of this minute; wait until it is over.",
		ratelimit.ByAgent("agt_1", ratelimit.Gateway):   "The agent has made its 7 requests of this minute; wait until it is over.",
		ratelimit.ByClient("192.0.2.1"): "7 authentications from this address have failed within a minute; " +
			"wait until it is over.",
	} {
		refusal := fault.Of(ratelimit.Verdict{Limit: 7, Reset: 1500 * time.Millisecond}.Refusal(key))
		if refusal == nil || refusal.Code != fault.RateLimited || refusal.RetryAfter != 1500*time.Millisecond ||
			refusal.Message != message {
			t.Errorf("%+v", refusal)
		}
		if err := (ratelimit.Verdict{Limit: 7, Admitted: true}).Refusal(key); err != nil {
			t.Error(err)
		}
	}
}
