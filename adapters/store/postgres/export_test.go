package postgres

import "database/sql"

// Migrating is the pool of what takes long: migrations, backups, restorations and moves.
func (e *Engine) Migrating() *sql.DB { return e.migrating }
