-- +goose Up
ALTER TABLE partners ADD COLUMN test INTEGER NOT NULL DEFAULT 0; -- 1: the key reads a sample that is made up, no leads of the store
