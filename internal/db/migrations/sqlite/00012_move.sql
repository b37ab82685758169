-- +goose Up

-- Where what is kept here came from, if it was moved here from another database; see package db/move.
CREATE TABLE move (
    digest      TEXT   NOT NULL PRIMARY KEY, -- hexadecimal SHA-256 of every row of every table, as they were moved
    source      TEXT   NOT NULL,             -- where they were, without a password
    row_count   BIGINT NOT NULL,
    secret      BLOB   NOT NULL,             -- derived from the master secret that they were signed and sealed with
    finished_at BIGINT NOT NULL
);
