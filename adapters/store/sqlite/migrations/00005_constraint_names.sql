-- +goose Up
-- Unique constraints have the name that sqlstore.Engine.Classify gives them: the table with the columns.
DROP INDEX activity_by_position;
CREATE UNIQUE INDEX activity_position ON activity (position) WHERE position IS NOT NULL;
