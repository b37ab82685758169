-- +goose Up

-- Times are microseconds since 1970 in UTC, durations too; flags are 0 or 1; identifiers sort by time. Text is compared by
-- octets (package db sees to it), and compressed octets are kept as they come: the server compresses nothing once more.

CREATE TABLE public_domain (
    name       TEXT     NOT NULL PRIMARY KEY, -- lower-case A-labels
    active     SMALLINT NOT NULL,
    created_at BIGINT   NOT NULL
);

CREATE TABLE guest_session (
    id         TEXT   NOT NULL PRIMARY KEY, -- hex of the SHA-256 of the guest key's secret
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX guest_session_expires ON guest_session (expires_at);

CREATE TABLE mailbox (
    id              TEXT     NOT NULL PRIMARY KEY,
    address         TEXT     UNIQUE,   -- null once it has ended, so that the address is held by address_hold alone
    local_part      TEXT     NOT NULL,
    domain          TEXT     NOT NULL,
    source          TEXT     NOT NULL, -- guest, session, account, key, catchall
    session_id      TEXT,
    account_id      TEXT,
    key_prefix      TEXT,
    domain_id       TEXT,
    created_at      BIGINT   NOT NULL,
    expires_at      BIGINT   NOT NULL,
    ended_at        BIGINT,            -- destroyed or found expired; erased soon after
    epoch           BIGINT   NOT NULL, -- tokens of an earlier epoch are void
    message_count   BIGINT   NOT NULL,
    unread_count    BIGINT   NOT NULL,
    last_message_at BIGINT   NOT NULL, -- the next message's time is later than this, so identifiers sort in commit order
    day             BIGINT   NOT NULL, -- the UTC day that day_count counts
    day_count       BIGINT   NOT NULL
);
CREATE INDEX mailbox_session ON mailbox (session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX mailbox_account ON mailbox (account_id, created_at, id) WHERE account_id IS NOT NULL;
CREATE INDEX mailbox_expires ON mailbox (expires_at) WHERE ended_at IS NULL;
CREATE INDEX mailbox_ended ON mailbox (ended_at) WHERE ended_at IS NOT NULL;

-- An address that was somebody's is not handed out again before until; only its hash is kept.
CREATE TABLE address_hold (
    address_hash BYTEA  NOT NULL PRIMARY KEY,
    account_id   TEXT,
    until        BIGINT NOT NULL
);
CREATE INDEX address_hold_until ON address_hold (until);

CREATE TABLE message (
    mailbox_id  TEXT     NOT NULL,
    id          TEXT     NOT NULL,
    received_at BIGINT   NOT NULL,
    size        BIGINT   NOT NULL,
    seen        SMALLINT NOT NULL,
    has_code    SMALLINT NOT NULL,
    raw_ref     TEXT     NOT NULL, -- where the original is; see package original
    raw_until   BIGINT   NOT NULL, -- when the original may no longer be read
    summary     TEXT     NOT NULL, -- JSON: what a list shows
    detail      BYTEA    NOT NULL, -- compressed JSON: what reading one message adds
    PRIMARY KEY (mailbox_id, id)
);
ALTER TABLE message ALTER COLUMN detail SET STORAGE EXTERNAL;

CREATE TABLE attachment (
    mailbox_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    data       BYTEA NOT NULL, -- compressed
    PRIMARY KEY (mailbox_id, message_id, id)
);
ALTER TABLE attachment ALTER COLUMN data SET STORAGE EXTERNAL;
-- A mailbox is written with each set of mail it is in: room in its page keeps the indexes out of that.
ALTER TABLE mailbox SET (fillfactor = 80);

-- Original messages for their short time, which on SQLite lie in files: a partition for each quarter of an hour, counted
-- since 1970, from whose beginning on nothing in it is needed any more; package original makes and drops them.
CREATE TABLE original (
    quarter BIGINT NOT NULL,
    id      BYTEA  NOT NULL,
    data    BYTEA  NOT NULL, -- compressed
    PRIMARY KEY (quarter, id)
) PARTITION BY RANGE (quarter);
ALTER TABLE original ALTER COLUMN data SET STORAGE EXTERNAL;

-- What identities have taken of the limits that processes count together; see package ratelimit. A crash of the server
-- empties it.
CREATE UNLOGGED TABLE rate_limit (
    key BYTEA  NOT NULL PRIMARY KEY, -- a hash of limit, identity and window
    tat BIGINT NOT NULL              -- the theoretical arrival time of the generic cell rate algorithm
) WITH (fillfactor = 70);
-- What identities hold at once, said by each process, and said again before until.
CREATE UNLOGGED TABLE rate_held (
    key     BYTEA       NOT NULL, -- a hash of limit and identity
    process TEXT        NOT NULL,
    held    BIGINT      NOT NULL,
    until   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (key, process)
) WITH (fillfactor = 70);
