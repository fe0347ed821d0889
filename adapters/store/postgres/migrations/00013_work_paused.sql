-- +goose Up
ALTER TABLE companies ADD COLUMN work_paused BIGINT NOT NULL DEFAULT 0; -- 1: yes
