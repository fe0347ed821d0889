// Package run is what agents do with issues: runs, which are attempts at an issue, and the leases under which they work.
package run
