-- +goose Up
-- What a person has to do about an issue, since when, is kept beside it, and counted: the inbox reads an index.
ALTER TABLE issues ADD COLUMN failed_blockers BIGINT NOT NULL DEFAULT 0;
ALTER TABLE issues ADD COLUMN need TEXT COLLATE "C" NOT NULL DEFAULT ''; -- empty: nothing
ALTER TABLE issues ADD COLUMN needed_since BIGINT NOT NULL DEFAULT 0;
UPDATE issues SET failed_blockers = (SELECT count(*) FROM issue_blockers b JOIN issues by_it ON by_it.id = b.blocker_id
        WHERE b.issue_id = issues.id AND by_it.status IN ('failed', 'cancelled'))
    WHERE open_blockers > 0;
UPDATE issues SET need = CASE WHEN status IN ('handoff', 'review') THEN status ELSE 'blocked' END, needed_since = updated_at
    WHERE container_of = '' AND waiting_for = '' AND (status IN ('handoff', 'review')
        OR status IN ('queued', 'assigned') AND failed_blockers > 0);
INSERT INTO tallies (company_id, scope, scope_id, status, n)
    SELECT company_id, 'need', company_id, need, count(*) FROM issues WHERE need <> '' GROUP BY company_id, need;
CREATE INDEX issues_needing_in_company ON issues (company_id, needed_since, id) WHERE need <> '';
CREATE INDEX issues_needing ON issues (needed_since, id) WHERE need <> '';
CREATE INDEX approvals_open ON approvals (company_id, created_at, id) WHERE is_open = 1;
CREATE INDEX approvals_open_by_age ON approvals (created_at, id) WHERE is_open = 1;
-- Of each agent the last runs are read, and of each company the runs of today that reported no costs.
CREATE INDEX runs_ended_by_agent ON runs (agent_id, ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_without_costs ON runs (company_id, ended_at) WHERE charges = 0 AND ended_at IS NOT NULL;
