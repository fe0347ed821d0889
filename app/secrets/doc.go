// Package secrets is the use cases of secrets, whose values runs alone are given: the runner reveals them, and hides them in what the
// runs say.
package secrets
