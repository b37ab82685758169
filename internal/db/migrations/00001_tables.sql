-- The tables of both engines. Types are SQLite's: on PostgreSQL BLOB becomes BYTEA. What an engine adds is in the file of the same
-- number and name that ends in .sqlite.sql or .postgres.sql, which runs after this one in the same transaction.
--
-- Times are microseconds since 1970 in UTC, durations are microseconds, flags are 0 or 1. Identifiers sort by time. Text is compared
-- by its octets on both engines (compareByOctet in package db).

CREATE TABLE public_domain (
    name       TEXT     NOT NULL PRIMARY KEY, -- lower-case A-labels
    active     SMALLINT NOT NULL,
    created_at BIGINT   NOT NULL
);

CREATE TABLE guest_session (
    id         TEXT   NOT NULL PRIMARY KEY, -- hexadecimal SHA-256 of the guest key's secret
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX guest_session_expires ON guest_session (expires_at);

CREATE TABLE account (
    id         TEXT     NOT NULL PRIMARY KEY,
    email      TEXT     NOT NULL UNIQUE, -- lower case, NFC
    password   TEXT     NOT NULL,        -- PHC string of its Argon2id hash
    epoch      BIGINT   NOT NULL,        -- rises when the password is replaced, so that a concurrent sign-in with the old one fails
    locale     TEXT     NOT NULL,        -- BCP 47, canonical
    role       TEXT     NOT NULL,        -- user, staff
    plan       TEXT     NOT NULL,        -- as assigned by staff
    disabled   SMALLINT NOT NULL,
    created_at BIGINT   NOT NULL,
    totp_key   BLOB,                     -- sealed; null: two-factor authentication is neither enabled nor being enrolled
    totp_until BIGINT,                   -- end of an enrolment that is not confirmed; null: confirmed, or no enrolment
    totp_last  BIGINT   NOT NULL,        -- the latest time step whose code was accepted
    totp_spent BIGINT   NOT NULL         -- bit i: the code of step totp_last - i was accepted
);
CREATE INDEX account_totp_until ON account (totp_until) WHERE totp_until IS NOT NULL;

CREATE TABLE user_token (
    hash       BLOB   NOT NULL PRIMARY KEY, -- SHA-256 of the token
    account_id TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX user_token_account ON user_token (account_id);
CREATE INDEX user_token_expires ON user_token (expires_at);

-- Unused recovery codes.
CREATE TABLE recovery_code (
    account_id TEXT NOT NULL,
    code_hash  BLOB NOT NULL, -- HMAC-SHA-256 under a key of the service
    PRIMARY KEY (account_id, code_hash)
);

CREATE TABLE api_key (
    prefix        TEXT   NOT NULL PRIMARY KEY, -- names the key in lists and paths
    account_id    TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    hash          BLOB   NOT NULL, -- SHA-256 of the whole key
    scopes        TEXT   NOT NULL, -- JSON list
    allowed_cidrs TEXT   NOT NULL, -- JSON list; empty: every address
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT,          -- written periodically, from a buffer in memory
    expires_at    BIGINT
);
CREATE INDEX api_key_account ON api_key (account_id, created_at, prefix);

CREATE TABLE private_domain (
    id          TEXT     NOT NULL PRIMARY KEY,
    account_id  TEXT     NOT NULL,
    name        TEXT     NOT NULL, -- lower-case A-labels
    status      TEXT     NOT NULL, -- pending, verified, suspended; ending: the row is deleted once its mailboxes are destroyed
    proof       TEXT     NOT NULL, -- the hexadecimal digits of the TXT record
    created_at  BIGINT   NOT NULL,
    verified_at BIGINT,            -- last successful verification; null: never
    checked_at  BIGINT,            -- last look-up that was answered
    txt_ok      SMALLINT NOT NULL, -- the TXT record at checked_at
    mx_ok       SMALLINT NOT NULL, -- the MX record at checked_at
    misses      BIGINT   NOT NULL, -- consecutive re-checks that found no MX record
    next_check  BIGINT             -- next re-check of a verified domain; null: it is not verified
);
CREATE UNIQUE INDEX private_domain_account ON private_domain (account_id, name);
-- Any number of accounts may claim a domain; one at a time has verified it.
CREATE UNIQUE INDEX private_domain_proven ON private_domain (name) WHERE status <> 'pending';
CREATE INDEX private_domain_due ON private_domain (next_check) WHERE next_check IS NOT NULL;
CREATE INDEX private_domain_ending ON private_domain (id) WHERE status = 'ending';

CREATE TABLE filter (
    id              TEXT     NOT NULL PRIMARY KEY,
    account_id      TEXT     NOT NULL,
    name            TEXT     NOT NULL,
    domain_id       TEXT,              -- the private domain it applies to; null: all mailboxes of the account
    from_pattern    TEXT     NOT NULL, -- RE2; empty: every sender
    subject_pattern TEXT     NOT NULL, -- RE2; empty: every subject
    extract_regex   TEXT     NOT NULL, -- RE2
    priority        BIGINT   NOT NULL, -- lower ones first
    active          SMALLINT NOT NULL,
    size            BIGINT   NOT NULL, -- instructions of the compiled patterns
    created_at      BIGINT   NOT NULL,
    updated_at      BIGINT   NOT NULL
);
CREATE INDEX filter_account ON filter (account_id, created_at, id);

CREATE TABLE mailbox (
    id              TEXT     NOT NULL PRIMARY KEY,
    address         TEXT     UNIQUE,   -- null once it has ended: from then on address_hold alone holds the address
    local_part      TEXT     NOT NULL,
    domain          TEXT     NOT NULL,
    source          TEXT     NOT NULL, -- guest, session, account, key, catchall
    session_id      TEXT,
    account_id      TEXT,
    key_prefix      TEXT,
    domain_id       TEXT,
    created_at      BIGINT   NOT NULL,
    expires_at      BIGINT   NOT NULL,
    ended_at        BIGINT,            -- destroyed or found expired; the row is erased soon after
    epoch           BIGINT   NOT NULL, -- tokens of an earlier epoch are invalid
    message_count   BIGINT   NOT NULL,
    unread_count    BIGINT   NOT NULL,
    last_message_at BIGINT   NOT NULL, -- the next message gets a later time, so that identifiers sort in commit order
    day             BIGINT   NOT NULL, -- the UTC day that day_count counts
    day_count       BIGINT   NOT NULL
);
CREATE INDEX mailbox_session ON mailbox (session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX mailbox_account ON mailbox (account_id, created_at, id) WHERE account_id IS NOT NULL;
CREATE INDEX mailbox_account_expires ON mailbox (account_id, expires_at) WHERE account_id IS NOT NULL AND ended_at IS NULL;
CREATE INDEX mailbox_domain ON mailbox (domain_id) WHERE domain_id IS NOT NULL AND ended_at IS NULL;
CREATE INDEX mailbox_expires ON mailbox (expires_at) WHERE ended_at IS NULL;
CREATE INDEX mailbox_ended ON mailbox (ended_at) WHERE ended_at IS NOT NULL;

-- The number of an account's mailboxes that have not ended, kept in the transaction that creates or ends one.
CREATE TABLE mailbox_owner (
    account_id TEXT   NOT NULL PRIMARY KEY,
    live       BIGINT NOT NULL
);

-- The number of messages that an account's mailboxes received on the last UTC day on which they received any.
CREATE TABLE mail_day (
    account_id TEXT   NOT NULL PRIMARY KEY,
    day        BIGINT NOT NULL,
    count      BIGINT NOT NULL
);

-- An address that was in use cannot be taken again before until. Only its hash is kept.
CREATE TABLE address_hold (
    address_hash BLOB   NOT NULL PRIMARY KEY,
    account_id   TEXT,
    until        BIGINT NOT NULL
);
CREATE INDEX address_hold_until ON address_hold (until);

-- In message and attachment, crc is the CRC-32C of detail or data. Where blob is not null, the content is in that blob, and detail or
-- data is empty.
CREATE TABLE message (
    mailbox_id  TEXT     NOT NULL,
    id          TEXT     NOT NULL,
    received_at BIGINT   NOT NULL,
    size        BIGINT   NOT NULL,
    seen        SMALLINT NOT NULL,
    has_code    SMALLINT NOT NULL,
    raw_ref     TEXT     NOT NULL, -- where the raw message is stored
    raw_until   BIGINT   NOT NULL, -- from then on the raw message cannot be read
    summary     TEXT     NOT NULL, -- JSON: the fields of a list
    detail      BLOB     NOT NULL, -- compressed JSON: the fields that reading one message adds
    crc         BIGINT,
    blob        BLOB,
    PRIMARY KEY (mailbox_id, id)
);

CREATE TABLE attachment (
    mailbox_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    data       BLOB NOT NULL, -- compressed
    crc        BIGINT,
    blob       BLOB,
    PRIMARY KEY (mailbox_id, message_id, id)
);

-- Content that several messages share, or that is large, is stored once, in chunks. Rows of message and attachment refer to it by its
-- hash (package blob).
CREATE TABLE blob (
    hash BLOB   NOT NULL PRIMARY KEY, -- SHA-256 of the content before compression
    refs BIGINT NOT NULL,             -- rows that refer to it
    size BIGINT NOT NULL              -- octets of the content
);
CREATE TABLE blob_chunk (
    hash   BLOB   NOT NULL,
    number BIGINT NOT NULL, -- from 0; every chunk but the last is 64 KiB of content
    crc    BIGINT NOT NULL, -- CRC-32C of data
    data   BLOB   NOT NULL, -- compressed
    PRIMARY KEY (hash, number)
);

-- Content that is stored before the rows that will refer to it, so that no transaction is as large as a large mail. Each row counts as a
-- reference. Rows left behind by a process that died are swept.
CREATE TABLE blob_stage (
    id         TEXT   NOT NULL, -- identifies what is stored together
    hash       BLOB   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id, hash)
);

-- The balance of an account: the sum of its entries.
CREATE TABLE wallet (
    account_id TEXT   NOT NULL PRIMARY KEY,
    balance    BIGINT NOT NULL CHECK (balance >= 0), -- points
    sequence   BIGINT NOT NULL                       -- of the latest entry
);

-- The ledger: append-only, and each entry follows from the one before it (see the triggers).
CREATE TABLE wallet_entry (
    account_id    TEXT   NOT NULL,
    sequence      BIGINT NOT NULL, -- 1, 2, 3 … in each account
    id            TEXT   NOT NULL UNIQUE,
    kind          TEXT   NOT NULL CHECK (kind IN ('topup', 'subscription', 'adjustment')),
    amount        BIGINT NOT NULL CHECK (amount <> 0), -- points, negative for a debit
    balance_after BIGINT NOT NULL CHECK (balance_after >= 0),
    reference     TEXT   NOT NULL, -- an order, a bank transaction or a subscription; may be empty
    note          TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id, sequence)
);
-- An order, and a bank transaction, is credited once.
CREATE UNIQUE INDEX wallet_entry_topup ON wallet_entry (reference) WHERE kind = 'topup';

CREATE TABLE topup_order (
    id             TEXT   NOT NULL PRIMARY KEY,
    account_id     TEXT   NOT NULL,
    provider       TEXT   NOT NULL,
    amount         BIGINT NOT NULL CHECK (amount > 0),
    currency       TEXT   NOT NULL,
    points         BIGINT NOT NULL CHECK (points > 0),
    memo           TEXT   NOT NULL UNIQUE,
    bank_bin       TEXT   NOT NULL, -- this and the next three: the bank account that was shown to the payer
    bank_name      TEXT   NOT NULL,
    account_number TEXT   NOT NULL,
    account_name   TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    paid_at        BIGINT,      -- null: not paid
    paid_by        TEXT UNIQUE  -- the bank transaction that paid it; null: not paid
);
CREATE INDEX topup_order_open ON topup_order (account_id, expires_at) WHERE paid_at IS NULL;
-- Unpaid orders by age, for erasing them. An order that a transfer names stays: see bankpay_match_order.
CREATE INDEX topup_order_unpaid ON topup_order (created_at) WHERE paid_at IS NULL;

-- What the bank's callback sent, unchanged. Append-only.
CREATE TABLE bankpay_transactions (
    id          TEXT   NOT NULL PRIMARY KEY, -- the bank's
    body        BLOB   NOT NULL,
    received_at BIGINT NOT NULL
);

-- The outcome of each bank transaction. A trigger inserts the row when the transaction is appended.
CREATE TABLE bankpay_match (
    transaction_id TEXT   NOT NULL PRIMARY KEY,
    received_at    BIGINT NOT NULL, -- that of the transaction, for lists
    outcome        TEXT   NOT NULL CHECK (outcome IN ('new', 'credited', 'unmatched', 'ignored', 'resolved')),
    reason         TEXT,            -- why it was not credited automatically; null: it was, or it is new
    order_id       TEXT,            -- the order that it paid, or that its memo names
    account_id     TEXT,            -- the account that was credited
    points         BIGINT,          -- the points that were credited
    settled_at     BIGINT           -- when the outcome was decided; null: it is new
);
CREATE INDEX bankpay_match_new ON bankpay_match (received_at, transaction_id) WHERE outcome = 'new';
CREATE INDEX bankpay_match_list ON bankpay_match (outcome, received_at, transaction_id);
CREATE INDEX bankpay_match_all ON bankpay_match (received_at, transaction_id);
CREATE INDEX bankpay_match_order ON bankpay_match (order_id) WHERE order_id IS NOT NULL;

-- What staff did by hand, who did it and why. Append-only.
CREATE TABLE wallet_audit (
    subject    TEXT   NOT NULL, -- the bank transaction that was settled, or the ledger entry that was made
    sequence   BIGINT NOT NULL, -- 1, 2, 3 … for each subject
    action     TEXT   NOT NULL, -- adjust, order, account, ignore
    staff      TEXT   NOT NULL, -- a user name of the operating system
    note       TEXT   NOT NULL, -- why
    created_at BIGINT NOT NULL,
    PRIMARY KEY (subject, sequence)
);

-- Calls that carried an Idempotency-Key, with their first answers.
CREATE TABLE idempotency_key (
    account_id TEXT   NOT NULL,
    operation  TEXT   NOT NULL,
    key        TEXT   NOT NULL,
    body_hash  TEXT   NOT NULL, -- hexadecimal SHA-256 of the request body
    answer     TEXT   NOT NULL, -- JSON
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, operation, key)
);
CREATE INDEX idempotency_key_expires ON idempotency_key (expires_at);

