-- +goose Up

-- Content that several messages share, or that is large, is stored once for each content, in chunks. A row of message or
-- attachment refers to it by its hash; see package blob.
CREATE TABLE blob (
    hash BYTEA  NOT NULL PRIMARY KEY, -- SHA-256 of the content before compression
    refs BIGINT NOT NULL,             -- rows that refer to it
    size BIGINT NOT NULL              -- octets of the content
) WITH (fillfactor = 70);
CREATE TABLE blob_chunk (
    hash   BYTEA  NOT NULL,
    number BIGINT NOT NULL, -- from 0 on, of 64 KiB of content each but the last
    crc    BIGINT NOT NULL, -- CRC-32C of data
    data   BYTEA  NOT NULL, -- compressed
    PRIMARY KEY (hash, number)
);
ALTER TABLE blob_chunk ALTER COLUMN data SET STORAGE EXTERNAL;

-- Content that is stored ahead of the rows that will refer to it, so that no transaction is as large as a large mail. A row is a
-- reference, too. Those that a process has left when it died are swept.
CREATE TABLE blob_stage (
    id         TEXT   NOT NULL, -- of what is stored together
    hash       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id, hash)
);

-- The crc is the CRC-32C of detail or data; null: an earlier version stored the row. Where there is a blob, it is in the place of
-- detail or data, which is empty.
ALTER TABLE message ADD COLUMN crc BIGINT, ADD COLUMN blob BYTEA;
ALTER TABLE attachment ADD COLUMN crc BIGINT, ADD COLUMN blob BYTEA;

-- References are removed here and not by the program, so that the count is exact whatever deletes a row: a process of the version
-- before, too, while a service is replaced process by process.
-- +goose StatementBegin
CREATE FUNCTION release_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.blob;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER message_release AFTER DELETE ON message FOR EACH ROW WHEN (OLD.blob IS NOT NULL) EXECUTE FUNCTION release_blob();
CREATE TRIGGER attachment_release AFTER DELETE ON attachment FOR EACH ROW WHEN (OLD.blob IS NOT NULL) EXECUTE FUNCTION release_blob();
-- +goose StatementBegin
CREATE FUNCTION release_staged_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.hash;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER blob_stage_release AFTER DELETE ON blob_stage FOR EACH ROW EXECUTE FUNCTION release_staged_blob();
-- +goose StatementBegin
CREATE FUNCTION delete_unused_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM blob_chunk WHERE hash = NEW.hash;
    DELETE FROM blob WHERE hash = NEW.hash;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER blob_unused AFTER UPDATE OF refs ON blob FOR EACH ROW WHEN (NEW.refs <= 0) EXECUTE FUNCTION delete_unused_blob();
