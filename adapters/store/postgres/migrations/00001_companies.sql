-- Times are milliseconds since 1970 (UTC), money is millionths of a US dollar, percentages are hundredths.

-- +goose Up
CREATE TABLE companies (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    slug             TEXT COLLATE "C" NOT NULL CONSTRAINT companies_slug UNIQUE,
    name             TEXT COLLATE "C" NOT NULL,
    description      TEXT COLLATE "C" NOT NULL,
    default_adapter  TEXT COLLATE "C" NOT NULL,
    fiscal_period    TEXT COLLATE "C" NOT NULL,
    budget_usd       BIGINT           NOT NULL,
    budget_period    TEXT COLLATE "C" NOT NULL,
    reserve_percent  BIGINT           NOT NULL,
    team_count       BIGINT           NOT NULL,
    agent_count      BIGINT           NOT NULL,
    status           TEXT COLLATE "C" NOT NULL,
    created_at       BIGINT           NOT NULL,
    updated_at       BIGINT           NOT NULL,
    archived_at      BIGINT,
    restorable_until BIGINT,
    deleted_by       TEXT COLLATE "C" NOT NULL,
    version          BIGINT           NOT NULL
);
CREATE INDEX companies_by_status ON companies (status, created_at, id);

CREATE TABLE teams (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id  TEXT COLLATE "C" NOT NULL REFERENCES companies (id),
    name        TEXT COLLATE "C" NOT NULL,
    name_key    TEXT COLLATE "C" NOT NULL, -- the name, folded
    slug        TEXT COLLATE "C" NOT NULL,
    headcount   BIGINT           NOT NULL,
    agent_count BIGINT           NOT NULL,
    created_at  BIGINT           NOT NULL,
    updated_at  BIGINT           NOT NULL,
    CONSTRAINT teams_name UNIQUE (company_id, name_key),
    CONSTRAINT teams_slug UNIQUE (company_id, slug)
);

CREATE TABLE slots (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id TEXT COLLATE "C" NOT NULL REFERENCES companies (id),
    team_id    TEXT COLLATE "C" NOT NULL REFERENCES teams (id),
    agent_id   TEXT COLLATE "C" NOT NULL, -- empty: nobody
    created_at BIGINT           NOT NULL
);
CREATE INDEX slots_by_company ON slots (company_id, created_at, id);
CREATE INDEX slots_by_team ON slots (team_id);

CREATE TABLE tokens (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name         TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL, -- separated by spaces
    hint         TEXT COLLATE "C" NOT NULL,
    hash         TEXT COLLATE "C" NOT NULL CONSTRAINT tokens_hash UNIQUE,
    old_hash     TEXT COLLATE "C" NOT NULL, -- empty: none is alive
    old_until    BIGINT,
    created_at   BIGINT           NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT
);
CREATE INDEX tokens_by_old_hash ON tokens (old_hash) WHERE old_hash <> '';
CREATE INDEX tokens_by_age ON tokens (created_at, id);

CREATE TABLE activity (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id   TEXT COLLATE "C" NOT NULL, -- empty: of the instance
    category     TEXT COLLATE "C" NOT NULL,
    type         TEXT COLLATE "C" NOT NULL,
    actor        TEXT COLLATE "C" NOT NULL,
    subject_type TEXT COLLATE "C" NOT NULL,
    subject_id   TEXT COLLATE "C" NOT NULL,
    data         TEXT COLLATE "C" NOT NULL, -- a JSON object
    previous     TEXT COLLATE "C" NOT NULL, -- a JSON object; empty: none
    at           BIGINT           NOT NULL
);
CREATE INDEX activity_by_company ON activity (company_id, at, id);
CREATE INDEX activity_by_age ON activity (at, id);

CREATE TABLE receipts (
    token_id    TEXT COLLATE "C" NOT NULL,
    key         TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    company_id  TEXT COLLATE "C" NOT NULL, -- whose data the answer holds; empty: nobody's
    answer      TEXT COLLATE "C" NOT NULL, -- empty: it went with its company, or its unit has not ended
    created_at  BIGINT           NOT NULL,
    PRIMARY KEY (token_id, key)
);
CREATE INDEX receipts_by_company ON receipts (company_id) WHERE company_id <> '';
CREATE INDEX receipts_by_age ON receipts (created_at);
