-- +goose Up
-- What tokens of models cost, in 10^-12 dollars a token: one table, which is read and replaced as a whole, so it is one row.
CREATE TABLE prices (
    id              TEXT NOT NULL PRIMARY KEY CHECK (id = 'instance'),
    version         INTEGER NOT NULL, -- the revision
    snapshot        TEXT NOT NULL, -- the date of the snapshot that the models come from; empty: a file was imported
    changed_at      INTEGER,
    fallback_input  INTEGER NOT NULL,
    fallback_output INTEGER NOT NULL,
    models          TEXT NOT NULL  -- JSON, as LiteLLM has it; empty: those of the snapshot in the program
) STRICT;
INSERT INTO prices (id, version, snapshot, fallback_input, fallback_output, models) VALUES ('instance', 1, '', 15000000, 75000000, '');
