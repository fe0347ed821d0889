// Package access is authentication and authorization: tokens, their scopes, and the Caller that a token authenticates.
// A Credential is what tokens share with the keys of partners.
package access
