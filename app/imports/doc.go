// Package imports holds the use cases by which leads, campaigns and the taxonomy come in, and leads go.
//
// Lines are read and checked in a goroutine of their own (ahead.go), while units of work keep them batch by batch
// (batches.go): each unit in about the time that one may take, so that others get their turn. A batch in which nothing
// differs from what is kept writes nothing.
package imports
