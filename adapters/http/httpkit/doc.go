// Package httpkit is what all HTTP adapters share: the envelope of answers, the one table from fault codes to statuses,
// the checks that every request passes before its handler, and the server.
//
// Start with New (the router and what surrounds each request), then Table.Gate (the checks, in their order) and
// Table.Serve (a route for each operation of the OpenAPI document). A Handler returns an answer or an error. What a
// resource looks like belongs to the domain, not here.
package httpkit
