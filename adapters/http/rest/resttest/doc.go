// Package resttest is a client of the orchestration API for tests. It holds every request and every answer, errors too,
// against the OpenAPI document that the server itself publishes, and fails the test when the document lies.
package resttest
