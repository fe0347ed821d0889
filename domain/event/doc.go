// Package event holds what happened, as one fact: an entry of the activity log and a webhook are two looks at it.
package event
