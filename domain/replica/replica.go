// Package replica is the servers that run on one store, as each says of itself.
package replica

import (
	"slices"
	"time"

	"holdco/domain/id"
)

// BeatEvery is how often a server says that it runs.
const BeatEvery = 10 * time.Second

// silentFor is for how long one that runs may be silent: it may miss two beats.
const silentFor = 30 * time.Second

// ForgottenAfter is for how long one is kept that is silent. So the rows are those of servers that were seen within the last hour.
const ForgottenAfter = time.Hour

// Replica is a server. Its instants are of the store's clock.
type Replica struct {
	ID      id.Replica
	Version string // of its program
	Since   time.Time
	SeenAt  time.Time // when it last said that it runs
}

// Live returns those that run.
func Live(all []Replica, now time.Time) []Replica {
	return slices.DeleteFunc(slices.Clone(all), func(r Replica) bool { return now.Sub(r.SeenAt) > silentFor })
}

// Versions are those that run, each once, in their order as texts.
func Versions(live []Replica) (versions []string) {
	for _, one := range live {
		versions = append(versions, one.Version)
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}
