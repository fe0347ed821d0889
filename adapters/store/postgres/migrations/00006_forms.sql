-- +goose Up
-- What is stored encoded carries the number of its form, so that a later program knows how to read it.
UPDATE lead_entries SET entry = '1 ' || entry;
ALTER TABLE activity ADD COLUMN form BIGINT NOT NULL DEFAULT 1; -- of data and previous
