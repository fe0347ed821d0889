-- +goose Up
CREATE TABLE lead_state (
    single     BIGINT NOT NULL PRIMARY KEY CHECK (single = 1),
    revision   BIGINT NOT NULL, -- of leads, campaigns and the taxonomy: one unit after the other changes them
    taxonomy   BIGINT NOT NULL, -- the revision in which the taxonomy changed last
    changed_at BIGINT           -- later than at any change before; NULL: nothing was ever changed
);
INSERT INTO lead_state (single, revision, taxonomy) VALUES (1, 0, 0);

-- What leads are found by. What is shown of them is in lead_entries, so that this table is short. Every column that is read
-- costs, so what is always read together is one text.
--
-- A lead that was removed leaves its row: its key, which no other lead gets, its id, and in updated_at its place.
CREATE TABLE leads (
    key        BIGINT           NOT NULL PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL CONSTRAINT leads_id UNIQUE,
    revision   BIGINT           NOT NULL, -- in which it was kept or removed last
    updated_at BIGINT           NOT NULL,
    labels     TEXT COLLATE "C" NOT NULL, -- industry, vertical, enrichment, "website" if it has any, campaigns: all between spaces
    rating     BIGINT           NOT NULL, -- in hundredths; -1: none
    digest     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    moved_from BIGINT,
    removed_at BIGINT
);
CREATE INDEX leads_by_place ON leads (updated_at, id) WHERE removed_at IS NULL;
CREATE INDEX leads_by_revision ON leads (revision);
CREATE INDEX leads_removed ON leads (removed_at, id) WHERE removed_at IS NOT NULL;

CREATE TABLE lead_entries (
    key   BIGINT           NOT NULL PRIMARY KEY,
    entry TEXT COLLATE "C" NOT NULL -- a line with all but its document, then that
);

CREATE TABLE campaigns (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name         TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL,
    industry_id  TEXT COLLATE "C" NOT NULL, -- empty: none
    vertical_id  TEXT COLLATE "C" NOT NULL, -- empty: none
    geography_id TEXT COLLATE "C" NOT NULL, -- empty: none
    lead_count   BIGINT           NOT NULL,
    created_at   BIGINT           NOT NULL,
    updated_at   BIGINT           NOT NULL
);
CREATE INDEX campaigns_by_place ON campaigns (updated_at, id);

CREATE TABLE industries (
    id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name   TEXT COLLATE "C" NOT NULL,
    slug   TEXT COLLATE "C" NOT NULL,
    active BIGINT           NOT NULL -- 1: yes
);

CREATE TABLE verticals (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    industry_id TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    slug        TEXT COLLATE "C" NOT NULL,
    active      BIGINT           NOT NULL -- 1: yes
);

CREATE TABLE geographies (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name         TEXT COLLATE "C" NOT NULL,
    slug         TEXT COLLATE "C" NOT NULL,
    country_code TEXT COLLATE "C" NOT NULL -- empty: none
);

CREATE TABLE vertical_intelligence (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    vertical_id    TEXT COLLATE "C" NOT NULL,
    summary        TEXT COLLATE "C" NOT NULL,
    pain_points    TEXT COLLATE "C" NOT NULL, -- a JSON list
    buying_signals TEXT COLLATE "C" NOT NULL, -- a JSON list
    updated_at     BIGINT           NOT NULL
);
