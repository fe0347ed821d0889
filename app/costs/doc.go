// Package costs is the use cases of what the work of companies costs: reports, forecasts, entries and their corrections.
package costs
