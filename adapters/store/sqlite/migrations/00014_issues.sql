-- +goose Up
CREATE TABLE issues (
    id               TEXT NOT NULL PRIMARY KEY,
    company_id       TEXT NOT NULL REFERENCES companies (id),
    number           INTEGER NOT NULL,
    title            TEXT NOT NULL,
    description      TEXT NOT NULL,
    status           TEXT NOT NULL,
    is_open          INTEGER NOT NULL, -- 1: the status is not final
    priority         TEXT NOT NULL,
    rank             INTEGER NOT NULL, -- of the priority: 3 urgent to 0 low
    parent_id        TEXT NOT NULL, -- empty: none
    agent_id         TEXT NOT NULL, -- empty: nobody
    agent_team_id    TEXT NOT NULL,
    binding          TEXT NOT NULL,
    team_id          TEXT NOT NULL, -- empty: none
    team_in_charge   TEXT NOT NULL, -- agent_team_id, else team_id
    blocked_by       TEXT NOT NULL, -- separated by spaces
    open_blockers    INTEGER NOT NULL,
    labels           TEXT NOT NULL, -- a JSON list
    per_task_usd     INTEGER, -- NULL: no limit
    spent_usd        INTEGER NOT NULL,
    attempt          INTEGER NOT NULL,
    max_attempts     INTEGER NOT NULL,
    requires_review  INTEGER NOT NULL,
    result           TEXT NOT NULL, -- JSON; empty: none
    error            TEXT NOT NULL, -- JSON; empty: none
    due_at           INTEGER,
    due_order        INTEGER NOT NULL, -- due_at, or the greatest number without one
    not_before       INTEGER,
    waiting          INTEGER NOT NULL, -- 1: not_before has not come
    claimable        INTEGER NOT NULL, -- 1: its state allows a lease
    claim_key        TEXT NOT NULL, -- who may take it
    started_at       INTEGER,
    finished_at      INTEGER,
    retry_of         TEXT NOT NULL, -- empty: it is no retry
    created_by       TEXT NOT NULL,
    fencing_token    INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    version          INTEGER NOT NULL,
    CONSTRAINT issues_company_id_number UNIQUE (company_id, number)
) STRICT;
CREATE INDEX issues_by_company ON issues (company_id, created_at, id);
CREATE INDEX issues_by_status ON issues (company_id, status, created_at, id);
CREATE INDEX issues_by_agent ON issues (company_id, agent_id, created_at, id);
CREATE INDEX issues_by_team ON issues (company_id, team_in_charge, created_at, id);
CREATE INDEX issues_by_parent ON issues (company_id, parent_id, created_at, id);
CREATE INDEX issues_by_priority ON issues (company_id, rank, created_at, id);
CREATE INDEX issues_by_update ON issues (company_id, updated_at, id);
CREATE INDEX issues_by_due_date ON issues (company_id, due_order, id);
CREATE INDEX issues_to_claim ON issues (company_id, claim_key, rank DESC, number) WHERE claimable = 1;
CREATE INDEX issues_held ON issues (agent_id, id) WHERE is_open = 1;
CREATE INDEX issues_waiting ON issues (not_before) WHERE waiting = 1;

CREATE TABLE issue_labels (
    issue_id   TEXT NOT NULL,
    label      TEXT NOT NULL,
    company_id TEXT NOT NULL,
    created_at INTEGER NOT NULL, -- of the issue
    PRIMARY KEY (issue_id, label)
) STRICT;
CREATE INDEX issue_labels_by_label ON issue_labels (company_id, label, created_at, issue_id);

CREATE TABLE issue_blockers (
    issue_id   TEXT NOT NULL,
    blocker_id TEXT NOT NULL,
    company_id TEXT NOT NULL,
    is_open    INTEGER NOT NULL, -- 1: it is one of the issue's open blockers
    PRIMARY KEY (issue_id, blocker_id)
) STRICT;
CREATE INDEX issue_blockers_by_blocker ON issue_blockers (blocker_id, issue_id);
CREATE INDEX issue_blockers_by_company ON issue_blockers (company_id);

CREATE TABLE issue_comments (
    id         TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    issue_id   TEXT NOT NULL,
    author     TEXT NOT NULL,
    body       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX issue_comments_by_issue ON issue_comments (issue_id, created_at, id);
CREATE INDEX issue_comments_by_company ON issue_comments (company_id);

-- How many issues of a company, of a team and of an agent are in each status.
CREATE TABLE tallies (
    company_id TEXT NOT NULL,
    scope      TEXT NOT NULL, -- company, team or agent
    scope_id   TEXT NOT NULL,
    status     TEXT NOT NULL,
    n          INTEGER NOT NULL,
    PRIMARY KEY (company_id, scope, scope_id, status)
) STRICT;

-- How many issues became done or failed on a UTC day.
CREATE TABLE day_tallies (
    company_id TEXT NOT NULL,
    day        TEXT NOT NULL, -- such as 2026-04-11
    what       TEXT NOT NULL, -- done or failed
    n          INTEGER NOT NULL,
    PRIMARY KEY (company_id, day, what)
) STRICT;

CREATE TABLE issue_numbers (
    company_id  TEXT NOT NULL PRIMARY KEY,
    last_number INTEGER NOT NULL
) STRICT;

-- Raised when issues of a company may have become claimable.
CREATE TABLE work_revisions (
    company_id TEXT NOT NULL PRIMARY KEY,
    revision   INTEGER NOT NULL
) STRICT;

-- What is left to do of changes that touch many issues.
CREATE TABLE settlements (
    id         TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    kind       TEXT NOT NULL,
    subject    TEXT NOT NULL,
    other      TEXT NOT NULL,
    after      TEXT NOT NULL,
    actor      TEXT NOT NULL
) STRICT;
CREATE INDEX settlements_by_company ON settlements (company_id, id);
