// Package adapters runs the agents that Holdco runs itself: it claims issues for them, starts their programs or calls their
// URLs, keeps their leases, and ends these as the work ends.
package adapters
