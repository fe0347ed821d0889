// Package importer reads files of leads, campaigns and the taxonomy into drafts: one JSON object per line, a JSON list of
// objects, or CSV, each also packed with gzip. It looks at form alone; what a draft may say is for the domain.
//
// A file is read as it comes, whatever its size. A malformed line is reported as one invalid line, and reading
// continues after it. Start with Files; source.go, elements.go and records.go take a file apart, walker.go and columns.go read
// what is in one part.
package importer
