-- +goose Up
CREATE TABLE agents (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id       TEXT COLLATE "C" NOT NULL REFERENCES companies (id),
    team_id          TEXT COLLATE "C" NOT NULL, -- a team may be removed before its retired agents
    slot_id          TEXT COLLATE "C" NOT NULL, -- empty: retired
    name             TEXT COLLATE "C" NOT NULL,
    role             TEXT COLLATE "C" NOT NULL,
    adapter          TEXT COLLATE "C" NOT NULL,
    adapter_config   TEXT COLLATE "C" NOT NULL, -- a JSON object
    model            TEXT COLLATE "C" NOT NULL,
    status           TEXT COLLATE "C" NOT NULL,
    memory_scopes    TEXT COLLATE "C" NOT NULL, -- separated by spaces
    per_task_usd     BIGINT, -- NULL: no limit
    daily_usd        BIGINT, -- NULL: no limit
    requires         TEXT COLLATE "C" NOT NULL, -- a JSON list of the names of actions
    hash             TEXT COLLATE "C" NOT NULL CONSTRAINT agents_hash UNIQUE,
    tasks_completed  BIGINT           NOT NULL,
    tasks_failed     BIGINT           NOT NULL,
    spent_usd        BIGINT           NOT NULL,
    last_active_at   BIGINT,
    adapter_failures BIGINT           NOT NULL,
    created_at       BIGINT           NOT NULL,
    updated_at       BIGINT           NOT NULL,
    version          BIGINT           NOT NULL
);
CREATE INDEX agents_by_company ON agents (company_id, created_at, id);
CREATE INDEX agents_by_team ON agents (team_id, created_at, id);
