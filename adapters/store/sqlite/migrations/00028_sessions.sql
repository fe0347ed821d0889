-- +goose Up
CREATE TABLE sessions (
    id           TEXT    NOT NULL PRIMARY KEY,
    hash         TEXT    NOT NULL,
    token_id     TEXT    NOT NULL,
    token_hash   TEXT    NOT NULL,
    browser      TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    CONSTRAINT sessions_hash UNIQUE (hash)
) STRICT;
CREATE INDEX sessions_by_age ON sessions (created_at, id);
CREATE INDEX sessions_by_use ON sessions (last_seen_at);
CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE login_codes (
    id         TEXT    NOT NULL PRIMARY KEY, -- made from the code, which is not kept
    token_id   TEXT    NOT NULL,
    token_hash TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX login_codes_by_end ON login_codes (expires_at);
