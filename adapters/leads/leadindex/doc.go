// Package leadindex finds leads in memory: it implements store.LeadSearch for any number of leads and pages of any
// depth, and asks the store only for the leads of the page.
//
// Leads are numbered by positions, in the order of the export, and for each trait that a filter can ask for there is a
// bitmap of the positions that have it. What changes gets a position after all others, and its old one becomes dead. Readers
// work on a snapshot that never changes; the follower makes the next one beside it, and shares with it what did not
// change. Index is the way in; follow.go reads the store, draft.go is what it works on, snapshot.go what readers work on,
// columns.go what both store for each position.
package leadindex
