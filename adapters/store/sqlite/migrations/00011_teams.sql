-- +goose Up

ALTER TABLE teams ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE teams ADD COLUMN manager_id TEXT NOT NULL DEFAULT ''; -- an agent; empty: nobody
ALTER TABLE teams ADD COLUMN budget_usd INTEGER; -- NULL: no limit
ALTER TABLE teams ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
CREATE INDEX teams_by_company ON teams (company_id, created_at, id);

DROP INDEX slots_by_team;
CREATE INDEX slots_by_team ON slots (team_id, created_at, id);
