-- +goose Up
-- The mark of a store that is being moved, or was, or is being moved to: see domain/move. No row: it is none of these.
CREATE TABLE moves (
    single    BIGINT NOT NULL PRIMARY KEY CHECK (single = 1),
    id        TEXT COLLATE "C" NOT NULL, -- of the move, in both stores
    is_target BIGINT           NOT NULL, -- 1: rows are copied into this store
    done      BIGINT           NOT NULL, -- 1: this store was moved; of a target: all rows were copied
    other     TEXT COLLATE "C" NOT NULL, -- the name of the other store
    in_table  TEXT COLLATE "C" NOT NULL, -- of a target: whose rows are being copied; those of the tables before it were; empty: none yet
    after_key TEXT COLLATE "C" NOT NULL, -- of a target: of the last row in that table, encoded; empty: there is none
    row_count BIGINT           NOT NULL  -- of a target: in all tables
);
