-- +goose Up
-- The names and slugs of industries and verticals as the feed tells them, and the revision since which they are so. What differs from
-- this, or is not here, was changed by a program that does not know this table: in the last revision of the taxonomy, or before it.
CREATE TABLE taxonomy_names (
    id       TEXT    NOT NULL PRIMARY KEY,
    name     TEXT    NOT NULL,
    slug     TEXT    NOT NULL,
    revision INTEGER NOT NULL
) STRICT;
INSERT INTO taxonomy_names (id, name, slug, revision)
    SELECT id, name, slug, (SELECT taxonomy FROM lead_state) FROM industries
    UNION ALL
    SELECT id, name, slug, (SELECT taxonomy FROM lead_state) FROM verticals;

-- Which revision of the leads there was at some instants, a few minutes apart: where the feed begins that is asked for since an instant.
CREATE TABLE lead_instants (
    at       INTEGER NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL
) STRICT;

-- The place in the feed of the last removal of a lead that is forgotten.
ALTER TABLE lead_state ADD COLUMN forgotten_revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lead_state ADD COLUMN forgotten_key      INTEGER NOT NULL DEFAULT 0;
