-- +goose Up
-- Events about different subjects are sent in parallel, so a queue can have finished events beyond its cursor.
ALTER TABLE queues ADD COLUMN finished TEXT COLLATE "C" NOT NULL DEFAULT ''; -- ranges of positions beyond the cursor, such as 7-9,12-12

ALTER TABLE queues RENAME COLUMN gap_from TO skip_after; -- positions after this one, up to skip_to, are skipped: what they hold
ALTER TABLE queues RENAME COLUMN gap_to TO skip_to;      -- happened while the endpoint was disabled; NULL, with skip_after: it still is

DROP INDEX activity_unspread;
ALTER TABLE activity RENAME COLUMN unspread TO unqueued; -- 1: it has no position in the outbox yet, and will get one
CREATE INDEX activity_unqueued ON activity (seq) WHERE unqueued = 1;
