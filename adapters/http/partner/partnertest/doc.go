// Package partnertest is the HTTP client of tests of the export API: whatever it sends and gets, errors included, must be
// as the published OpenAPI document says.
package partnertest
