// Package docs is the reference page of an API: Swagger UI, held in the binary, showing the document that lies beside the page
// as openapi.json. The page loads nothing from elsewhere and talks to its own origin only.
//
// page/ holds what is ours, swagger-ui/ what update.sh fetched, compressed.
package docs
