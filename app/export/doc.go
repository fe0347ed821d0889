// Package export answers partners: leads, campaigns and the taxonomy, read only. store.LeadSearch finds the leads; this
// package adds the names of the taxonomy.
package export