CREATE TABLE subscription (
    id         TEXT     NOT NULL PRIMARY KEY,
    account_id TEXT     NOT NULL,
    plan       TEXT     NOT NULL, -- its code
    term       TEXT     NOT NULL, -- monthly, yearly
    status     TEXT     NOT NULL, -- active; cancelled: replaced by another; expired
    auto_renew SMALLINT NOT NULL,
    price      BIGINT   NOT NULL, -- points, of the current period
    started_at BIGINT   NOT NULL,
    anchor_at  BIGINT   NOT NULL, -- start of the current run of periods
    period     BIGINT   NOT NULL, -- number of the current period in that run, from 1
    period_end BIGINT   NOT NULL, -- end of the current period
    ended_at   BIGINT             -- when it was cancelled or found expired
);
CREATE UNIQUE INDEX subscription_active ON subscription (account_id) WHERE status = 'active';
CREATE INDEX subscription_account ON subscription (account_id, id);
CREATE INDEX subscription_due ON subscription (period_end, id) WHERE status = 'active';

CREATE TABLE notice (
    id           TEXT     NOT NULL PRIMARY KEY,
    kind         TEXT     NOT NULL, -- banner, dialog
    level        TEXT     NOT NULL, -- info, warning, critical
    title        TEXT     NOT NULL,
    html         TEXT     NOT NULL, -- sanitized
    locale       TEXT     NOT NULL, -- BCP 47, canonical; empty: for all
    starts_at    BIGINT   NOT NULL,
    ends_at      BIGINT,            -- null: never
    dismissible  SMALLINT NOT NULL,
    created_at   BIGINT   NOT NULL,
    withdrawn_at BIGINT             -- null: not withdrawn
);
CREATE INDEX notice_shown ON notice (starts_at, id) WHERE withdrawn_at IS NULL;

