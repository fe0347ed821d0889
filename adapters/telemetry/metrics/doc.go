// Package metrics counts and times what Holdco does, for Prometheus to scrape.
//
// Each kind of figure has a file: requests, the store, limits, jobs, work. They are taken where things happen, by hooks and
// wrappers that know nothing of Prometheus, or read at each scrape: those are Collectors. No label ever has an id,
// a path or anything else that clients choose, so the number of series is bounded by the program itself.
//
// Beside the package are a dashboard for Grafana and rules for alerts; a test checks both against what is exported.
package metrics
