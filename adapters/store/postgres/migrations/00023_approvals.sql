-- +goose Up
CREATE TABLE approvals (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id   TEXT COLLATE "C" NOT NULL,
    issue_id     TEXT COLLATE "C" NOT NULL,
    run_id       TEXT COLLATE "C" NOT NULL,
    agent_id     TEXT COLLATE "C" NOT NULL,
    team_id      TEXT COLLATE "C" NOT NULL, -- of the agent when it asked
    status       TEXT COLLATE "C" NOT NULL,
    is_open      BIGINT NOT NULL, -- 1: it can be decided
    action_name  TEXT COLLATE "C" NOT NULL,
    action       TEXT COLLATE "C" NOT NULL,
    reasoning    TEXT COLLATE "C" NOT NULL,
    cost_usd     BIGINT, -- millionths; NULL: the agent did not say
    cost_tokens  BIGINT NOT NULL,
    side_effects TEXT COLLATE "C" NOT NULL, -- JSON
    if_denied    TEXT COLLATE "C" NOT NULL,
    edits        TEXT COLLATE "C" NOT NULL, -- JSON; empty: none
    note         TEXT COLLATE "C" NOT NULL,
    parked       BIGINT NOT NULL,
    comments     BIGINT NOT NULL, -- how many
    decided_by   TEXT COLLATE "C" NOT NULL, -- empty: nobody
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    decided_at   BIGINT, -- NULL: it is open
    version      BIGINT NOT NULL
);
CREATE INDEX approvals_by_company ON approvals (company_id, created_at, id);
CREATE INDEX approvals_by_status ON approvals (company_id, status, created_at, id);
CREATE INDEX approvals_by_agent ON approvals (agent_id, created_at, id);
CREATE INDEX approvals_by_team ON approvals (team_id, created_at, id);
CREATE INDEX approvals_by_issue ON approvals (issue_id, created_at, id);
CREATE INDEX approvals_open_by_issue ON approvals (issue_id, created_at, id) WHERE is_open = 1;
CREATE INDEX approvals_open_by_expiry ON approvals (expires_at) WHERE is_open = 1;

CREATE TABLE approval_comments (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id  TEXT COLLATE "C" NOT NULL,
    approval_id TEXT COLLATE "C" NOT NULL,
    author      TEXT COLLATE "C" NOT NULL,
    body        TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE INDEX approval_comments_by_approval ON approval_comments (approval_id, created_at, id);
CREATE INDEX approval_comments_by_company ON approval_comments (company_id);

CREATE TABLE approval_rules (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id  TEXT COLLATE "C" NOT NULL,
    action_name TEXT COLLATE "C" NOT NULL, -- a * at the end stands for anything
    agent_id    TEXT COLLATE "C" NOT NULL, -- empty: any
    team_id     TEXT COLLATE "C" NOT NULL, -- empty: any
    max_usd     BIGINT, -- millionths; NULL: any cost, or none
    decision    TEXT COLLATE "C" NOT NULL,
    expires_at  BIGINT,
    created_by  TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE INDEX approval_rules_by_company ON approval_rules (company_id, created_at, id);

ALTER TABLE issues ADD COLUMN waiting_for TEXT COLLATE "C" NOT NULL DEFAULT ''; -- the approval that its agent waits for; empty: none
ALTER TABLE issues ADD COLUMN asking BIGINT NOT NULL DEFAULT 0; -- 1: some of its approvals may be open
