// Package export answers what partners ask: leads, campaigns and the taxonomy, read only. Which leads a filter wants is
// for store.LeadSearch to find; here the names of the taxonomy come to them.
package export
