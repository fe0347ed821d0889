-- +goose Up
CREATE TABLE partners (
    id           TEXT    NOT NULL PRIMARY KEY,
    name         TEXT    NOT NULL,
    origins      TEXT    NOT NULL, -- separated by spaces
    hint         TEXT    NOT NULL,
    hash         TEXT    NOT NULL CONSTRAINT partners_hash UNIQUE,
    old_hash     TEXT    NOT NULL, -- empty: none is alive
    old_until    INTEGER,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    version      INTEGER NOT NULL
) STRICT;
CREATE INDEX partners_by_old_hash ON partners (old_hash) WHERE old_hash <> '';
CREATE INDEX partners_by_age ON partners (created_at, id);
CREATE INDEX partners_unrevoked ON partners (expires_at) WHERE revoked_at IS NULL;
