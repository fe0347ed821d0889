// Package activity is the use cases of the activity log: lists, exports, and streams of what is being committed.
package activity
