// Package gateway is the API that agents work through, over HTTP. It is an API of its own, with the tokens of agents, its own
// document and listener. The OpenAPI document is written first, one file per group of operations in the folder openapi; what
// it shows of the orchestration API it takes from there. The routes and the checks before each handler come from it.
//
// There is one file of handlers per group: it turns what was sent into a call of an inbound port, and what came back into an
// answer.
package gateway

//go:generate go run ../rest/generate.go ../rest ../rest
