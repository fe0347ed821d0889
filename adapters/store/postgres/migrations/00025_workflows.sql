-- +goose Up
CREATE TABLE workflows (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id  TEXT COLLATE "C" NOT NULL REFERENCES companies (id),
    name        TEXT COLLATE "C" NOT NULL,
    slug        TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    budget_usd  BIGINT, -- NULL: no limit
    steps       TEXT COLLATE "C" NOT NULL, -- JSON
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    CONSTRAINT workflows_company_id_slug UNIQUE (company_id, slug)
);
CREATE INDEX workflows_by_company ON workflows (company_id, created_at, id);

-- The steps of a workflow from a version on, until the next one of which they are kept.
CREATE TABLE workflow_versions (
    workflow_id  TEXT COLLATE "C" NOT NULL,
    company_id   TEXT COLLATE "C" NOT NULL,
    from_version BIGINT NOT NULL,
    steps        TEXT COLLATE "C" NOT NULL, -- JSON
    PRIMARY KEY (workflow_id, from_version)
);
CREATE INDEX workflow_versions_by_company ON workflow_versions (company_id);

ALTER TABLE issues ADD COLUMN workflow_id TEXT COLLATE "C" NOT NULL DEFAULT ''; -- whose budget it is charged to; empty: none
ALTER TABLE issues ADD COLUMN container_id TEXT COLLATE "C" NOT NULL DEFAULT ''; -- of which it is a step; empty: none
ALTER TABLE issues ADD COLUMN step TEXT COLLATE "C" NOT NULL DEFAULT ''; -- of a container: the version; of a step: also place, key, gate
ALTER TABLE issues ADD COLUMN container_of TEXT COLLATE "C" NOT NULL DEFAULT ''; -- workflow_id of a container; empty: it is none
CREATE INDEX issues_by_workflow ON issues (container_of, created_at, id) WHERE container_of <> '';
CREATE INDEX issues_of_workflow ON issues (workflow_id) WHERE is_open = 1 AND workflow_id <> '';
CREATE INDEX issues_of_container ON issues (container_id, number) WHERE container_id <> '';
ALTER TABLE runs ADD COLUMN workflow_id TEXT COLLATE "C" NOT NULL DEFAULT ''; -- of the issue when the lease was granted