CREATE TABLE page (
    key        TEXT   NOT NULL,
    locale     TEXT   NOT NULL, -- BCP 47, canonical; empty: the fallback
    title      TEXT   NOT NULL,
    html       TEXT   NOT NULL, -- sanitized
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (key, locale)
);

-- Background work that is enqueued in the transaction of its cause (package job).
CREATE TABLE job (
    id         TEXT     NOT NULL PRIMARY KEY,
    kind       TEXT     NOT NULL, -- the queue it is in
    lane       TEXT     NOT NULL, -- jobs of one lane share a concurrency limit; a webhook endpoint, for example
    state      SMALLINT NOT NULL, -- 0 ready, 1 waiting, 2 running, 3 held, 4 dead
    due_at     BIGINT   NOT NULL, -- ready: since when; waiting: when it becomes ready; running: end of the lease; held, dead: when it is erased
    attempt    BIGINT   NOT NULL, -- how often it was started
    created_at BIGINT   NOT NULL,
    payload    TEXT     NOT NULL
);
CREATE INDEX job_lane ON job (kind, state, lane, due_at, id);
CREATE INDEX job_due ON job (kind, state, due_at) WHERE state <> 0;

-- Periodic jobs, each run by one process at a time.
CREATE TABLE job_schedule (
    name        TEXT   NOT NULL PRIMARY KEY,
    next_at     BIGINT NOT NULL, -- next run
    lease_until BIGINT NOT NULL  -- 0: it is not running
);

