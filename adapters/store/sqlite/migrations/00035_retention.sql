-- +goose Up
-- What the removal of each kind has done: see domain/retention.
CREATE TABLE retention (
    kind    TEXT NOT NULL PRIMARY KEY,
    removed INTEGER NOT NULL, -- since the last event
    done_at INTEGER           -- all that may go from before it is gone; NULL: there was no pass yet
) STRICT;

-- What stands in a chain for the entries that were removed, as it was signed: see domain/audit. The reference is as that of audit_heads.
CREATE TABLE audit_stubs (
    chain      TEXT NOT NULL PRIMARY KEY, -- the company; empty: none
    company_id TEXT REFERENCES companies (id), -- NULL: none
    first      INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    hash       TEXT NOT NULL, -- of the last
    removed    INTEGER NOT NULL,
    made_at    INTEGER NOT NULL,
    signature  TEXT NOT NULL, -- in base64
    public_key TEXT NOT NULL -- in base64
) STRICT;
CREATE INDEX audit_stubs_by_company ON audit_stubs (company_id);

CREATE INDEX run_checkpoints_by_age ON run_checkpoints (at, run_id, number);
