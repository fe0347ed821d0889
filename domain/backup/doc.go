// Package backup has the rules of backups: what one is made of, which ones are kept, when the next is due, and what is told of them.
package backup
