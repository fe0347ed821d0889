-- +goose Up
-- When a run ended that reported no costs, otherwise 0. The index over the number of charges made each charge change all indexes of its run.
ALTER TABLE runs ADD COLUMN uncosted_at BIGINT NOT NULL DEFAULT 0;
UPDATE runs SET uncosted_at = ended_at WHERE charges = 0 AND ended_at IS NOT NULL;
DROP INDEX runs_without_costs;
CREATE INDEX runs_uncosted ON runs (company_id, uncosted_at) WHERE uncosted_at > 0;
