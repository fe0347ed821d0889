-- +goose Up
CREATE TABLE lead_state (
    single     INTEGER NOT NULL PRIMARY KEY CHECK (single = 1),
    revision   INTEGER NOT NULL, -- of leads, campaigns and the taxonomy: one unit after the other changes them
    taxonomy   INTEGER NOT NULL, -- the revision in which the taxonomy changed last
    changed_at INTEGER           -- later than at any change before; NULL: nothing was ever changed
) STRICT;
INSERT INTO lead_state (single, revision, taxonomy) VALUES (1, 0, 0);

-- What leads are found by. What is shown of them is in lead_entries, so that this table is short. Every column that is read
-- costs, so what is always read together is one text.
--
-- A lead that was removed leaves its row: its key, which no other lead gets, its id, and in updated_at its place.
CREATE TABLE leads (
    key        INTEGER NOT NULL PRIMARY KEY,
    id         TEXT    NOT NULL CONSTRAINT leads_id UNIQUE,
    revision   INTEGER NOT NULL, -- in which it was kept or removed last
    updated_at INTEGER NOT NULL,
    labels     TEXT    NOT NULL, -- industry, vertical, enrichment, "website" if it has any, campaigns: all between spaces
    rating     INTEGER NOT NULL, -- in hundredths; -1: none
    digest     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    moved_from INTEGER,
    removed_at INTEGER
) STRICT;
CREATE INDEX leads_by_place ON leads (updated_at, id) WHERE removed_at IS NULL;
CREATE INDEX leads_by_revision ON leads (revision);
CREATE INDEX leads_removed ON leads (removed_at, id) WHERE removed_at IS NOT NULL;

CREATE TABLE lead_entries (
    key   INTEGER NOT NULL PRIMARY KEY,
    entry TEXT    NOT NULL -- a line with all but its document, then that
) STRICT;

CREATE TABLE campaigns (
    id           TEXT    NOT NULL PRIMARY KEY,
    name         TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    industry_id  TEXT    NOT NULL, -- empty: none
    vertical_id  TEXT    NOT NULL, -- empty: none
    geography_id TEXT    NOT NULL, -- empty: none
    lead_count   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX campaigns_by_place ON campaigns (updated_at, id);

CREATE TABLE industries (
    id     TEXT    NOT NULL PRIMARY KEY,
    name   TEXT    NOT NULL,
    slug   TEXT    NOT NULL,
    active INTEGER NOT NULL -- 1: yes
) STRICT;

CREATE TABLE verticals (
    id          TEXT    NOT NULL PRIMARY KEY,
    industry_id TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    slug        TEXT    NOT NULL,
    active      INTEGER NOT NULL -- 1: yes
) STRICT;

CREATE TABLE geographies (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL,
    slug         TEXT NOT NULL,
    country_code TEXT NOT NULL -- empty: none
) STRICT;

CREATE TABLE vertical_intelligence (
    id             TEXT    NOT NULL PRIMARY KEY,
    vertical_id    TEXT    NOT NULL,
    summary        TEXT    NOT NULL,
    pain_points    TEXT    NOT NULL, -- a JSON list
    buying_signals TEXT    NOT NULL, -- a JSON list
    updated_at     INTEGER NOT NULL
) STRICT;
