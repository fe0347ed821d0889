-- +goose Up
CREATE TABLE runs (
    id                 TEXT NOT NULL PRIMARY KEY,
    company_id         TEXT NOT NULL,
    issue_id           TEXT NOT NULL,
    agent_id           TEXT NOT NULL,
    attempt            INTEGER NOT NULL,
    status             TEXT NOT NULL,
    lease_id           TEXT NOT NULL CONSTRAINT runs_lease_id UNIQUE,
    fencing_token      INTEGER NOT NULL,
    epoch              INTEGER NOT NULL, -- of the company when the lease was granted
    lease_seconds      INTEGER NOT NULL,
    expires_at         INTEGER NOT NULL,
    ended_at           INTEGER, -- of the lease; NULL: it has not ended
    reason             TEXT NOT NULL, -- why the lease ended
    claim_key          TEXT NOT NULL, -- the idempotency key of the claim; empty: none
    spent_usd          INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    charges            INTEGER NOT NULL,
    checkpoints        INTEGER NOT NULL,
    filed              INTEGER NOT NULL,
    context_at         INTEGER NOT NULL,
    finished_at        INTEGER,
    error              TEXT NOT NULL, -- JSON; empty: none
    digest             TEXT NOT NULL, -- of the call that ended the run
    answer             TEXT NOT NULL, -- to that call
    created_at         INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_issue ON runs (issue_id, created_at, id);
CREATE INDEX runs_by_company ON runs (company_id);
CREATE UNIQUE INDEX runs_issue_id ON runs (issue_id) WHERE ended_at IS NULL;
CREATE INDEX runs_live_by_agent ON runs (agent_id, created_at, id) WHERE ended_at IS NULL;
CREATE INDEX runs_live_by_expiry ON runs (expires_at) WHERE ended_at IS NULL;
CREATE INDEX runs_live_by_epoch ON runs (company_id, epoch) WHERE ended_at IS NULL;
CREATE INDEX runs_live_by_start ON runs (created_at) WHERE ended_at IS NULL;
CREATE INDEX runs_answered ON runs (ended_at) WHERE answer <> '';

CREATE TABLE run_checkpoints (
    run_id     TEXT NOT NULL,
    number     INTEGER NOT NULL,
    company_id TEXT NOT NULL,
    note       TEXT NOT NULL,
    data       TEXT NOT NULL, -- JSON; empty: none
    at         INTEGER NOT NULL,
    PRIMARY KEY (run_id, number)
) STRICT;
CREATE INDEX run_checkpoints_by_company ON run_checkpoints (company_id);

-- Every charge, for good. What has been spent is the sum of usd.
CREATE TABLE cost_entries (
    id                 TEXT NOT NULL PRIMARY KEY,
    company_id         TEXT NOT NULL,
    issue_id           TEXT NOT NULL,
    run_id             TEXT NOT NULL,
    agent_id           TEXT NOT NULL,
    team_id            TEXT NOT NULL,
    project_id         TEXT NOT NULL DEFAULT '', -- empty: none
    key                TEXT NOT NULL,
    kind               TEXT NOT NULL,
    usd                INTEGER NOT NULL, -- millionths
    model              TEXT NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    calls              INTEGER NOT NULL,
    billing            TEXT NOT NULL,
    revision           INTEGER NOT NULL DEFAULT 0, -- of the prices
    unpriced           INTEGER NOT NULL,
    late               INTEGER NOT NULL,
    adjusts            TEXT NOT NULL DEFAULT '', -- the entry that this one corrects
    reason             TEXT NOT NULL DEFAULT '', -- of the correction
    at                 INTEGER NOT NULL,
    CONSTRAINT cost_entries_run_id_key UNIQUE (run_id, key)
) STRICT;
CREATE INDEX cost_entries_by_company ON cost_entries (company_id, at);
CREATE INDEX cost_entries_by_team ON cost_entries (team_id, at);
CREATE INDEX cost_entries_by_agent ON cost_entries (agent_id, at);
CREATE INDEX cost_entries_by_project ON cost_entries (project_id, at);
CREATE INDEX cost_entries_by_issue ON cost_entries (issue_id, at);

-- Why an epoch of a company began: what ended all leases of the one before.
CREATE TABLE revocations (
    company_id TEXT NOT NULL,
    epoch      INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    PRIMARY KEY (company_id, epoch)
) STRICT;

CREATE TABLE sweeps (
    single      INTEGER NOT NULL PRIMARY KEY,
    swept_at    INTEGER,
    grace_until INTEGER
) STRICT;
INSERT INTO sweeps (single) VALUES (1);

ALTER TABLE companies ADD COLUMN lease_epoch INTEGER NOT NULL DEFAULT 1;
ALTER TABLE settlements ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
