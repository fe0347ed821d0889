-- +goose Up
-- When the sweep looks at a lease that has not ended: not after expires_at. Renewals leave it as it is, and so write to no index.
ALTER TABLE runs ADD COLUMN check_at BIGINT NOT NULL DEFAULT 0;
UPDATE runs SET check_at = expires_at;
DROP INDEX runs_live_by_expiry;
CREATE INDEX runs_live_to_check ON runs (check_at) WHERE ended_at IS NULL;

-- Room for the next versions of a row on its page: then an UPDATE of columns without an index writes to no index.
ALTER TABLE runs SET (fillfactor = 70);
ALTER TABLE issues SET (fillfactor = 90);
