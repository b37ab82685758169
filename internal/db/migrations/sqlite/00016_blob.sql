-- +goose Up

-- Content that several messages share, or that is large, is stored once for each content, in chunks. A row of message or
-- attachment refers to it by its hash; see package blob.
CREATE TABLE blob (
    hash BLOB   NOT NULL PRIMARY KEY, -- SHA-256 of the content before compression
    refs BIGINT NOT NULL,             -- rows that refer to it
    size BIGINT NOT NULL              -- octets of the content
);
CREATE TABLE blob_chunk (
    hash   BLOB   NOT NULL,
    number BIGINT NOT NULL, -- from 0 on, of 64 KiB of content each but the last
    crc    BIGINT NOT NULL, -- CRC-32C of data
    data   BLOB   NOT NULL, -- compressed
    PRIMARY KEY (hash, number)
);

-- Content that is stored ahead of the rows that will refer to it, so that no transaction is as large as a large mail. A row is a
-- reference, too. Those that a process has left when it died are swept.
CREATE TABLE blob_stage (
    id         TEXT   NOT NULL, -- of what is stored together
    hash       BLOB   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id, hash)
);

-- The crc is the CRC-32C of detail or data; null: an earlier version stored the row. Where there is a blob, it is in the place of
-- detail or data, which is empty.
ALTER TABLE message ADD COLUMN crc BIGINT;
ALTER TABLE message ADD COLUMN blob BLOB;
ALTER TABLE attachment ADD COLUMN crc BIGINT;
ALTER TABLE attachment ADD COLUMN blob BLOB;

-- References are removed here and not by the program, so that the count is exact whatever deletes a row.
-- +goose StatementBegin
CREATE TRIGGER message_release AFTER DELETE ON message WHEN OLD.blob IS NOT NULL
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.blob;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attachment_release AFTER DELETE ON attachment WHEN OLD.blob IS NOT NULL
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.blob;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER blob_stage_release AFTER DELETE ON blob_stage
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.hash;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER blob_unused AFTER UPDATE OF refs ON blob WHEN NEW.refs <= 0
BEGIN
    DELETE FROM blob_chunk WHERE hash = NEW.hash;
    DELETE FROM blob WHERE hash = NEW.hash;
END;
-- +goose StatementEnd
