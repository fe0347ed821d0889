// Package runner runs the agents that Holdco runs itself: it claims issues for them, starts their programs or calls their
// URLs, keeps their leases, and ends these as the work ends.
//
// Service is the job of a server. It claims as the agents, through the use case of the gateway. A Worker sees one lease through: it
// starts the program, renews, and ends the lease as the program ends. Remote is the same on other machines, for the command work.
// A process of Holdco is the holder of the leases that it works on: whoever finds by its lock that it has ended kills what it left,
// and releases them.
package runner
