-- +goose Up
CREATE TABLE runs (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id         TEXT COLLATE "C" NOT NULL,
    issue_id           TEXT COLLATE "C" NOT NULL,
    agent_id           TEXT COLLATE "C" NOT NULL,
    attempt            BIGINT NOT NULL,
    status             TEXT COLLATE "C" NOT NULL,
    lease_id           TEXT COLLATE "C" NOT NULL CONSTRAINT runs_lease_id UNIQUE,
    fencing_token      BIGINT NOT NULL,
    epoch              BIGINT NOT NULL, -- of the company when the lease was granted
    lease_seconds      BIGINT NOT NULL,
    expires_at         BIGINT NOT NULL,
    ended_at           BIGINT, -- of the lease; NULL: it has not ended
    reason             TEXT COLLATE "C" NOT NULL, -- why the lease ended
    claim_key          TEXT COLLATE "C" NOT NULL, -- the idempotency key of the claim; empty: none
    spent_usd          BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    charges            BIGINT NOT NULL,
    checkpoints        BIGINT NOT NULL,
    filed              BIGINT NOT NULL,
    context_at         BIGINT NOT NULL,
    finished_at        BIGINT,
    error              TEXT COLLATE "C" NOT NULL, -- JSON; empty: none
    digest             TEXT COLLATE "C" NOT NULL, -- of the call that ended the run
    answer             TEXT COLLATE "C" NOT NULL, -- to that call
    created_at         BIGINT NOT NULL
);
CREATE INDEX runs_by_issue ON runs (issue_id, created_at, id);
CREATE INDEX runs_by_company ON runs (company_id);
CREATE UNIQUE INDEX runs_issue_id ON runs (issue_id) WHERE ended_at IS NULL;
CREATE INDEX runs_live_by_agent ON runs (agent_id, created_at, id) WHERE ended_at IS NULL;
CREATE INDEX runs_live_by_expiry ON runs (expires_at) WHERE ended_at IS NULL;
CREATE INDEX runs_live_by_epoch ON runs (company_id, epoch) WHERE ended_at IS NULL;
CREATE INDEX runs_live_by_start ON runs (created_at) WHERE ended_at IS NULL;
CREATE INDEX runs_answered ON runs (ended_at) WHERE answer <> '';

CREATE TABLE run_checkpoints (
    run_id     TEXT COLLATE "C" NOT NULL,
    number     BIGINT NOT NULL,
    company_id TEXT COLLATE "C" NOT NULL,
    note       TEXT COLLATE "C" NOT NULL,
    data       TEXT COLLATE "C" NOT NULL, -- JSON; empty: none
    at         BIGINT NOT NULL,
    PRIMARY KEY (run_id, number)
);
CREATE INDEX run_checkpoints_by_company ON run_checkpoints (company_id);

-- Every charge, for good. What has been spent is the sum of usd.
CREATE TABLE cost_entries (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id         TEXT COLLATE "C" NOT NULL,
    issue_id           TEXT COLLATE "C" NOT NULL,
    run_id             TEXT COLLATE "C" NOT NULL,
    agent_id           TEXT COLLATE "C" NOT NULL,
    team_id            TEXT COLLATE "C" NOT NULL,
    project_id         TEXT COLLATE "C" NOT NULL DEFAULT '', -- empty: none
    key                TEXT COLLATE "C" NOT NULL,
    kind               TEXT COLLATE "C" NOT NULL,
    usd                BIGINT NOT NULL, -- millionths
    model              TEXT COLLATE "C" NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    calls              BIGINT NOT NULL,
    billing            TEXT COLLATE "C" NOT NULL,
    revision           BIGINT NOT NULL DEFAULT 0, -- of the prices
    unpriced           BIGINT NOT NULL,
    late               BIGINT NOT NULL,
    adjusts            TEXT COLLATE "C" NOT NULL DEFAULT '', -- the entry that this one corrects
    reason             TEXT COLLATE "C" NOT NULL DEFAULT '', -- of the correction
    at                 BIGINT NOT NULL,
    CONSTRAINT cost_entries_run_id_key UNIQUE (run_id, key)
);
CREATE INDEX cost_entries_by_company ON cost_entries (company_id, at);
CREATE INDEX cost_entries_by_team ON cost_entries (team_id, at);
CREATE INDEX cost_entries_by_agent ON cost_entries (agent_id, at);
CREATE INDEX cost_entries_by_project ON cost_entries (project_id, at);
CREATE INDEX cost_entries_by_issue ON cost_entries (issue_id, at);

-- Why an epoch of a company began: what ended all leases of the one before.
CREATE TABLE revocations (
    company_id TEXT COLLATE "C" NOT NULL,
    epoch      BIGINT NOT NULL,
    reason     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (company_id, epoch)
);

CREATE TABLE sweeps (
    single      BIGINT NOT NULL PRIMARY KEY,
    swept_at    BIGINT,
    grace_until BIGINT
);
INSERT INTO sweeps (single) VALUES (1);

ALTER TABLE companies ADD COLUMN lease_epoch BIGINT NOT NULL DEFAULT 1;
ALTER TABLE settlements ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
