-- +goose Up
-- Companies that were removed and of which something is left: events that a queue has not passed yet, pending deliveries,
-- or webhooks that are bound to them. What is left is hidden from all lists, and purged once it was sent or given up.
CREATE TABLE removed_companies (
    company_id TEXT    NOT NULL PRIMARY KEY,
    check_at   INTEGER NOT NULL  -- when to look again what is left
) STRICT;
CREATE INDEX removed_companies_by_check ON removed_companies (check_at);
CREATE INDEX deliveries_pending_by_event ON deliveries (event_id) WHERE status = 'pending';
CREATE INDEX activity_company_deleted ON activity (subject_id) WHERE type = 'company.deleted';
CREATE INDEX webhooks_by_company ON webhooks (company_id) WHERE company_id <> '';
