package outbound

import (
	"context"
	"time"
)

// Migrator migrates the schema of a store to the version that this program needs. Migrations go forward only.
type Migrator interface {
	// Up applies every pending migration, each in its own transaction, and returns those it applied. When two processes
	// call it at the same time, each migration is applied once. It fails when the schema is newer than this program.
	Up(ctx context.Context) ([]Migration, error)

	// Status returns every migration that this program knows, oldest first. It fails when the schema is newer than
	// this program.
	Status(ctx context.Context) ([]Migration, error)
}

// Migration is one step of the schema.
type Migration struct {
	Version   int64
	Name      string    // of its file, such as 00001_companies.sql
	AppliedAt time.Time // zero: pending
}
