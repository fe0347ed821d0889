// Package httpkit is what all HTTP adapters share: the envelope of answers, the one table from fault codes to statuses,
// the checks that every request passes before its handler, and the server.
//
// Start with New (the router and what surrounds each request), then Table.Gate (the checks, in their order). A handler
// ends in Write or in Fail. What a resource looks like belongs to the adapters, not here.
package httpkit
