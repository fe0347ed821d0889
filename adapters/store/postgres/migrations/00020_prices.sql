-- +goose Up
-- What tokens of models cost, in 10^-12 dollars a token: one table, which is read and replaced as a whole, so it is one row.
CREATE TABLE prices (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (id = 'instance'),
    version         BIGINT NOT NULL, -- the revision
    snapshot        TEXT COLLATE "C" NOT NULL, -- the date of the snapshot that the models come from; empty: a file was imported
    changed_at      BIGINT,
    fallback_input  BIGINT NOT NULL,
    fallback_output BIGINT NOT NULL,
    models          TEXT COLLATE "C" NOT NULL  -- JSON, as LiteLLM has it; empty: those of the snapshot in the program
);
INSERT INTO prices (id, version, snapshot, fallback_input, fallback_output, models) VALUES ('instance', 1, '', 15000000, 75000000, '');
