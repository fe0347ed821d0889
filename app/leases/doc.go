// Package leases is the use cases of agents at work: claiming issues, and working on them under leases.
//
// How an issue is chosen and leased is in claim.go, and how claims wait for one in waiting.go. A call on a lease begins in
// locked.go, which locks the lease and refuses it unless it is live, and goes on in calls.go.
package leases
