// Package secret is the rules of the secrets of companies: values that programs of agents need, such as keys of APIs. Only programs
// get a value; everything else shows a secret without it.
package secret
