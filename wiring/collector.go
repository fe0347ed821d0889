package wiring

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"holdco/app/jobs"
)

// HeapGrowth returns by how many percent a heap of so many live bytes may grow before garbage is collected, when so many bytes were
// allocated in the last second.
//
// Go lets a heap double, so that the process would hold as much garbage as leads, or as requests that wait. It is collected after what
// two seconds make, which is seldom enough, but after 32 MiB or a quarter of the live heap at the latest, and after 3 MiB or a tenth of
// it at the earliest. A small heap may double: to collect it more often would cost requests up to a quarter of their processor time.
func HeapGrowth(live, allocated uint64) (percent int) {
	const seconds, leastGarbage, mostGarbage, least, most, step = 2, 3 << 20, 32 << 20, 10, 100, 5
	garbage := max(leastGarbage, min(seconds*allocated, max(mostGarbage, live/4)))
	if live <= garbage {
		return most
	}
	return max(int(garbage*100/live)/step*step, least)
}

// mostFaster is by how many percent more than a second ago the heap may grow, so that a burst of requests leaves little behind.
const mostFaster = 15

// paceCollector is the job that applies HeapGrowth to what was live after the last collection. Operators who set GOGC
// choose the growth themselves.
func paceCollector() []jobs.Job {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	set, before := 100, uint64(0) // Go begins with 100 percent
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	run := func(context.Context) (more bool, err error) {
		metrics.Read(samples)
		live, allocated := samples[0].Value.Uint64(), samples[1].Value.Uint64()
		if percent := min(HeapGrowth(live, allocated-before), set+mostFaster); percent != set {
			debug.SetGCPercent(percent)
			set = percent
		}
		before = allocated
		return false, nil
	}
	return []jobs.Job{{Name: "pace garbage collection", Every: time.Second, Run: run}}
}

// collectSeldom lets the heap of a command grow to five times what lives. An import throws away all that it reads, and keeps some bytes of
// each line: with less room it spent a seventh of its processor time collecting garbage.
func collectSeldom() {
	const percent = 400
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
