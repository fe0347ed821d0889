package store

import (
	"context"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
)

// ActivityReader reads the activity log: every recorded event, except those of removed companies.
type ActivityReader interface {
	// Get returns an event, or fault.NotFound. The fields of Data and Previous are sorted by name.
	Get(ctx context.Context, which id.Entry) (event.Event, error)

	// List returns at most size events that match, after the position after: newest first, and by descending id within one
	// instant. The fields are as in Get.
	List(ctx context.Context, filter ActivityFilter, after page.Position, size int) (page.Page[event.Event], error)
}

// ActivityFilter says which events a list holds: those that meet every condition that is set.
type ActivityFilter struct {
	Company *id.Company // nil: any; empty: those of the instance alone
	Type    event.Type  // "": any
}
