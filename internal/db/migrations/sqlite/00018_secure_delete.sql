-- +goose Up

-- Versions before left deleted data in free pages. Migrate rebuilds the file with VACUUM, which no transaction may
-- contain, before this version is recorded.
SELECT 1;
