// Package lead holds what partners export: leads (companies outside, with contacts and enrichment), the campaigns that
// they belong to, and the taxonomy of industries, verticals and geographies. Filter.Match is the definition of every
// search for leads; whatever answers one faster is held against it. Start reading at lead.go.
package lead
