// Package sqlitetest gives tests databases of SQLite that have the schema of this program and no rows. Migrations run
// once in a process; each database starts as a copy of what they left.
package sqlitetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"holdco/adapters/store/sqlite"
)

// Open opens a database in memory until the end of the test.
func Open(t testing.TB) *sqlite.Engine {
	t.Helper()
	engine, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: sqlite.Memory, Image: Image(t), UnitTimeout: time.Minute, // many tests run at once
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

// Dir returns a folder that a server can have as its data directory, with a database in the file holdco.db.
func Dir(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "holdco.db"), Image(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// Image returns the content of the file of a database. Nobody may change it.
func Image(t testing.TB) []byte {
	t.Helper()
	made, err := image()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

var image = sync.OnceValues(func() (made []byte, err error) {
	folder, err := os.MkdirTemp("", "holdco-image-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()

	ctx := context.Background()
	path := filepath.Join(folder, "holdco.db")
	engine, err := sqlite.Open(ctx, sqlite.Options{Path: path, Synchronous: sqlite.Normal, Exclusive: true})
	if err != nil {
		return nil, err
	}
	_, err = engine.Migrator().Up(ctx)
	if err := errors.Join(err, engine.Close()); err != nil { // which leaves nothing in the write-ahead log
		return nil, err
	}
	return os.ReadFile(path)
})
