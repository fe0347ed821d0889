-- +goose Up
-- Entries are listed by project, newest first, as by team, agent and issue.
CREATE INDEX cost_entries_by_project ON cost_entries (project_id, at) WHERE project_id <> '';
