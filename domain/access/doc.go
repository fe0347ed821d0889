// Package access says who may do what: tokens, the scopes they carry, and the caller that a token makes of a request.
package access
