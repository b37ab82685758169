-- The tables of both engines. Types are SQLite's: on PostgreSQL BLOB becomes BYTEA. What an engine adds is in the file of the same
-- number and name that ends in .sqlite.sql or .postgres.sql, which runs after this one in the same transaction.
--
-- Times are microseconds since 1970 in UTC, durations are microseconds, flags are 0 or 1. Identifiers sort by time. Text is compared
-- by its octets on both engines (compareByOctet in package db).

-- Accounts and credentials
-- ------------------------

CREATE TABLE account (
    id         TEXT     NOT NULL PRIMARY KEY,
    email      TEXT     NOT NULL UNIQUE, -- lower case, NFC
    password   TEXT     NOT NULL,        -- PHC string of its Argon2id hash; '': none, the account signs in with an issuer
    epoch      BIGINT   NOT NULL,        -- rises when the password is replaced, so that a concurrent sign-in with the old one fails
    locale     TEXT     NOT NULL,        -- BCP 47, canonical
    role       TEXT     NOT NULL,        -- user, staff
    plan       TEXT     NOT NULL,        -- as assigned by staff
    disabled   SMALLINT NOT NULL,
    created_at BIGINT   NOT NULL,
    confirmed_at BIGINT,                 -- when the e-mail address was confirmed by a code or a link; null: it is not
    provisioned SMALLINT NOT NULL DEFAULT 0, -- 1: the operator made it, so that its address need not be confirmed
    deleted_at BIGINT,                   -- when its owner deleted it: nothing but its identifier is left, which email holds too; null: it lives
    ended_at   BIGINT,                   -- when its credentials were last ended by disabling it or resetting its password; null: never
    totp_key   BLOB,                     -- sealed; null: two-factor authentication is neither enabled nor being enrolled
    totp_until BIGINT,                   -- end of an enrolment that is not confirmed; null: confirmed, or no enrolment
    totp_last  BIGINT   NOT NULL,        -- the latest time step whose code was accepted
    totp_spent BIGINT   NOT NULL         -- bit i: the code of step totp_last - i was accepted
);
-- Running services look for recent ends, to end the calls that wait with such a credential (docs/spec/accounts.md#the-end-of-an-account).
CREATE INDEX account_ended ON account (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX account_totp_until ON account (totp_until) WHERE totp_until IS NOT NULL;

CREATE TABLE user_token (
    hash       BLOB   NOT NULL PRIMARY KEY, -- SHA-256 of the token
    id         TEXT   NOT NULL UNIQUE,      -- names it in lists and paths
    account_id TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    address    TEXT   NOT NULL, -- the client's address when it signed in; may be empty
    user_agent TEXT   NOT NULL  -- what it said it was
);
CREATE INDEX user_token_account ON user_token (account_id);
CREATE INDEX user_token_expires ON user_token (expires_at);

-- Codes and links that were sent by mail, one of each purpose for an account.
CREATE TABLE account_code (
    account_id TEXT   NOT NULL,
    purpose    TEXT   NOT NULL, -- confirm_email, password_reset
    hash       BLOB   NOT NULL, -- HMAC-SHA-256 of a code under a key of the service, SHA-256 of the token in a link
    email      TEXT   NOT NULL, -- where it was sent to
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, purpose)
);
CREATE UNIQUE INDEX account_code_hash ON account_code (hash);
CREATE INDEX account_code_expires ON account_code (expires_at);

-- Users of an OpenID Connect issuer, and whose account each of them is (docs/spec/accounts.md#sign-in-with-an-issuer).
CREATE TABLE oidc_link (
    issuer     TEXT   NOT NULL,
    subject    TEXT   NOT NULL, -- the issuer's name for the user
    account_id TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    refresh    BLOB,            -- the sealed refresh token; null: the issuer is not asked again before the next sign-in
    refresh_at BIGINT,          -- when it is asked; null with refresh
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX oidc_link_account ON oidc_link (account_id);
CREATE INDEX oidc_link_refresh ON oidc_link (refresh_at) WHERE refresh_at IS NOT NULL;

-- Steps of sign-ins with an issuer: states that were used, and tickets that wait for the password or the code of an account.
CREATE TABLE oidc_step (
    hash       BLOB   NOT NULL PRIMARY KEY, -- SHA-256 of the state or the ticket
    account_id TEXT,                        -- of a ticket; null: a state
    identity   BLOB,                        -- of a ticket, sealed: who the issuer says the user is
    tries      BIGINT NOT NULL,             -- how often the ticket was presented
    expires_at BIGINT NOT NULL
);
CREATE INDEX oidc_step_account ON oidc_step (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX oidc_step_expires ON oidc_step (expires_at);

-- Unused recovery codes.
CREATE TABLE recovery_code (
    account_id TEXT NOT NULL,
    code_hash  BLOB NOT NULL, -- HMAC-SHA-256 under a key of the service
    PRIMARY KEY (account_id, code_hash)
);

-- Invitations to register, for services whose access.registration is invite (docs/spec/accounts.md#invitations).
CREATE TABLE invite (
    id         TEXT   NOT NULL PRIMARY KEY,
    code_hash  BLOB   NOT NULL UNIQUE, -- SHA-256 of the code
    note       TEXT   NOT NULL,        -- the operator's, for example whom it is for
    created_at BIGINT NOT NULL,
    expires_at BIGINT,                 -- null: never
    used_at    BIGINT,                 -- null: not used yet
    account_id TEXT                    -- the account that was registered with it
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

CREATE TABLE guest_session (
    id         TEXT   NOT NULL PRIMARY KEY, -- hexadecimal SHA-256 of the guest key's secret
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX guest_session_expires ON guest_session (expires_at);

-- Domains and filters
-- -------------------

CREATE TABLE public_domain (
    name       TEXT     NOT NULL PRIMARY KEY, -- lower-case A-labels
    active     SMALLINT NOT NULL,
    created_at BIGINT   NOT NULL
);

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

-- Mailboxes
-- ---------

CREATE TABLE mailbox (
    id              TEXT     NOT NULL PRIMARY KEY,
    address         TEXT     UNIQUE,   -- null once it has ended: from then on address_hold alone holds the address
    local_part      TEXT     NOT NULL,
    domain          TEXT     NOT NULL,
    source          TEXT     NOT NULL, -- guest, session, account, key, catchall, sink, staff, project
    session_id      TEXT,
    account_id      TEXT,
    key_prefix      TEXT,
    domain_id       TEXT,
    password        TEXT,              -- PHC string of its Argon2id hash; null: it was created without one (docs/spec/mailtm.md)
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
-- For counting the live mailboxes of each source without reading them all.
CREATE INDEX mailbox_source ON mailbox (source) WHERE ended_at IS NULL;
CREATE INDEX mailbox_sink ON mailbox (account_id, created_at, id) WHERE source = 'sink' AND ended_at IS NULL;

-- The number of an account's mailboxes that have not ended, kept in the transaction that creates or ends one. Those that mail to the sink's
-- domains opened (docs/spec/dev.md#the-sink) are counted apart.
CREATE TABLE mailbox_owner (
    account_id TEXT   NOT NULL PRIMARY KEY,
    live       BIGINT NOT NULL,
    sink_live  BIGINT NOT NULL
);

-- The number of messages that an account's mailboxes received on the last UTC day on which they received any.
CREATE TABLE mail_day (
    account_id TEXT   NOT NULL PRIMARY KEY,
    day        BIGINT NOT NULL,
    count      BIGINT NOT NULL,
    last_at    BIGINT NOT NULL -- time of the newest message, so that the messages of all its mailboxes together sort in commit order
);

-- Projects: mailboxes that take mail for any address (docs/spec/projects.md). The row is deleted when its mailbox ends, by a trigger.
CREATE TABLE project (
    id           TEXT   NOT NULL PRIMARY KEY,
    name         TEXT   NOT NULL UNIQUE,
    account_id   TEXT   NOT NULL,        -- the owner, whose plan it counts for
    mailbox_id   TEXT   NOT NULL UNIQUE,
    password     BLOB   NOT NULL,        -- SHA-256 of the password, which is generated
    retention    BIGINT NOT NULL,        -- how long its messages are kept
    max_messages BIGINT NOT NULL,        -- how many of them are kept, the newest
    created_at   BIGINT NOT NULL
);
CREATE INDEX project_account ON project (account_id, id);

-- Accounts that may read a mailbox beside its owner: the members of a project. A trigger deletes the rows when the mailbox ends.
CREATE TABLE mailbox_member (
    account_id TEXT   NOT NULL,
    mailbox_id TEXT   NOT NULL,
    role       TEXT   NOT NULL, -- owner, member
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, mailbox_id)
);
CREATE INDEX mailbox_member_mailbox ON mailbox_member (mailbox_id);

-- An address that was in use cannot be taken again before until. Only its hash is kept.
CREATE TABLE address_hold (
    address_hash BLOB   NOT NULL PRIMARY KEY,
    account_id   TEXT,
    until        BIGINT NOT NULL
);
CREATE INDEX address_hold_until ON address_hold (until);

-- Changes in mailboxes besides new messages, for the event streams of all processes (docs/spec/events.md). A row is kept for
-- a minute or two, and a stream that reconnects does not need it.
CREATE TABLE mailbox_change (
    id         TEXT     NOT NULL PRIMARY KEY,
    mailbox_id TEXT     NOT NULL,
    account_id TEXT,              -- the owner of the mailbox; null: a guest
    at         BIGINT   NOT NULL,
    kind       TEXT     NOT NULL, -- seen, deleted, tagged or extended
    message_id BLOB,              -- UUID; null: the mailbox was extended
    seen       SMALLINT NOT NULL, -- of the message
    expires_at BIGINT             -- the new expiry of the mailbox; null: it is about a message
);
CREATE INDEX mailbox_change_mailbox ON mailbox_change (mailbox_id, at);
CREATE INDEX mailbox_change_account ON mailbox_change (account_id, at);
CREATE INDEX mailbox_change_at ON mailbox_change (at);

-- Mail
-- ----

-- In message and attachment, crc is the CRC-32C of detail or data. Where blob is not null, the content is in that blob, and detail or
-- data is empty. summary and internal are of the version of the service that stored the message.
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
    internal    TEXT     NOT NULL, -- JSON: what else is stored of a message and not shown in a list
    detail      BLOB     NOT NULL, -- compressed JSON: the fields that reading one message adds
    crc         BIGINT   NOT NULL,
    blob        BLOB,
    shown       BLOB,              -- detail as it was shown: its checksum, and compressed JSON with safe HTML
    shown_by    BIGINT,            -- the program that made it: no other shows it
    PRIMARY KEY (mailbox_id, id)
);

CREATE TABLE attachment (
    mailbox_id TEXT   NOT NULL,
    message_id TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    data       BLOB   NOT NULL, -- compressed
    crc        BIGINT NOT NULL,
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

-- The delivery log, mail_delivery, is in the files of the engines, which store it differently.

-- The mail of the sink as test tools see it (docs/spec/mailpit.md): one row for a mail, however many recipients it had.
CREATE TABLE sink_mail (
    id          TEXT     NOT NULL PRIMARY KEY,
    project_id  TEXT     NOT NULL, -- the project that got it; empty: the sink
    number      BIGINT   NOT NULL, -- in the order of arrival
    change      BIGINT   NOT NULL, -- sink_state.changes when the row last changed
    received_at BIGINT   NOT NULL,
    size        BIGINT   NOT NULL,
    seen        SMALLINT NOT NULL,
    gone        SMALLINT NOT NULL, -- all copies were deleted; kept for a while, so that other processes notice
    mail        TEXT     NOT NULL, -- JSON: what a list shows and what is searched; empty when it is gone
    tags        TEXT     NOT NULL  -- a JSON array; empty: it has none, or is gone
);
CREATE INDEX sink_mail_change ON sink_mail (change);
CREATE INDEX sink_mail_number ON sink_mail (number) WHERE gone = 0;
CREATE INDEX sink_mail_project ON sink_mail (project_id, number) WHERE gone = 0 AND project_id <> '';
CREATE INDEX sink_mail_project_change ON sink_mail (project_id, change) WHERE project_id <> '';

-- The messages that a mail became.
CREATE TABLE sink_copy (
    mailbox_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    sink_id    TEXT NOT NULL,
    PRIMARY KEY (mailbox_id, message_id)
);
CREATE INDEX sink_copy_mail ON sink_copy (sink_id);

-- One row, whose lock orders the changes of sink_mail.
CREATE TABLE sink_state (
    id        BIGINT NOT NULL PRIMARY KEY, -- 1
    changes   BIGINT NOT NULL,             -- made so far
    forgotten BIGINT NOT NULL              -- the last change of the rows that were gone and deleted
);

-- Faults on purpose
-- -----------------

-- Rules by which the server fails on purpose, for mail of the sink and of projects (docs/spec/faults.md).
CREATE TABLE fault_rule (
    id         TEXT   NOT NULL PRIMARY KEY,
    account_id TEXT   NOT NULL,
    settings   TEXT   NOT NULL, -- JSON: what its owner set
    matched    BIGINT NOT NULL, -- commands that it was about
    hits       BIGINT NOT NULL, -- commands that it answered
    minute_at  BIGINT NOT NULL, -- when the current minute began in which passed is counted
    passed     BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    ends_at    BIGINT           -- null: it stays until it is deleted
);
CREATE INDEX fault_rule_account ON fault_rule (account_id, created_at, id);
CREATE INDEX fault_rule_ends ON fault_rule (ends_at) WHERE ends_at IS NOT NULL;

-- What the APIs of Mailpit and MailHog have set rules by (docs/spec/mailpit.md#chaos). The settings of a rule name its preset.
CREATE TABLE fault_preset (
    account_id TEXT NOT NULL,
    project    TEXT NOT NULL, -- its name; empty: the rules are about the sink and every project
    name       TEXT NOT NULL, -- of the API
    value      TEXT NOT NULL, -- JSON: what was set
    PRIMARY KEY (account_id, project, name)
);

-- The tries of mails that a rule with a probability or a greylist has seen, for a day.
CREATE TABLE fault_try (
    scope    TEXT   NOT NULL, -- the rule, or the greylist of an account
    mail     BLOB   NOT NULL, -- SHA-256 of its sender and recipients
    tries    BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    PRIMARY KEY (scope, mail)
);
CREATE INDEX fault_try_first ON fault_try (scope, first_at);
CREATE INDEX fault_try_at ON fault_try (first_at);

-- The SMTP dialogs of mail for the sink and for projects, for a day (docs/spec/faults.md#transcripts).
CREATE TABLE transcript (
    id         TEXT     NOT NULL PRIMARY KEY,
    account_id TEXT     NOT NULL,
    project    TEXT     NOT NULL, -- empty: the sink
    mailbox_id TEXT,              -- of the project; null: the sink
    at         BIGINT   NOT NULL,
    refused    SMALLINT NOT NULL, -- a command was refused
    stored     SMALLINT NOT NULL, -- there are messages: it is deleted with the last of them
    dialog     TEXT     NOT NULL  -- JSON
);
CREATE INDEX transcript_account ON transcript (account_id, id);
CREATE INDEX transcript_at ON transcript (at);

CREATE TABLE transcript_message (
    message_id    TEXT NOT NULL PRIMARY KEY,
    mailbox_id    TEXT NOT NULL,
    transcript_id TEXT NOT NULL
);
CREATE INDEX transcript_message_of ON transcript_message (transcript_id);

-- Plans, points and payments
-- --------------------------

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
    note          TEXT   NOT NULL, -- what staff noted, or in English what the next columns say
    plan          TEXT   NOT NULL DEFAULT '', -- the code of the plan that was paid for; empty: it is no subscription
    term          TEXT   NOT NULL DEFAULT '', -- monthly, yearly; empty with plan
    transfer      TEXT   NOT NULL DEFAULT '', -- the bank transaction that was credited; empty: none
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
CREATE INDEX topup_order_account ON topup_order (account_id, id);
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
    staff      TEXT   NOT NULL, -- the identifier of an account, or a user name of the operating system
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

-- Mail without SMTP
-- -----------------

-- What was stored or used and must not be again (package once): mail for a recipient, and tokens.
CREATE TABLE once (
    mark BLOB   NOT NULL PRIMARY KEY, -- a hash
    at   BIGINT NOT NULL
);
CREATE INDEX once_at ON once (at);

-- The last mail and the last error of each ingress.
CREATE TABLE ingress (
    name          TEXT   NOT NULL PRIMARY KEY,
    mails         BIGINT NOT NULL, -- stored, each counted once for all its recipients
    last_mail_at  BIGINT NOT NULL, -- 0: there was none
    last_error_at BIGINT NOT NULL, -- 0: there was none
    last_error    TEXT   NOT NULL
);

-- Which process reads the mailbox of an ingress of the kind imap.
CREATE TABLE ingress_lease (
    name   TEXT   NOT NULL PRIMARY KEY, -- of the ingress
    holder TEXT   NOT NULL,             -- a random identifier of the process
    until  BIGINT NOT NULL
);

-- Webhooks and jobs
-- -----------------

CREATE TABLE webhook (
    id               TEXT     NOT NULL PRIMARY KEY,
    account_id       TEXT     NOT NULL,
    url              TEXT     NOT NULL,
    local            SMALLINT NOT NULL, -- set by a local client under profile: dev, which may name such an address
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

-- Mail that the service sends
-- ---------------------------

-- What the operator's relay has not taken yet (docs/spec/relay.md). Each row has a job in the queue outbound.
CREATE TABLE outgoing_mail (
    id           TEXT     NOT NULL PRIMARY KEY,
    account_id   TEXT     NOT NULL, -- whose mail it is
    purpose      TEXT     NOT NULL, -- release, confirm_email and others
    recipient    TEXT     NOT NULL,
    mailbox_id   TEXT     NOT NULL, -- the mailbox that a release came from; '': it is no release
    message_id   TEXT     NOT NULL, -- the message that is released; '': it is no release
    head         BLOB     NOT NULL, -- sealed; the first octets: the fields that are added to a release, or the whole mail
    size         BIGINT   NOT NULL, -- octets of the whole
    created_at   BIGINT   NOT NULL,
    expires_at   BIGINT   NOT NULL  -- it is not sent later
);
CREATE INDEX outgoing_mail_account ON outgoing_mail (account_id);

-- The octets behind the head. Rows without their outgoing_mail were left by a process that died, and are swept.
CREATE TABLE outgoing_chunk (
    mail_id TEXT   NOT NULL,
    number  BIGINT NOT NULL, -- from 0
    data    BLOB   NOT NULL, -- compressed
    PRIMARY KEY (mail_id, number)
);

-- What staff and the operator decide
-- ----------------------------------

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

-- What staff and the operator's commands have changed (docs/spec/staff.md#the-audit-log).
CREATE TABLE audit_log (
    id     TEXT   NOT NULL PRIMARY KEY,
    at     BIGINT NOT NULL,
    actor  TEXT   NOT NULL, -- the identifier of an account, or command
    action TEXT   NOT NULL, -- the noun and verb of the command
    target TEXT   NOT NULL, -- what was changed
    detail TEXT   NOT NULL  -- the change, without secrets; may be empty
);

-- The database itself
-- -------------------

-- When the last backup succeeded (package backup): one row, none before the first.
CREATE TABLE backup (
    id      BIGINT NOT NULL PRIMARY KEY, -- 1
    made_at BIGINT NOT NULL
);

-- The key that stored secrets are encrypted with, itself encrypted under the master secret, so that a new master secret changes
-- this row alone (docs/spec/running.md#master-secret).
CREATE TABLE data_key (
    id     BIGINT NOT NULL PRIMARY KEY, -- 1, of the only row
    sealed BLOB   NOT NULL
);

-- The database that this one was moved from (package db/move).
CREATE TABLE move (
    digest      TEXT   NOT NULL PRIMARY KEY, -- hexadecimal SHA-256 of every row of every table at the time of the move
    source      TEXT   NOT NULL,             -- its URL without the password
    row_count   BIGINT NOT NULL,
    secret      BLOB   NOT NULL,             -- derived from the master secret that signed and sealed the rows
    finished_at BIGINT NOT NULL
);

-- A digest of each migration that was applied, so that a database whose migrations were others is recognised although they had the
-- same numbers (docs/decisions/0059).
CREATE TABLE migration_digest (
    version BIGINT NOT NULL PRIMARY KEY, -- as in goose_db_version
    digest  TEXT   NOT NULL              -- hexadecimal SHA-256 of the statements, without comments
);
