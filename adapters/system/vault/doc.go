// Package vault seals secrets with the key of the instance, which is kept in a file beside the store, so that a copy of
// the store alone betrays none. keyfile.go is the file, vault.go what is done with its key.
package vault
