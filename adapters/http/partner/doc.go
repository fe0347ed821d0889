// Package partner is the export API over HTTP: what partners read. It is an API of its own, with its own keys, document
// and listener. The OpenAPI document is written first, in the folder openapi; the routes and the checks before each
// handler come from it.
//
// The store keeps a lead as the JSON that is shown, so handlers put answers together from bytes. Start reading at api.go.
package partner
