-- Times are milliseconds since 1970 (UTC), money is millionths of a US dollar, percentages are hundredths.

-- +goose Up
CREATE TABLE companies (
    id               TEXT    NOT NULL PRIMARY KEY,
    slug             TEXT    NOT NULL CONSTRAINT companies_slug UNIQUE,
    name             TEXT    NOT NULL,
    description      TEXT    NOT NULL,
    default_adapter  TEXT    NOT NULL,
    fiscal_period    TEXT    NOT NULL,
    budget_usd       INTEGER NOT NULL,
    budget_period    TEXT    NOT NULL,
    reserve_percent  INTEGER NOT NULL,
    team_count       INTEGER NOT NULL,
    agent_count      INTEGER NOT NULL,
    status           TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    archived_at      INTEGER,
    restorable_until INTEGER,
    deleted_by       TEXT    NOT NULL,
    version          INTEGER NOT NULL
) STRICT;
CREATE INDEX companies_by_status ON companies (status, created_at, id);

CREATE TABLE teams (
    id          TEXT    NOT NULL PRIMARY KEY,
    company_id  TEXT    NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL,
    name_key    TEXT    NOT NULL, -- the name, folded
    slug        TEXT    NOT NULL,
    headcount   INTEGER NOT NULL,
    agent_count INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    CONSTRAINT teams_name UNIQUE (company_id, name_key),
    CONSTRAINT teams_slug UNIQUE (company_id, slug)
) STRICT;

CREATE TABLE slots (
    id         TEXT    NOT NULL PRIMARY KEY,
    company_id TEXT    NOT NULL REFERENCES companies (id),
    team_id    TEXT    NOT NULL REFERENCES teams (id),
    agent_id   TEXT    NOT NULL, -- empty: nobody
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX slots_by_company ON slots (company_id, created_at, id);
CREATE INDEX slots_by_team ON slots (team_id);

CREATE TABLE tokens (
    id           TEXT    NOT NULL PRIMARY KEY,
    name         TEXT    NOT NULL,
    scopes       TEXT    NOT NULL, -- separated by spaces
    hint         TEXT    NOT NULL,
    hash         TEXT    NOT NULL CONSTRAINT tokens_hash UNIQUE,
    old_hash     TEXT    NOT NULL, -- empty: none is alive
    old_until    INTEGER,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT;
CREATE INDEX tokens_by_old_hash ON tokens (old_hash) WHERE old_hash <> '';
CREATE INDEX tokens_by_age ON tokens (created_at, id);

CREATE TABLE activity (
    id           TEXT    NOT NULL PRIMARY KEY,
    company_id   TEXT    NOT NULL, -- empty: of the instance
    category     TEXT    NOT NULL,
    type         TEXT    NOT NULL,
    actor        TEXT    NOT NULL,
    subject_type TEXT    NOT NULL,
    subject_id   TEXT    NOT NULL,
    data         TEXT    NOT NULL, -- a JSON object
    previous     TEXT    NOT NULL, -- a JSON object; empty: none
    at           INTEGER NOT NULL
) STRICT;
CREATE INDEX activity_by_company ON activity (company_id, at, id);
CREATE INDEX activity_by_age ON activity (at, id);

CREATE TABLE receipts (
    token_id    TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    company_id  TEXT    NOT NULL, -- whose data the answer holds; empty: nobody's
    answer      TEXT    NOT NULL, -- empty: it went with its company, or its unit has not ended
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (token_id, key)
) STRICT;
CREATE INDEX receipts_by_company ON receipts (company_id) WHERE company_id <> '';
CREATE INDEX receipts_by_age ON receipts (created_at);
