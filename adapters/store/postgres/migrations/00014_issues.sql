-- +goose Up
CREATE TABLE issues (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id       TEXT COLLATE "C" NOT NULL REFERENCES companies (id),
    number           BIGINT NOT NULL,
    title            TEXT COLLATE "C" NOT NULL,
    description      TEXT COLLATE "C" NOT NULL,
    status           TEXT COLLATE "C" NOT NULL,
    is_open          BIGINT NOT NULL, -- 1: the status is not final
    priority         TEXT COLLATE "C" NOT NULL,
    rank             BIGINT NOT NULL, -- of the priority: 3 urgent to 0 low
    parent_id        TEXT COLLATE "C" NOT NULL, -- empty: none
    agent_id         TEXT COLLATE "C" NOT NULL, -- empty: nobody
    agent_team_id    TEXT COLLATE "C" NOT NULL,
    binding          TEXT COLLATE "C" NOT NULL,
    team_id          TEXT COLLATE "C" NOT NULL, -- empty: none
    team_in_charge   TEXT COLLATE "C" NOT NULL, -- agent_team_id, else team_id
    blocked_by       TEXT COLLATE "C" NOT NULL, -- separated by spaces
    open_blockers    BIGINT NOT NULL,
    labels           TEXT COLLATE "C" NOT NULL, -- a JSON list
    per_task_usd     BIGINT, -- NULL: no limit
    spent_usd        BIGINT NOT NULL,
    attempt          BIGINT NOT NULL,
    max_attempts     BIGINT NOT NULL,
    requires_review  BIGINT NOT NULL,
    result           TEXT COLLATE "C" NOT NULL, -- JSON; empty: none
    error            TEXT COLLATE "C" NOT NULL, -- JSON; empty: none
    due_at           BIGINT,
    due_order        BIGINT NOT NULL, -- due_at, or the greatest number without one
    not_before       BIGINT,
    waiting          BIGINT NOT NULL, -- 1: not_before has not come
    claimable        BIGINT NOT NULL, -- 1: its state allows a lease
    claim_key        TEXT COLLATE "C" NOT NULL, -- who may take it
    started_at       BIGINT,
    finished_at      BIGINT,
    retry_of         TEXT COLLATE "C" NOT NULL, -- empty: it is no retry
    created_by       TEXT COLLATE "C" NOT NULL,
    fencing_token    BIGINT NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    version          BIGINT NOT NULL,
    CONSTRAINT issues_company_id_number UNIQUE (company_id, number)
);
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
    issue_id   TEXT COLLATE "C" NOT NULL,
    label      TEXT COLLATE "C" NOT NULL,
    company_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL, -- of the issue
    PRIMARY KEY (issue_id, label)
);
CREATE INDEX issue_labels_by_label ON issue_labels (company_id, label, created_at, issue_id);

CREATE TABLE issue_blockers (
    issue_id   TEXT COLLATE "C" NOT NULL,
    blocker_id TEXT COLLATE "C" NOT NULL,
    company_id TEXT COLLATE "C" NOT NULL,
    is_open    BIGINT NOT NULL, -- 1: it is one of the issue's open blockers
    PRIMARY KEY (issue_id, blocker_id)
);
CREATE INDEX issue_blockers_by_blocker ON issue_blockers (blocker_id, issue_id);
CREATE INDEX issue_blockers_by_company ON issue_blockers (company_id);

CREATE TABLE issue_comments (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id TEXT COLLATE "C" NOT NULL,
    issue_id   TEXT COLLATE "C" NOT NULL,
    author     TEXT COLLATE "C" NOT NULL,
    body       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX issue_comments_by_issue ON issue_comments (issue_id, created_at, id);
CREATE INDEX issue_comments_by_company ON issue_comments (company_id);

-- How many issues of a company, of a team and of an agent are in each status.
CREATE TABLE tallies (
    company_id TEXT COLLATE "C" NOT NULL,
    scope      TEXT COLLATE "C" NOT NULL, -- company, team or agent
    scope_id   TEXT COLLATE "C" NOT NULL,
    status     TEXT COLLATE "C" NOT NULL,
    n          BIGINT NOT NULL,
    PRIMARY KEY (company_id, scope, scope_id, status)
);

-- How many issues became done or failed on a UTC day.
CREATE TABLE day_tallies (
    company_id TEXT COLLATE "C" NOT NULL,
    day        TEXT COLLATE "C" NOT NULL, -- such as 2026-04-11
    what       TEXT COLLATE "C" NOT NULL, -- done or failed
    n          BIGINT NOT NULL,
    PRIMARY KEY (company_id, day, what)
);

CREATE TABLE issue_numbers (
    company_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    last_number BIGINT NOT NULL
);

-- Raised when issues of a company may have become claimable.
CREATE TABLE work_revisions (
    company_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    revision   BIGINT NOT NULL
);

-- What is left to do of changes that touch many issues.
CREATE TABLE settlements (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    other      TEXT COLLATE "C" NOT NULL,
    after      TEXT COLLATE "C" NOT NULL,
    actor      TEXT COLLATE "C" NOT NULL
);
CREATE INDEX settlements_by_company ON settlements (company_id, id);
