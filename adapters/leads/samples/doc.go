// Package samples makes sample data that can be imported: a taxonomy, campaigns and leads that look like real ones and
// are invented. The same size and seed always give the same bytes, however large, in memory that stays small.
package samples
