// Package lead is what partners export: leads (companies outside, with contacts and enrichment), the campaigns that
// they belong to, and the taxonomy of industries, verticals and geographies. Filter.Match defines which leads a search
// finds; every faster search is tested against it. Start reading at lead.go.
package lead
