package backup

import (
	"maps"
	"slices"
	"strings"
)

// The names of entries. Those of workspaces lie below Workspaces.
const (
	ManifestName = "manifest.json"
	StoreName    = "store.db" // of SQLite
	SumsName     = "sums.json"
	Workspaces   = "workspaces/"

	rowsFolder, rowsEnding = "rows/", ".ndjson" // of PostgreSQL
)

// RowsName is the name of the entry with the rows of a table.
func RowsName(table string) string { return rowsFolder + table + rowsEnding }

// TableOf is the table whose rows an entry has; empty: none.
func TableOf(name string) string {
	table, isRows := strings.CutPrefix(name, rowsFolder)
	table, ends := strings.CutSuffix(table, rowsEnding)
	if !isRows || !ends {
		return ""
	}
	return table
}

// Kind is what an entry is.
type Kind string

// The kinds. Nothing else is in a backup.
const (
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link" // symbolic
	Other  Kind = "other"
)

// Entry is the head of an entry.
type Entry struct {
	Name         string
	Kind         Kind
	Bytes        int64  // of a file
	Target       string // of a link
	IsExecutable bool   // of a file
}

// Sum is what an entry comes to.
type Sum struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the content, of a link that of its target; in hexadecimal digits
	Rows   int64  `json:"rows"`   // of the store in it
}

// Sums are the last entry of a backup: what those before it come to. A file without them is incomplete.
type Sums struct {
	Entries []Sum            `json:"entries"`
	Rows    map[string]int64 `json:"rows"` // by table
}

// The most bytes of the entries that are read as a whole.
const (
	MostManifest = 1 << 20
	MostSums     = 256 << 20
)

// MostEntries is how many entries a backup can have at most: the sums of more are larger than MostSums. Their names are kept while it is
// read.
const MostEntries = 2_000_000

// Reading checks the entries of a backup in the order in which they are read: the manifest, the store, workspaces, the sums.
type Reading struct {
	manifest *Manifest
	read     []Sum
	names    map[string]struct{}
	bytes    int64 // of the store
	inSpaces bool
	ended    bool
}

// Begin takes the manifest, which was checked.
func (r *Reading) Begin(m Manifest) { r.manifest, r.names = &m, map[string]struct{}{} }

// Admit refuses an entry that is none of a backup at this place.
func (r *Reading) Admit(e Entry) error {
	switch {
	case r.ended:
		return Broken("there is an entry after its sums, %q", e.Name)
	case r.manifest == nil:
		if e.Name != ManifestName || e.Kind != File || e.Bytes > MostManifest {
			return Broken("it does not begin with its manifest")
		}
		return nil
	case e.Name == SumsName:
		if e.Kind != File || e.Bytes > MostSums {
			return Broken("its sums are no file, or too large")
		}
		r.ended = true
		return nil
	}
	if _, again := r.names[e.Name]; again {
		return Broken("it has the entry %q twice", e.Name)
	}
	r.names[e.Name] = struct{}{}
	if len(r.names) > MostEntries {
		return Broken("it has more entries than a backup can have")
	}
	if strings.HasPrefix(e.Name, Workspaces) {
		r.inSpaces = true
		return r.admitWorkspace(e)
	}
	if r.inSpaces {
		return Broken("its entry %q comes after workspaces", e.Name)
	}
	if err := r.admitStore(e); err != nil {
		return err
	}
	if e.Bytes < 0 || e.Bytes > r.manifest.Bytes-r.bytes { // a sum of sizes could overflow
		return Broken("its entry %q is larger than its manifest says", e.Name)
	}
	r.bytes += e.Bytes
	return nil
}

func (r *Reading) admitStore(e Entry) error {
	isStore := r.manifest.Engine == SQLite && e.Name == StoreName
	isRows := r.manifest.Engine == Postgres && slices.Contains(r.manifest.Tables, TableOf(e.Name))
	if e.Kind != File || !isStore && !isRows {
		return strange(e)
	}
	return nil
}

// strange is the error of an entry that no backup has.
func strange(e Entry) error {
	if e.Kind == Other {
		return Broken("it has the entry %q, which is neither a file nor a folder", e.Name)
	}
	return Broken("it has the entry %q, a %s, which no backup has", e.Name, e.Kind)
}

func (r *Reading) admitWorkspace(e Entry) error {
	if !r.manifest.HasSpaces || e.Kind == Other || !isLocal(strings.TrimPrefix(e.Name, Workspaces)) || e.Bytes < 0 {
		return strange(e)
	}
	return nil
}

// isLocal reports whether a path stays in the folder in which it is, and is spelled in one way alone.
func isLocal(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00") {
			return false
		}
	}
	return true
}

// Note notes what an entry came to.
func (r *Reading) Note(sum Sum) { r.read = append(r.read, sum) }

// End compares what was read with the sums, and fails if anything differs. It says which entry.
func (r *Reading) End(sums Sums) error {
	if !r.ended {
		return Broken("it ends before its sums; it was cut off")
	}
	for n, is := range r.read {
		if n >= len(sums.Entries) || sums.Entries[n].Name != is.Name {
			return Broken("its entry %q is not in its sums", is.Name)
		}
		want, table := sums.Entries[n], TableOf(is.Name)
		if table == "" { // who opens it counts its rows
			is.Rows = want.Rows
		}
		if want != is || table != "" && sums.Rows[table] != is.Rows {
			return Broken("its entry %q is not what its sums say", is.Name)
		}
	}
	if len(sums.Entries) > len(r.read) {
		return Broken("its entry %q is missing", sums.Entries[len(r.read)].Name)
	}
	for _, table := range slices.Sorted(maps.Keys(sums.Rows)) {
		if !slices.Contains(r.manifest.Tables, table) {
			return Broken("its sums name the table %q", table)
		}
	}
	return nil
}
