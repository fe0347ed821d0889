// Package activity is the use cases of the activity log: lists, exports, streams of what is being committed, and the chains by which
// anyone can see that no entry was changed, removed or inserted.
package activity
