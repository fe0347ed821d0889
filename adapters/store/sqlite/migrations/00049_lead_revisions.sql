-- +goose Up
-- The instants of the newest changes of the leads. One that a reader of the feed was told of and that is not here, or at another instant,
-- belongs to a future that is lost: an older state was put in the place of the store. Programs before this one leave their changes out.
CREATE TABLE lead_revisions (
    revision INTEGER NOT NULL PRIMARY KEY,
    at       INTEGER NOT NULL
) STRICT;
