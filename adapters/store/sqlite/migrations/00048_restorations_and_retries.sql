-- +goose Up
-- The store was restored without being migrated, and what a restoration has to do before anything works on it is still to be done: see
-- app/backups. No row: it is not so. Such a restoration makes the table in the schema as it is, before this migration comes to it.
CREATE TABLE IF NOT EXISTS restorations (
    single         INTEGER NOT NULL PRIMARY KEY CHECK (single = 1),
    backup_at      INTEGER NOT NULL,
    version        TEXT    NOT NULL, -- of the program that made the backup
    schema_version INTEGER NOT NULL, -- of the backup
    actor          TEXT    NOT NULL  -- who has restored it
) STRICT;

-- How many scheduled backups have failed since one succeeded, and when the next is tried; NULL: the last one has not failed.
ALTER TABLE backup_schedule ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE backup_schedule ADD COLUMN retry_at INTEGER;
