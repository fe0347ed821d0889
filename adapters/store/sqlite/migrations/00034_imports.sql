-- +goose Up
-- Files that were sent to be imported, and what has become of them.
CREATE TABLE imports (
    id              TEXT    NOT NULL PRIMARY KEY,
    kind            TEXT    NOT NULL,
    name            TEXT    NOT NULL, -- of the file; empty: none was given
    format          TEXT    NOT NULL,
    dry_run         INTEGER NOT NULL,
    strict          INTEGER NOT NULL,
    keep_timestamps INTEGER NOT NULL,
    bytes           INTEGER NOT NULL, -- of the file as it was sent
    status          TEXT    NOT NULL,
    checking        INTEGER NOT NULL, -- 1: in the first of the two passes
    lines_done      INTEGER NOT NULL, -- of the pass
    bytes_done      INTEGER NOT NULL, -- of the pass
    lines_read      INTEGER NOT NULL,
    inserted        INTEGER NOT NULL,
    updated         INTEGER NOT NULL,
    unchanged       INTEGER NOT NULL,
    rejected        INTEGER NOT NULL,
    code            TEXT    NOT NULL, -- why it failed; empty: it did not
    problem         TEXT    NOT NULL,
    version         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    live_until      INTEGER NOT NULL, -- by the clock of the store: until then a process works on it
    ended_at        INTEGER -- NULL: it runs
) STRICT;
CREATE INDEX imports_by_age ON imports (created_at, id);
CREATE INDEX imports_running ON imports (id) WHERE status = 'running';

-- The first lines that an import has rejected, in their order.
CREATE TABLE import_rejects (
    import_id TEXT    NOT NULL,
    place     INTEGER NOT NULL, -- from 0 on
    line      INTEGER NOT NULL, -- of the file; several of a list in JSON can have one line
    item_id   TEXT    NOT NULL, -- of the lead or campaign; empty: unknown
    problems  TEXT    NOT NULL, -- a JSON list
    PRIMARY KEY (import_id, place)
) STRICT;
