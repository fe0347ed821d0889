// Package companies holds the use cases of companies, one file each.
//
// Each use case authorizes its caller, loads, asks the domain, saves and records the event. Deletions and workspaces
// continue in the background after the answer, from what the store says: see remove.go and workspaces.go.
package companies
