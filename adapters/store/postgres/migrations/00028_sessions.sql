-- +goose Up
CREATE TABLE sessions (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    hash         TEXT COLLATE "C" NOT NULL,
    token_id     TEXT COLLATE "C" NOT NULL,
    token_hash   TEXT COLLATE "C" NOT NULL,
    browser      TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT           NOT NULL,
    last_seen_at BIGINT           NOT NULL,
    expires_at   BIGINT           NOT NULL,
    CONSTRAINT sessions_hash UNIQUE (hash)
);
CREATE INDEX sessions_by_age ON sessions (created_at, id);
CREATE INDEX sessions_by_use ON sessions (last_seen_at);
CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE login_codes (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- made from the code, which is not kept
    token_id   TEXT COLLATE "C" NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    expires_at BIGINT           NOT NULL
);
CREATE INDEX login_codes_by_end ON login_codes (expires_at);
