-- +goose Up
-- The budgets of a company list its open issues that have limits of their own.
CREATE INDEX issues_limited ON issues (company_id, id) WHERE is_open = 1 AND per_task_usd IS NOT NULL;
