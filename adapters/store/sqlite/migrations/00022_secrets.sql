-- +goose Up
CREATE TABLE secrets (
    id           TEXT    NOT NULL PRIMARY KEY,
    company_id   TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    category     TEXT    NOT NULL,
    description  TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    rotated_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    version      INTEGER NOT NULL,
    CONSTRAINT secrets_company_id_name UNIQUE (company_id, name)
) STRICT;
CREATE INDEX secrets_by_company ON secrets (company_id, created_at, id);

CREATE TABLE secret_values (
    place      TEXT NOT NULL PRIMARY KEY, -- the company and the name, to which the text is bound
    company_id TEXT NOT NULL,
    sealed     TEXT NOT NULL
) STRICT;
CREATE INDEX secret_values_by_company ON secret_values (company_id);

ALTER TABLE instance_key ADD COLUMN former TEXT NOT NULL DEFAULT ''; -- a fingerprint; something may still be sealed with that key
