-- +goose Up
-- What the removal of each kind has done: see domain/retention.
CREATE TABLE retention (
    kind    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    removed BIGINT NOT NULL, -- since the last event
    done_at BIGINT           -- all that may go from before it is gone; NULL: there was no pass yet
);

-- What stands in a chain for the entries that were removed, as it was signed: see domain/audit. The reference is as that of audit_heads.
CREATE TABLE audit_stubs (
    chain      TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- the company; empty: none
    company_id TEXT COLLATE "C" REFERENCES companies (id), -- NULL: none
    first      BIGINT NOT NULL,
    last       BIGINT NOT NULL,
    hash       TEXT COLLATE "C" NOT NULL, -- of the last
    removed    BIGINT NOT NULL,
    made_at    BIGINT NOT NULL,
    signature  TEXT COLLATE "C" NOT NULL, -- in base64
    public_key TEXT COLLATE "C" NOT NULL -- in base64
);
CREATE INDEX audit_stubs_by_company ON audit_stubs (company_id);

CREATE INDEX run_checkpoints_by_age ON run_checkpoints (at, run_id, number);
