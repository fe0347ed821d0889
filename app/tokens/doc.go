// Package tokens holds the use cases of API tokens, one file each: issuing, changing and reading them, authenticating
// with them, and the first token of a new instance.
package tokens
