// Package approvals has the use cases of people who decide what agents ask for. What agents do is in app/leases.
package approvals
