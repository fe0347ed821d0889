-- +goose Up
-- The entries of a company, and those of none, are chained in the order of commits: see domain/audit. Chaining follows behind the
-- writes. Entries themselves never change.
CREATE TABLE audit_links (
    company_id TEXT NOT NULL, -- empty: none
    number     INTEGER NOT NULL, -- in its chain, from 1 on
    entry_id   TEXT NOT NULL PRIMARY KEY,
    hash       TEXT NOT NULL
) STRICT;
CREATE INDEX audit_links_by_number ON audit_links (company_id, number); -- not unique: a check finds two of a number

-- The newest link of each chain. The reference keeps a company that is being removed from being chained meanwhile.
CREATE TABLE audit_heads (
    chain      TEXT NOT NULL PRIMARY KEY, -- the company; empty: none
    company_id TEXT REFERENCES companies (id), -- NULL: none
    number     INTEGER NOT NULL,
    entry_id   TEXT NOT NULL,
    hash       TEXT NOT NULL,
    chained_at INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_heads_by_company ON audit_heads (company_id);

-- The place up to which all entries are chained.
CREATE TABLE audit_progress (
    single INTEGER NOT NULL PRIMARY KEY CHECK (single = 1),
    txid   INTEGER NOT NULL,
    seq    INTEGER NOT NULL
) STRICT;
INSERT INTO audit_progress (single, txid, seq) VALUES (1, 0, 0);
