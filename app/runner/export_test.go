package runner

import "holdco/domain/usage"

// Prompt is what a program is told of a lease that the gateway shows.
func Prompt(shown []byte, reports usage.Kind) (string, error) {
	lease, err := ParseLease(shown)
	return string(lease.prompt(reports)), err
}
