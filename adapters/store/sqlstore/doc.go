// Package sqlstore implements ports/store in SQL, once for every engine, with bun. All that differs between engines is in
// the interface Engine.
//
// Start with store.go, which has the store and its unit of work, and with table.go. Rows are mapped in one of two ways:
//
//   - A table[T] maps a value of the domain, whole, to a row by a list of columns (column.go). Its prepared statements and
//     those of its pages come from that list, and stored.go makes them a repository. Aggregates, and what belongs to them as
//     teams do to a company, are stored like this.
//   - A model of bun is a struct with a field for each column, and converts itself to the domain. It serves where a row is
//     not one value of the domain, such as a queue, a receipt, or a lead with its document, or where queries are composed at
//     run time, such as those of the activity log and of deliveries. A model that is written often has columns (rows.go), so
//     that its statements are prepared too (statements.go).
//
// Each table is declared in the file of its repository. The schemas live with the engines.
package sqlstore
