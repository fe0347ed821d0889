package backup

import (
	"slices"
	"time"

	"holdco/domain/fault"
)

// Format is the version of the format that this program writes and reads.
const Format = 1

// mostBytes is more than any store has. It keeps sums of sizes from overflowing.
const mostBytes = 1 << 60

// The engines of stores.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Manifest is the first entry of a backup: what is in it.
type Manifest struct {
	Format    int              `json:"format"`
	Version   string           `json:"version"` // of the program that made it
	Engine    string           `json:"engine"`
	Schema    int64            `json:"schema"`         // the newest migration of the store
	At        time.Time        `json:"at"`             // all that was acknowledged before is in it
	Key       string           `json:"keyFingerprint"` // of the key that secrets in it are sealed with; empty: of none
	FormerKey string           `json:"formerKey"`      // while the key was being rotated: some may be sealed with this one; else empty
	Tables    []string         `json:"tables"`         // in the order of their references
	Sequences map[string]int64 `json:"sequences"`      // by table and column, such as activity.seq: the last number that was given
	Bytes     int64            `json:"bytes"`          // of the entries that hold the store
	HasSpaces bool             `json:"workspaces"`     // the workspaces of companies are in it
}

// Check refuses what this program cannot restore into a store of an engine, for which it knows the schema up to newest.
func (m Manifest) Check(engine string, newest int64) error {
	switch {
	case m.Format < 1 || m.Schema < 1 || m.Bytes < 0 || m.Bytes > mostBytes:
		return Broken("its manifest makes no sense")
	case m.Format > Format:
		return fault.New(fault.InvalidFile, "The backup has format %d, but this program knows formats up to %d only; run a newer holdco.",
			m.Format, Format)
	case m.Engine != SQLite && m.Engine != Postgres:
		return Broken("its manifest names the engine %q", m.Engine)
	case m.Engine != engine:
		return fault.New(fault.InvalidFile, "The backup is one of a store on %s, and this one is on %s; restore it into a store on %[1]s.",
			Spelled(m.Engine), Spelled(engine))
	case m.Schema > newest:
		return fault.New(fault.InvalidFile,
			"The backup has version %d of the schema, but this program knows versions up to %d only; run a newer holdco.", m.Schema, newest)
	}
	for n, table := range m.Tables {
		if !isName(table) || slices.Contains(m.Tables[:n], table) {
			return Broken("its manifest names the table %q", table)
		}
	}
	return nil
}

// Spelled is an engine as people call it.
func Spelled(engine string) string {
	if engine == Postgres {
		return "PostgreSQL"
	}
	return "SQLite"
}

// Broken is the fault of a file that is no backup, or not a whole one. The reason is formatted as by fmt.Sprintf.
func Broken(reason string, args ...any) error {
	return fault.New(fault.InvalidFile, "This is no backup, or a damaged one: "+reason+".", args...)
}

// isName reports whether a text can be the name of a table: letters, digits and underscores.
func isName(text string) bool {
	for _, r := range text {
		if r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return text != "" && len(text) <= 63
}
