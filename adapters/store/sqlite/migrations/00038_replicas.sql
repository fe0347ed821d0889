-- +goose Up
-- The servers that run on the store, as each says of itself; and for an hour those that did. Instants are of the store's clock.
CREATE TABLE replicas (
    id      TEXT    NOT NULL PRIMARY KEY,
    program TEXT    NOT NULL, -- its version
    since   INTEGER NOT NULL,
    seen_at INTEGER NOT NULL  -- when it last said that it runs
) STRICT;
