// Package cost is what the work of agents costs: charges, which agents report, and the entries that are kept of them.
package cost
