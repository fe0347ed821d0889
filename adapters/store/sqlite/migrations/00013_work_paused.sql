-- +goose Up
ALTER TABLE companies ADD COLUMN work_paused INTEGER NOT NULL DEFAULT 0; -- 1: yes
