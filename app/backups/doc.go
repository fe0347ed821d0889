// Package backups has the use cases that copy the store and bring it back.
package backups
