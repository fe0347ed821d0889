-- +goose Up
-- The instants of the newest changes of the leads. One that a reader of the feed was told of and that is not here, or at another instant,
-- belongs to a future that is lost: an older state was put in the place of the store. Programs before this one leave their changes out.
CREATE TABLE lead_revisions (
    revision INTEGER NOT NULL PRIMARY KEY,
    at       INTEGER NOT NULL
) STRICT;

-- The revision since which a campaign is of its industry, if it was of another one before: what of its leads is shown to keys that are
-- narrowed to industries changed then. 0: it is of the same since it is there.
ALTER TABLE campaigns ADD COLUMN moved_revision INTEGER NOT NULL DEFAULT 0;
