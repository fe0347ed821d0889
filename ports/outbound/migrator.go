package outbound

import (
	"context"
	"time"
)

// Migrator migrates the schema of a store to the version that this program needs. Migrations go forward only.
type Migrator interface {
	// Up applies every pending migration, each in its own transaction, and returns those it applied. When two processes
	// call it at the same time, each migration is applied once. It fails when the schema is newer than this program
	// can work with.
	Up(ctx context.Context) ([]Migration, error)

	// Status returns what the schema is. It fails when that is newer than this program can work with.
	Status(ctx context.Context) (Schema, error)
}

// Schema is what a store has of a schema.
type Schema struct {
	Version        int64       // of its newest migration; 0: it has none
	CompatibleFrom int64       // a program can work with it that knows this version; 0: the schema does not say so
	Migrations     []Migration // that this program knows, oldest first
	Unsettled      bool        // the store was restored without being migrated, and is not ready for work until Up was called
	CopyBytes      int64       // about how many bytes a copy of the store has; 0: it is not known
}

// Newest returns the newest version that this program knows. That of a schema can be newer, if the program can work with it all the same.
func (s Schema) Newest() int64 {
	if len(s.Migrations) == 0 {
		return 0
	}
	return s.Migrations[len(s.Migrations)-1].Version
}

// Pending returns the migrations that were not applied.
func (s Schema) Pending() (pending []Migration) {
	for _, one := range s.Migrations {
		if one.AppliedAt.IsZero() {
			pending = append(pending, one)
		}
	}
	return pending
}

// Migration is one step of the schema.
type Migration struct {
	Version   int64
	Name      string    // of its file, such as 00001_companies.sql
	AppliedAt time.Time // zero: pending
	Rewrites  []string  // tables of which it may change every row
}
