-- +goose Up
-- A run is metered when what its program says that it costs is charged: what the model reports is then kept and not counted. Charges name
-- the session of the program that they are of, so that a later run that resumes it is charged for what is new.
ALTER TABLE runs ADD COLUMN metered BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN unpriced_model TEXT COLLATE "C" NOT NULL DEFAULT ''; -- the first that has no price; empty: all have one
ALTER TABLE cost_entries ADD COLUMN session TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE cost_entries ADD COLUMN reported BIGINT NOT NULL DEFAULT 0; -- by the model: kept and not counted
ALTER TABLE cost_entries ADD COLUMN reported_usd BIGINT NOT NULL DEFAULT 0; -- millionths
