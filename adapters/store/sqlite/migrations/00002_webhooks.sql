-- +goose Up
-- The activity log is the outbox too: seq is the order in which its entries were made, unspread marks those that
-- webhooks have to spread, position is where they stand in the outbox then. Seq cannot tell that: units that made
-- entries at once may commit in another order.
CREATE TABLE activity_in_order (
    seq          INTEGER NOT NULL PRIMARY KEY,
    id           TEXT    NOT NULL CONSTRAINT activity_id UNIQUE,
    company_id   TEXT    NOT NULL, -- empty: of the instance
    category     TEXT    NOT NULL,
    type         TEXT    NOT NULL,
    actor        TEXT    NOT NULL,
    subject_type TEXT    NOT NULL,
    subject_id   TEXT    NOT NULL,
    data         TEXT    NOT NULL, -- a JSON object
    previous     TEXT    NOT NULL, -- a JSON object; empty: none
    at           INTEGER NOT NULL,
    unspread     INTEGER NOT NULL, -- 1: yes
    position     INTEGER           -- in the outbox, once it was spread
) STRICT;
INSERT INTO activity_in_order (id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, unspread)
    SELECT id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, 0 FROM activity ORDER BY id;
DROP TABLE activity;
ALTER TABLE activity_in_order RENAME TO activity;
CREATE INDEX activity_by_company ON activity (company_id, at, id);
CREATE INDEX activity_by_age ON activity (at, id);
CREATE INDEX activity_unspread ON activity (seq) WHERE unspread = 1;
CREATE UNIQUE INDEX activity_by_position ON activity (position) WHERE position IS NOT NULL;

CREATE TABLE outbox (
    single INTEGER NOT NULL PRIMARY KEY CHECK (single = 1),
    length INTEGER NOT NULL -- the last position that was given: none is given twice, though entries go with their company
) STRICT;
INSERT INTO outbox (single, length) VALUES (1, 0);

CREATE TABLE webhooks (
    id               TEXT    NOT NULL PRIMARY KEY,
    url              TEXT    NOT NULL,
    events           TEXT    NOT NULL, -- patterns, separated by spaces
    company_id       TEXT    NOT NULL, -- empty: of all
    enabled          INTEGER NOT NULL, -- 1: yes
    description      TEXT    NOT NULL,
    disabled_reason  TEXT    NOT NULL, -- empty: Holdco did not disable it
    secret           TEXT    NOT NULL, -- sealed
    old_secret       TEXT    NOT NULL, -- sealed; empty: there is none
    old_secret_until INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    version          INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_by_age ON webhooks (created_at, id);
CREATE INDEX webhooks_enabled ON webhooks (created_at, id) WHERE enabled = 1;

CREATE TABLE queues (
    webhook_id    TEXT NOT NULL PRIMARY KEY,
    cursor        INTEGER,       -- the position to be looked at next; NULL: nothing that is wanted is left
    gap_from      INTEGER,       -- positions behind this one, up to gap_to, are passed over: what they hold
    gap_to        INTEGER,       -- happened while the endpoint was disabled; NULL, with gap_from: it still is
    due_at        INTEGER,       -- of its first pending delivery, or before
    failing_since INTEGER,
    lease         TEXT NOT NULL, -- empty: nobody's
    leased_until  INTEGER
) STRICT;
CREATE INDEX queues_by_due ON queues (due_at);

CREATE TABLE deliveries (
    seq             INTEGER NOT NULL PRIMARY KEY,
    id              TEXT    NOT NULL CONSTRAINT deliveries_id UNIQUE,
    webhook_id      TEXT    NOT NULL,
    event_id        TEXT    NOT NULL, -- of the activity log
    company_id      TEXT    NOT NULL, -- whose data the event holds; empty: nobody's
    type            TEXT    NOT NULL,
    status          TEXT    NOT NULL,
    tries           INTEGER NOT NULL,
    next_attempt_at INTEGER,          -- while it is pending
    attempts        TEXT    NOT NULL, -- a JSON list
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, created_at, id);
CREATE INDEX deliveries_by_company ON deliveries (company_id) WHERE company_id <> '';
CREATE INDEX deliveries_pending ON deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
-- Tests and redeliveries, which a long line of repetitions must not hold up. It has another condition, so that SQLite
-- cannot take the one above instead and pass over all of that line.
CREATE INDEX deliveries_untried ON deliveries (webhook_id, seq) WHERE next_attempt_at IS NOT NULL AND tries = 0;

CREATE TABLE instance_key (
    single      INTEGER NOT NULL PRIMARY KEY CHECK (single = 1),
    fingerprint TEXT    NOT NULL
) STRICT;
