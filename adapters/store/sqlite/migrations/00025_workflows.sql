-- +goose Up
CREATE TABLE workflows (
    id          TEXT NOT NULL PRIMARY KEY,
    company_id  TEXT NOT NULL REFERENCES companies (id),
    name        TEXT NOT NULL,
    slug        TEXT NOT NULL,
    description TEXT NOT NULL,
    budget_usd  INTEGER, -- NULL: no limit
    steps       TEXT NOT NULL, -- JSON
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    CONSTRAINT workflows_company_id_slug UNIQUE (company_id, slug)
) STRICT;
CREATE INDEX workflows_by_company ON workflows (company_id, created_at, id);

-- The steps of a workflow from a version on, until the next one of which they are kept.
CREATE TABLE workflow_versions (
    workflow_id  TEXT NOT NULL,
    company_id   TEXT NOT NULL,
    from_version INTEGER NOT NULL,
    steps        TEXT NOT NULL, -- JSON
    PRIMARY KEY (workflow_id, from_version)
) STRICT;
CREATE INDEX workflow_versions_by_company ON workflow_versions (company_id);

ALTER TABLE issues ADD COLUMN workflow_id TEXT NOT NULL DEFAULT ''; -- whose budget it is charged to; empty: none
ALTER TABLE issues ADD COLUMN container_id TEXT NOT NULL DEFAULT ''; -- of which it is a step; empty: none
ALTER TABLE issues ADD COLUMN step TEXT NOT NULL DEFAULT ''; -- of a container: the version; of a step: also place, key, gate
ALTER TABLE issues ADD COLUMN container_of TEXT NOT NULL DEFAULT ''; -- workflow_id of a container; empty: it is none
CREATE INDEX issues_by_workflow ON issues (container_of, created_at, id) WHERE container_of <> '';
CREATE INDEX issues_of_workflow ON issues (workflow_id) WHERE is_open = 1 AND workflow_id <> '';
CREATE INDEX issues_of_container ON issues (container_id, number) WHERE container_id <> '';
ALTER TABLE runs ADD COLUMN workflow_id TEXT NOT NULL DEFAULT ''; -- of the issue when the lease was granted
