// Package imports holds the use cases that import leads, campaigns and the taxonomy, and remove leads.
//
// Lines are validated and encoded in a goroutine (check_ahead.go), ahead of the units of work that store them batch by batch
// (batches.go). The size of a batch adapts to the time that its unit takes, so that other requests are not delayed; on
// SQLite, processes wait for each other by file locks. lead.Merge compares a batch with what is stored, by a digest of the content:
// a batch that changes nothing writes nothing, and raises no revision. Each other batch is recorded with its event in its
// unit, so that a crash leaves whole batches.
//
// A file of leads is read twice (passes.go): the first pass finds the last line of each id (line_ids.go), the second
// imports those lines.
//
// Uploads (uploads.go) are files that were sent to a server. Each has a row, and is imported by the process that has received it
// (uploads_run.go), which notes in the row how far it is (uploads_notes.go). While that lives it moves on an instant of the store's
// clock; once this has passed, any process ends the import as interrupted.
package imports