CREATE TABLE webhook (
    id               TEXT     NOT NULL PRIMARY KEY,
    account_id       TEXT     NOT NULL,
    url              TEXT     NOT NULL,
    events           TEXT     NOT NULL, -- JSON list: names of the events it subscribes to
    domain_id        TEXT,              -- the private domain it is limited to; null: the whole account
    paused_reason    TEXT     NOT NULL, -- manual, failures, gone; empty: it is active
    failures         BIGINT   NOT NULL, -- consecutive failed attempts
    attempts         BIGINT   NOT NULL, -- of all time
    secret           BLOB     NOT NULL, -- sealed
    old_secret       BLOB,              -- sealed; the secret before the last rotation
    old_secret_until BIGINT   NOT NULL, -- until then deliveries are signed with old_secret, too
    created_at       BIGINT   NOT NULL,
    last_delivery_at BIGINT             -- last successful delivery; null: never
);
CREATE INDEX webhook_account ON webhook (account_id, created_at, id);

-- The last 100 attempts of each endpoint.
CREATE TABLE webhook_delivery (
    webhook_id      TEXT     NOT NULL,
    slot            BIGINT   NOT NULL, -- number modulo 100
    number          BIGINT   NOT NULL, -- how many attempts of the endpoint ended before
    id              TEXT     NOT NULL,
    event_id        TEXT     NOT NULL,
    event           TEXT     NOT NULL,
    mailbox_id      TEXT,              -- this and the next: the message that the event is about; null: it is about none
    message_id      TEXT,
    attempt         BIGINT   NOT NULL,
    succeeded       SMALLINT NOT NULL,
    http_status     BIGINT   NOT NULL, -- 0: no response
    error           TEXT     NOT NULL,
    duration        BIGINT   NOT NULL, -- microseconds
    attempted_at    BIGINT   NOT NULL,
    next_attempt_at BIGINT,            -- null: this was the last
    response_body   TEXT     NOT NULL, -- its beginning
    body            TEXT     NOT NULL, -- of the request; a trigger empties it when the message is deleted
    PRIMARY KEY (webhook_id, slot)
);
CREATE INDEX webhook_delivery_message ON webhook_delivery (message_id) WHERE message_id IS NOT NULL;

-- The database that this one was moved from (package db/move).
CREATE TABLE move (
    digest      TEXT   NOT NULL PRIMARY KEY, -- hexadecimal SHA-256 of every row of every table at the time of the move
    source      TEXT   NOT NULL,             -- its URL without the password
    row_count   BIGINT NOT NULL,
    secret      BLOB   NOT NULL,             -- derived from the master secret that signed and sealed the rows
    finished_at BIGINT NOT NULL
);
