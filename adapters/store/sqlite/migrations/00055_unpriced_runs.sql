-- +goose Up
-- Few runs have a model without a price; the dashboard names their agents.
CREATE INDEX runs_unpriced ON runs (company_id, created_at) WHERE unpriced_model <> '';
