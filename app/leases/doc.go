// Package leases is the use cases of agents at work: claiming issues, and working on them under leases.
package leases
