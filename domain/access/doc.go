// Package access is authentication and authorization: tokens, their scopes, and the Caller that a token authenticates.
// A Credential is what tokens share with the keys of partners. A Session is a token in use by a person in a browser.
package access
