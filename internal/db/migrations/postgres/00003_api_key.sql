-- +goose Up

CREATE TABLE api_key (
    prefix        TEXT   NOT NULL PRIMARY KEY, -- names the key in listings and paths
    account_id    TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    hash          BYTEA  NOT NULL, -- SHA-256 of the whole key
    scopes        TEXT   NOT NULL, -- JSON list
    allowed_cidrs TEXT   NOT NULL, -- JSON list; empty: every address
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT,          -- uses are collected in memory and written now and then
    expires_at    BIGINT
);
CREATE INDEX api_key_account ON api_key (account_id, created_at, prefix);

-- How many mailboxes of an account have not ended; kept in the transaction that makes or ends one.
CREATE TABLE mailbox_owner (
    account_id TEXT   NOT NULL PRIMARY KEY,
    live       BIGINT NOT NULL
);
INSERT INTO mailbox_owner (account_id, live)
    SELECT account_id, count(*) FROM mailbox WHERE account_id IS NOT NULL AND ended_at IS NULL GROUP BY account_id;
CREATE INDEX mailbox_account_expires ON mailbox (account_id, expires_at) WHERE account_id IS NOT NULL AND ended_at IS NULL;

-- How many messages an account's mailboxes had on the last UTC day that they had any.
CREATE TABLE mail_day (
    account_id TEXT   NOT NULL PRIMARY KEY,
    day        BIGINT NOT NULL,
    count      BIGINT NOT NULL
);
