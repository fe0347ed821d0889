// Package rest is the orchestration API over HTTP. The OpenAPI document is written first, one file per resource in the
// folder openapi: the bodies of requests in models.gen.go, the routes, the checks before each handler and the reference
// page all come from it.
//
// There is one file of handlers per resource. A handler turns what was sent into a call of an inbound port, and what
// came back into an answer; rules live in the domain, order and rights in the application.
package rest

//go:generate go run generate.go .
