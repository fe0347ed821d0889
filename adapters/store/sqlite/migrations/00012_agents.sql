-- +goose Up
CREATE TABLE agents (
    id               TEXT    NOT NULL PRIMARY KEY,
    company_id       TEXT    NOT NULL REFERENCES companies (id),
    team_id          TEXT    NOT NULL, -- a team may be removed before its retired agents
    slot_id          TEXT    NOT NULL, -- empty: retired
    name             TEXT    NOT NULL,
    role             TEXT    NOT NULL,
    adapter          TEXT    NOT NULL,
    adapter_config   TEXT    NOT NULL, -- a JSON object
    model            TEXT    NOT NULL,
    status           TEXT    NOT NULL,
    memory_scopes    TEXT    NOT NULL, -- separated by spaces
    per_task_usd     INTEGER,          -- NULL: no limit
    daily_usd        INTEGER,          -- NULL: no limit
    requires         TEXT    NOT NULL, -- a JSON list of the names of actions
    hash             TEXT    NOT NULL CONSTRAINT agents_hash UNIQUE,
    tasks_completed  INTEGER NOT NULL,
    tasks_failed     INTEGER NOT NULL,
    spent_usd        INTEGER NOT NULL,
    last_active_at   INTEGER,
    adapter_failures INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    version          INTEGER NOT NULL
) STRICT;
CREATE INDEX agents_by_company ON agents (company_id, created_at, id);
CREATE INDEX agents_by_team ON agents (team_id, created_at, id);
