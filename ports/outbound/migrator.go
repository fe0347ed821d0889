package outbound

import (
	"context"
	"time"
)

// Migrator brings the schema of a store to what this program needs. Migrations go forward only.
type Migrator interface {
	// Up applies every pending migration, each in a transaction of its own, and returns those it applied. Two processes
	// at once apply each of them once. It fails when the schema is newer than this program.
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
