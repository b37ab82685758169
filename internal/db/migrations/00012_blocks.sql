-- Clients, senders and recipients that the operator has blocked (docs/spec/staff.md#blocks).
CREATE TABLE block (
    id         TEXT   NOT NULL PRIMARY KEY,
    kind       TEXT   NOT NULL, -- ip, sender, recipient
    value      TEXT   NOT NULL,
    reason     TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT           -- null: never
);
CREATE INDEX block_expires ON block (expires_at) WHERE expires_at IS NOT NULL;
-- One row, which changes with each change of block, so that services read the blocks again only after a change.
CREATE TABLE block_version (
    id      TEXT   NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);
