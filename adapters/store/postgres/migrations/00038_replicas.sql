-- +goose Up
-- The servers that run on the store, as each says of itself; and for an hour those that did. Instants are of the store's clock.
CREATE TABLE replicas (
    id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    program TEXT COLLATE "C" NOT NULL, -- its version
    since   BIGINT           NOT NULL,
    seen_at BIGINT           NOT NULL  -- when it last said that it runs
);
