-- +goose Up
-- No query uses these, and every entry writes to each.
DROP INDEX cost_entries_by_agent;
DROP INDEX cost_entries_by_issue;
DROP INDEX cost_entries_by_project;
DROP INDEX cost_entries_by_team;

-- The oldest open run is asked for only after a pause of the sweep; then all of them are read.
DROP INDEX runs_live_by_start;
