-- +goose Up
CREATE TABLE approvals (
    id           TEXT NOT NULL PRIMARY KEY,
    company_id   TEXT NOT NULL,
    issue_id     TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    agent_id     TEXT NOT NULL,
    team_id      TEXT NOT NULL, -- of the agent when it asked
    status       TEXT NOT NULL,
    is_open      INTEGER NOT NULL, -- 1: it can be decided
    action_name  TEXT NOT NULL,
    action       TEXT NOT NULL,
    reasoning    TEXT NOT NULL,
    cost_usd     INTEGER, -- millionths; NULL: the agent did not say
    cost_tokens  INTEGER NOT NULL,
    side_effects TEXT NOT NULL, -- JSON
    if_denied    TEXT NOT NULL,
    edits        TEXT NOT NULL, -- JSON; empty: none
    note         TEXT NOT NULL,
    parked       INTEGER NOT NULL,
    comments     INTEGER NOT NULL, -- how many
    decided_by   TEXT NOT NULL, -- empty: nobody
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    decided_at   INTEGER, -- NULL: it is open
    version      INTEGER NOT NULL
) STRICT;
CREATE INDEX approvals_by_company ON approvals (company_id, created_at, id);
CREATE INDEX approvals_by_status ON approvals (company_id, status, created_at, id);
CREATE INDEX approvals_by_agent ON approvals (agent_id, created_at, id);
CREATE INDEX approvals_by_team ON approvals (team_id, created_at, id);
CREATE INDEX approvals_by_issue ON approvals (issue_id, created_at, id);
CREATE INDEX approvals_open_by_issue ON approvals (issue_id, created_at, id) WHERE is_open = 1;
CREATE INDEX approvals_open_by_expiry ON approvals (expires_at) WHERE is_open = 1;

CREATE TABLE approval_comments (
    id          TEXT NOT NULL PRIMARY KEY,
    company_id  TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    author      TEXT NOT NULL,
    body        TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX approval_comments_by_approval ON approval_comments (approval_id, created_at, id);
CREATE INDEX approval_comments_by_company ON approval_comments (company_id);

CREATE TABLE approval_rules (
    id          TEXT NOT NULL PRIMARY KEY,
    company_id  TEXT NOT NULL,
    action_name TEXT NOT NULL, -- a * at the end stands for anything
    agent_id    TEXT NOT NULL, -- empty: any
    team_id     TEXT NOT NULL, -- empty: any
    max_usd     INTEGER, -- millionths; NULL: any cost, or none
    decision    TEXT NOT NULL,
    expires_at  INTEGER,
    created_by  TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX approval_rules_by_company ON approval_rules (company_id, created_at, id);

ALTER TABLE issues ADD COLUMN waiting_for TEXT NOT NULL DEFAULT ''; -- the approval that its agent waits for; empty: none
ALTER TABLE issues ADD COLUMN asking INTEGER NOT NULL DEFAULT 0; -- 1: some of its approvals may be open
