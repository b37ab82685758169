-- +goose Up

-- When what a process holds was so, counted by the process: what it said earlier may arrive later.
ALTER TABLE rate_held ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
