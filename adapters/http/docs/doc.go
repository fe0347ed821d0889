// Package docs is the reference page of an API: Swagger UI, embedded in the binary, showing the document that lies beside the page
// as openapi.json. The page loads nothing from elsewhere and talks to its own origin only.
//
// page/ has our files, swagger-ui/ those that update.sh downloads and compresses.
package docs
