-- +goose Up

-- SQLite keeps rows whole; this is for PostgreSQL.
SELECT 1;
