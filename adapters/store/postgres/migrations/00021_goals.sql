-- +goose Up
CREATE TABLE goals (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id  TEXT COLLATE "C" NOT NULL REFERENCES companies (id),
    title       TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    budget_usd  BIGINT, -- NULL: no limit
    target_date TEXT COLLATE "C" NOT NULL, -- such as 2026-04-11; empty: none
    status      TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    version     BIGINT NOT NULL
);
CREATE INDEX goals_by_company ON goals (company_id, created_at, id);
CREATE INDEX goals_by_status ON goals (company_id, status, created_at, id);

CREATE TABLE projects (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id    TEXT COLLATE "C" NOT NULL REFERENCES companies (id),
    goal_id       TEXT COLLATE "C" NOT NULL, -- empty: none
    title         TEXT COLLATE "C" NOT NULL,
    description   TEXT COLLATE "C" NOT NULL,
    budget_usd    BIGINT, -- NULL: no limit
    owner_team_id TEXT COLLATE "C" NOT NULL, -- empty: none
    status        TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    version       BIGINT NOT NULL
);
CREATE INDEX projects_by_company ON projects (company_id, created_at, id);
CREATE INDEX projects_by_status ON projects (company_id, status, created_at, id);
CREATE INDEX projects_by_goal ON projects (goal_id, created_at, id) WHERE goal_id <> '';

ALTER TABLE issues ADD COLUMN project_id TEXT COLLATE "C" NOT NULL DEFAULT ''; -- empty: none
ALTER TABLE issues ADD COLUMN goal_id TEXT COLLATE "C" NOT NULL DEFAULT ''; -- empty: none
CREATE INDEX issues_by_project ON issues (project_id, created_at, id) WHERE project_id <> '';
CREATE INDEX issues_by_goal ON issues (goal_id, created_at, id) WHERE goal_id <> '';
CREATE INDEX issues_in_project ON issues (project_id, id) WHERE is_open = 1 AND project_id <> '';
