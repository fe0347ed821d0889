package issue

import (
	"hash/fnv"
	"strconv"
	"time"

	"holdco/domain/id"
)

// retryDelays are how long an issue waits after attempts that failed: the first, the second, and each later one.
var retryDelays = [...]time.Duration{10 * time.Second, time.Minute, 10 * time.Minute}

// RetryDelay returns how long an issue waits after a failed attempt, from 1 on, for which the agent asked for no delay: 10 seconds, 1
// minute, then 10 minutes, each with a jitter of up to a tenth either way. The jitter follows from the issue and the attempt, so that
// issues that failed together do not start together.
func RetryDelay(issue id.Issue, attempt int) time.Duration {
	delay := retryDelays[min(max(attempt, 1), len(retryDelays))-1]
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(string(issue) + "/" + strconv.Itoa(attempt)))
	const steps = 1000
	jitter := int64(sum.Sum64()%(2*steps+1)) - steps
	return (delay + time.Duration(int64(delay)/10*jitter/steps)).Truncate(time.Millisecond)
}
