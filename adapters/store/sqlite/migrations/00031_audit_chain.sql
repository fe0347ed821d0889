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

-- Chains and streams go by the number of an entry. AUTOINCREMENT keeps SQLite from giving that of the newest again once it is removed.
CREATE TABLE activity_once (
    seq          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id           TEXT    NOT NULL CONSTRAINT activity_id UNIQUE,
    company_id   TEXT    NOT NULL, -- empty: of the instance
    category     TEXT    NOT NULL,
    type         TEXT    NOT NULL,
    actor        TEXT    NOT NULL,
    subject_type TEXT    NOT NULL,
    subject_id   TEXT    NOT NULL,
    data         TEXT    NOT NULL, -- a JSON object
    previous     TEXT    NOT NULL, -- a JSON object; empty: none
    at           INTEGER NOT NULL,
    unqueued     INTEGER NOT NULL, -- 1: it has no position in the outbox yet, and will get one
    position     INTEGER,          -- in the outbox
    form         INTEGER NOT NULL DEFAULT 1, -- of data and previous
    txid         INTEGER NOT NULL DEFAULT 0,
    issue_id     TEXT    NOT NULL DEFAULT '', -- that the entry is related to; empty: none
    agent_id     TEXT    NOT NULL DEFAULT '', -- that the entry is related to; empty: none
    run_id       TEXT    NOT NULL DEFAULT ''  -- that the entry is related to; empty: none
) STRICT;
INSERT INTO activity_once SELECT seq, id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, unqueued,
    position, form, txid, issue_id, agent_id, run_id FROM activity ORDER BY seq;
DROP TABLE activity;
ALTER TABLE activity_once RENAME TO activity;
CREATE INDEX activity_by_company ON activity (company_id, at, id);
CREATE INDEX activity_by_age ON activity (at, id);
CREATE UNIQUE INDEX activity_position ON activity (position) WHERE position IS NOT NULL;
CREATE INDEX activity_company_deleted ON activity (subject_id) WHERE type = 'company.deleted';
CREATE INDEX activity_unqueued ON activity (seq) WHERE unqueued = 1;
CREATE INDEX activity_by_place ON activity (txid, seq);
CREATE INDEX activity_by_company_place ON activity (company_id, txid, seq);
CREATE INDEX activity_by_type ON activity (type, at, id);
CREATE INDEX activity_by_company_type ON activity (company_id, type, at, id);
CREATE INDEX activity_by_company_actor ON activity (company_id, actor, at, id);
CREATE INDEX activity_by_subject ON activity (subject_id, at, id);
CREATE INDEX activity_by_issue ON activity (issue_id, at, id) WHERE issue_id <> '';
CREATE INDEX activity_by_agent ON activity (agent_id, at, id) WHERE agent_id <> '';
CREATE INDEX activity_by_run ON activity (run_id, at, id) WHERE run_id <> '';
