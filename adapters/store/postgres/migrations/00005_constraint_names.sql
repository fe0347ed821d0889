-- +goose Up
-- Unique constraints have the name that sqlstore.Engine.Classify gives them: the table with the columns.
ALTER INDEX activity_by_position RENAME TO activity_position;
ALTER TABLE activity RENAME CONSTRAINT activity_in_order_pkey TO activity_pkey;
ALTER TABLE teams RENAME CONSTRAINT teams_name TO teams_company_id_name_key;
ALTER TABLE teams RENAME CONSTRAINT teams_slug TO teams_company_id_slug;
