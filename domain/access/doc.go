// Package access says who may do what: tokens, the scopes they carry, and the caller that a token makes of a request. What
// tokens have in common with the keys of partners is a Credential.
package access
