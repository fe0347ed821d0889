-- +goose Up
-- 1: what it has to send is held, because the store was restored from a backup.
ALTER TABLE queues ADD COLUMN held INTEGER NOT NULL DEFAULT 0;

-- The backups that servers make: of several, one makes the next. Instants are of the store's clock.
CREATE TABLE backup_schedule (
    id         TEXT    NOT NULL PRIMARY KEY CHECK (id = 'instance'),
    begun_at   INTEGER,          -- NULL: none was
    done_at    INTEGER,          -- when the last one that succeeded was begun; NULL: none has
    bytes      INTEGER NOT NULL, -- of that
    holder     TEXT    NOT NULL, -- the process that makes one; empty: none does
    held_until INTEGER,
    failed     INTEGER NOT NULL  -- 1: the last one has failed
) STRICT;
INSERT INTO backup_schedule (id, bytes, holder, failed) VALUES ('instance', 0, '', 0);

-- The store was restored, and what had changed after the first instant and before the second is gone. NULL: it never was, or from a
-- backup without leads.
ALTER TABLE lead_state ADD COLUMN lost_after INTEGER;
ALTER TABLE lead_state ADD COLUMN lost_until INTEGER;
