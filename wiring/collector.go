package wiring

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"holdco/app/worker"
)

// HeapGrowth returns by how many percent a heap of so many live bytes may grow before garbage is collected.
//
// Go lets a heap double, so that the process would hold as much garbage as leads. A large heap is collected after 32 MiB
// of garbage, but after a quarter of its size at the earliest. A small one may double: to collect it more often would cost
// requests up to a quarter of their processor time.
func HeapGrowth(live uint64) (percent int) {
	const garbage, least, most, step = 32 << 20, 25, 100, 5
	if live <= garbage {
		return most
	}
	return max(int(garbage*100/live)/step*step, least)
}

// paceCollector is the job that applies HeapGrowth to what was live after the last collection. Operators who set GOGC
// choose the growth themselves.
func paceCollector() []worker.Job {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	set, sample := 0, []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	run := func(context.Context) (more bool, err error) {
		metrics.Read(sample)
		if percent := HeapGrowth(sample[0].Value.Uint64()); percent != set {
			debug.SetGCPercent(percent)
			set = percent
		}
		return false, nil
	}
	return []worker.Job{{Name: "pace garbage collection", Every: time.Second, Run: run}}
}
