-- +goose Up
-- What the key of a partner may see, and how much it was used.
ALTER TABLE partners ADD COLUMN campaigns TEXT COLLATE "C" NOT NULL DEFAULT ''; -- separated by spaces; empty: any
ALTER TABLE partners ADD COLUMN industries TEXT COLLATE "C" NOT NULL DEFAULT ''; -- likewise
ALTER TABLE partners ADD COLUMN no_contacts BIGINT NOT NULL DEFAULT 0; -- 1: the people at leads are not shown
ALTER TABLE partners ADD COLUMN requests BIGINT NOT NULL DEFAULT 0;
ALTER TABLE partners ADD COLUMN leads_read BIGINT NOT NULL DEFAULT 0;
