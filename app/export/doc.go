// Package export answers partners: leads, campaigns and the taxonomy, read only. store.LeadSearch finds the leads; this
// package adds the names of the taxonomy.
//
// The feed (feed.go) is what happened to leads, in the order in which it happened. The store has it; this package lets readers wait for
// what comes next.
//
// A stream reads portions of leads, one ahead of the one that is written (stream.go), and keeps nothing open in the store
// in between. It resumes after the last lead that was received: if that lead has changed since, from where it was
// (lead.ResumeWindow), so that a resumed stream repeats leads rather than skips any.
package export
