-- +goose Up

-- This rebuilds the file of SQLite; PostgreSQL has VACUUM of its own.
SELECT 1;
