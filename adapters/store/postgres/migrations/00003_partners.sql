-- +goose Up
CREATE TABLE partners (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name         TEXT COLLATE "C" NOT NULL,
    origins      TEXT COLLATE "C" NOT NULL, -- separated by spaces
    hint         TEXT COLLATE "C" NOT NULL,
    hash         TEXT COLLATE "C" NOT NULL CONSTRAINT partners_hash UNIQUE,
    old_hash     TEXT COLLATE "C" NOT NULL, -- empty: none is alive
    old_until    BIGINT,
    created_at   BIGINT           NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT,
    version      BIGINT           NOT NULL
);
CREATE INDEX partners_by_old_hash ON partners (old_hash) WHERE old_hash <> '';
CREATE INDEX partners_by_age ON partners (created_at, id);
CREATE INDEX partners_unrevoked ON partners (expires_at) WHERE revoked_at IS NULL;
