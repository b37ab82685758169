-- +goose Up

-- Processes that share a database are PostgreSQL's; see there.
SELECT 1;
