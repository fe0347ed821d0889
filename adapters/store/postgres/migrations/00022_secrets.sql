-- +goose Up
CREATE TABLE secrets (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    company_id   TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    category     TEXT COLLATE "C" NOT NULL,
    description  TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    rotated_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    version      BIGINT NOT NULL,
    CONSTRAINT secrets_company_id_name UNIQUE (company_id, name)
);
CREATE INDEX secrets_by_company ON secrets (company_id, created_at, id);

CREATE TABLE secret_values (
    place      TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- the company and the name, to which the text is bound
    company_id TEXT COLLATE "C" NOT NULL,
    sealed     TEXT COLLATE "C" NOT NULL
);
CREATE INDEX secret_values_by_company ON secret_values (company_id);

ALTER TABLE instance_key ADD COLUMN former TEXT COLLATE "C" NOT NULL DEFAULT ''; -- a fingerprint; something may still be sealed with that key
