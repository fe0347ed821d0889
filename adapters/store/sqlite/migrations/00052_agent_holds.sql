-- +goose Up
-- The failures that an agent has had since a run of it succeeded, and the hold that follows from them, as JSON; empty: none.
ALTER TABLE agents ADD COLUMN guard TEXT NOT NULL DEFAULT '';

-- How often the current attempt was given back although its work may have been done.
ALTER TABLE issues ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;
