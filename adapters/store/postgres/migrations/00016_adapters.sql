-- +goose Up
ALTER TABLE agents ADD COLUMN is_run BIGINT NOT NULL DEFAULT 0; -- 1: Holdco runs it
ALTER TABLE agents ADD COLUMN adapter_retry_at BIGINT; -- NULL: at once
CREATE INDEX agents_run ON agents (id) WHERE is_run = 1 AND status = 'active';

ALTER TABLE runs ADD COLUMN holder TEXT COLLATE "C" NOT NULL DEFAULT ''; -- the process of Holdco that works on it; empty: none
ALTER TABLE runs ADD COLUMN token_hash TEXT COLLATE "C" NOT NULL DEFAULT ''; -- of the token of the run; empty: it has none
CREATE UNIQUE INDEX runs_token_hash ON runs (token_hash) WHERE token_hash <> '';
CREATE INDEX runs_live_by_holder ON runs (holder) WHERE ended_at IS NULL AND holder <> '';
