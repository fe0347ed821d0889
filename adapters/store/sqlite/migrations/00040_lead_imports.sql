-- +goose Up
ALTER TABLE imports ADD COLUMN merged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE imports ADD COLUMN suppressed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE imports ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0; -- values
ALTER TABLE imports ADD COLUMN replace INTEGER NOT NULL DEFAULT 0;
ALTER TABLE imports ADD COLUMN lenient INTEGER NOT NULL DEFAULT 0;
ALTER TABLE imports ADD COLUMN natural_key TEXT NOT NULL DEFAULT ''; -- names of columns; empty: the usual ones
ALTER TABLE imports ADD COLUMN region TEXT NOT NULL DEFAULT '';
ALTER TABLE imports ADD COLUMN encoding TEXT NOT NULL DEFAULT '';

-- Lines that were merged, and such that were imported without some values, are kept with the rejected ones.
ALTER TABLE import_rejects ADD COLUMN item INTEGER NOT NULL DEFAULT 0; -- in a JSON list, from 1 on; 0: it is none
ALTER TABLE import_rejects ADD COLUMN outcome TEXT NOT NULL DEFAULT 'rejected';
ALTER TABLE import_rejects ADD COLUMN into_line INTEGER NOT NULL DEFAULT 0; -- which counts instead; 0: none
ALTER TABLE import_rejects ADD COLUMN into_item INTEGER NOT NULL DEFAULT 0;

-- What imports must not bring back.
CREATE TABLE lead_suppressions (
    id         TEXT    NOT NULL PRIMARY KEY,
    digests    TEXT    NOT NULL, -- of the id of a lead and of what it is known by, between spaces
    created_at INTEGER NOT NULL,
    CONSTRAINT lead_suppressions_digests UNIQUE (digests) -- to forget twice is to forget once
) STRICT;
CREATE INDEX lead_suppressions_by_age ON lead_suppressions (created_at, id);

-- The key of these digests, sealed with the key of the instance: made for the first of them.
CREATE TABLE lead_suppression_keys (
    id     TEXT NOT NULL PRIMARY KEY CHECK (id = 'leads'),
    sealed TEXT NOT NULL
) STRICT;
ALTER TABLE lead_state ADD COLUMN suppressed INTEGER NOT NULL DEFAULT 0; -- the revision in which suppressions changed last
