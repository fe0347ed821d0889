-- +goose Up
-- Files that were sent to be imported, and what has become of them.
CREATE TABLE imports (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind            TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL, -- of the file; empty: none was given
    format          TEXT COLLATE "C" NOT NULL,
    dry_run         BIGINT           NOT NULL,
    strict          BIGINT           NOT NULL,
    keep_timestamps BIGINT           NOT NULL,
    bytes           BIGINT           NOT NULL, -- of the file as it was sent
    status          TEXT COLLATE "C" NOT NULL,
    checking        BIGINT           NOT NULL, -- 1: in the first of the two passes
    lines_done      BIGINT           NOT NULL, -- of the pass
    bytes_done      BIGINT           NOT NULL, -- of the pass
    lines_read      BIGINT           NOT NULL,
    inserted        BIGINT           NOT NULL,
    updated         BIGINT           NOT NULL,
    unchanged       BIGINT           NOT NULL,
    rejected        BIGINT           NOT NULL,
    code            TEXT COLLATE "C" NOT NULL, -- why it failed; empty: it did not
    problem         TEXT COLLATE "C" NOT NULL,
    version         BIGINT           NOT NULL,
    created_at      BIGINT           NOT NULL,
    live_until      BIGINT           NOT NULL, -- by the clock of the store: until then a process works on it
    ended_at        BIGINT -- NULL: it runs
);
CREATE INDEX imports_by_age ON imports (created_at, id);
CREATE INDEX imports_running ON imports (id) WHERE status = 'running';

-- The first lines that an import has rejected, in their order.
CREATE TABLE import_rejects (
    import_id TEXT COLLATE "C" NOT NULL,
    place     BIGINT           NOT NULL, -- from 0 on
    line      BIGINT           NOT NULL, -- of the file; several of a list in JSON can have one line
    item_id   TEXT COLLATE "C" NOT NULL, -- of the lead or campaign; empty: unknown
    problems  TEXT COLLATE "C" NOT NULL, -- a JSON list
    PRIMARY KEY (import_id, place)
);
