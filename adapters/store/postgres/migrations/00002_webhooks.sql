-- +goose Up
-- The activity log is the outbox too: seq is the order in which its entries were made, unspread marks those that
-- webhooks have to spread, position is where they stand in the outbox then. Seq cannot tell that: units that made
-- entries at once may commit in another order.
CREATE TABLE activity_in_order (
    seq          BIGINT           NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           TEXT COLLATE "C" NOT NULL CONSTRAINT activity_id UNIQUE,
    company_id   TEXT COLLATE "C" NOT NULL, -- empty: of the instance
    category     TEXT COLLATE "C" NOT NULL,
    type         TEXT COLLATE "C" NOT NULL,
    actor        TEXT COLLATE "C" NOT NULL,
    subject_type TEXT COLLATE "C" NOT NULL,
    subject_id   TEXT COLLATE "C" NOT NULL,
    data         TEXT COLLATE "C" NOT NULL, -- a JSON object
    previous     TEXT COLLATE "C" NOT NULL, -- a JSON object; empty: none
    at           BIGINT           NOT NULL,
    unspread     BIGINT           NOT NULL, -- 1: yes
    position     BIGINT                     -- in the outbox, once it was spread
);
INSERT INTO activity_in_order (id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, unspread)
    SELECT id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, 0 FROM activity ORDER BY id;
DROP TABLE activity;
ALTER TABLE activity_in_order RENAME TO activity;
CREATE INDEX activity_by_company ON activity (company_id, at, id);
CREATE INDEX activity_by_age ON activity (at, id);
CREATE INDEX activity_unspread ON activity (seq) WHERE unspread = 1;
CREATE UNIQUE INDEX activity_by_position ON activity (position) WHERE position IS NOT NULL;

CREATE TABLE outbox (
    single BIGINT NOT NULL PRIMARY KEY CHECK (single = 1),
    length BIGINT NOT NULL -- the last position that was given: none is given twice, though entries go with their company
);
INSERT INTO outbox (single, length) VALUES (1, 0);

CREATE TABLE webhooks (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    url              TEXT COLLATE "C" NOT NULL,
    events           TEXT COLLATE "C" NOT NULL, -- patterns, separated by spaces
    company_id       TEXT COLLATE "C" NOT NULL, -- empty: of all
    enabled          BIGINT           NOT NULL, -- 1: yes
    description      TEXT COLLATE "C" NOT NULL,
    disabled_reason  TEXT COLLATE "C" NOT NULL, -- empty: Holdco did not disable it
    secret           TEXT COLLATE "C" NOT NULL, -- sealed
    old_secret       TEXT COLLATE "C" NOT NULL, -- sealed; empty: there is none
    old_secret_until BIGINT,
    created_at       BIGINT           NOT NULL,
    updated_at       BIGINT           NOT NULL,
    version          BIGINT           NOT NULL
);
CREATE INDEX webhooks_by_age ON webhooks (created_at, id);
CREATE INDEX webhooks_enabled ON webhooks (created_at, id) WHERE enabled = 1;

CREATE TABLE queues (
    webhook_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    cursor        BIGINT,                    -- the position to be looked at next; NULL: nothing that is wanted is left
    gap_from      BIGINT,                    -- positions behind this one, up to gap_to, are passed over: what they hold
    gap_to        BIGINT,                    -- happened while the endpoint was disabled; NULL, with gap_from: it still is
    due_at        BIGINT,                    -- of its first pending delivery, or before
    failing_since BIGINT,
    lease         TEXT COLLATE "C" NOT NULL, -- empty: nobody's
    leased_until  BIGINT
);
CREATE INDEX queues_by_due ON queues (due_at);

CREATE TABLE deliveries (
    seq             BIGINT           NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id              TEXT COLLATE "C" NOT NULL CONSTRAINT deliveries_id UNIQUE,
    webhook_id      TEXT COLLATE "C" NOT NULL,
    event_id        TEXT COLLATE "C" NOT NULL, -- of the activity log
    company_id      TEXT COLLATE "C" NOT NULL, -- whose data the event holds; empty: nobody's
    type            TEXT COLLATE "C" NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    tries           BIGINT           NOT NULL,
    next_attempt_at BIGINT,                    -- while it is pending
    attempts        TEXT COLLATE "C" NOT NULL, -- a JSON list
    created_at      BIGINT           NOT NULL
);
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, created_at, id);
CREATE INDEX deliveries_by_company ON deliveries (company_id) WHERE company_id <> '';
CREATE INDEX deliveries_pending ON deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
-- Tests and redeliveries, which a long line of repetitions must not hold up. It has another condition, so that SQLite
-- cannot take the one above instead and pass over all of that line.
CREATE INDEX deliveries_untried ON deliveries (webhook_id, seq) WHERE next_attempt_at IS NOT NULL AND tries = 0;

CREATE TABLE instance_key (
    single      BIGINT           NOT NULL PRIMARY KEY CHECK (single = 1),
    fingerprint TEXT COLLATE "C" NOT NULL
);

-- Room for new versions of a company: one on another page needs entries in all indexes, where units that read them fail.
ALTER TABLE companies SET (fillfactor = 50);
