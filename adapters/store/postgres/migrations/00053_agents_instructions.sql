-- +goose Up
ALTER TABLE agents ADD COLUMN instructions TEXT COLLATE "C" NOT NULL DEFAULT '';
-- Which action of an issue a comment explains; empty: none, or it was made before this was kept.
ALTER TABLE issue_comments ADD COLUMN explains TEXT COLLATE "C" NOT NULL DEFAULT '';
