-- +goose Up

-- What an account has: the sum of its entries.
CREATE TABLE wallet (
    account_id TEXT   NOT NULL PRIMARY KEY,
    balance    BIGINT NOT NULL CHECK (balance >= 0), -- points
    sequence   BIGINT NOT NULL                       -- of the latest entry
);

-- The ledger. An entry is never changed and never removed.
CREATE TABLE wallet_entry (
    account_id    TEXT   NOT NULL,
    sequence      BIGINT NOT NULL, -- 1, 2, 3 … in each account
    id            TEXT   NOT NULL UNIQUE,
    kind          TEXT   NOT NULL CHECK (kind IN ('topup', 'subscription', 'adjustment')),
    amount        BIGINT NOT NULL CHECK (amount <> 0), -- points, negative for a debit
    balance_after BIGINT NOT NULL CHECK (balance_after >= 0),
    reference     TEXT   NOT NULL, -- what it is for: an order, a bank transaction, a subscription; may be empty
    note          TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id, sequence)
);
-- An order, and a bank transaction, is credited once.
CREATE UNIQUE INDEX wallet_entry_topup ON wallet_entry (reference) WHERE kind = 'topup';

-- +goose StatementBegin
CREATE TRIGGER wallet_entry_follows BEFORE INSERT ON wallet_entry
WHEN NEW.sequence <> 1 + coalesce((SELECT max(sequence) FROM wallet_entry WHERE account_id = NEW.account_id), 0)
    OR NEW.balance_after <> NEW.amount + coalesce((SELECT balance_after FROM wallet_entry
        WHERE account_id = NEW.account_id AND sequence = NEW.sequence - 1), 0)
BEGIN
    SELECT RAISE(ABORT, 'wallet_entry: an entry must follow the one before it');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER wallet_entry_update BEFORE UPDATE ON wallet_entry
BEGIN
    SELECT RAISE(ABORT, 'wallet_entry is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER wallet_entry_delete BEFORE DELETE ON wallet_entry
BEGIN
    SELECT RAISE(ABORT, 'wallet_entry is append-only');
END;
-- +goose StatementEnd

CREATE TABLE topup_order (
    id             TEXT   NOT NULL PRIMARY KEY,
    account_id     TEXT   NOT NULL,
    provider       TEXT   NOT NULL,
    amount         BIGINT NOT NULL CHECK (amount > 0),
    currency       TEXT   NOT NULL,
    points         BIGINT NOT NULL CHECK (points > 0),
    memo           TEXT   NOT NULL UNIQUE,
    bank_bin       TEXT   NOT NULL, -- the account to pay to, as it was told to the payer
    bank_name      TEXT   NOT NULL,
    account_number TEXT   NOT NULL,
    account_name   TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    paid_at        BIGINT,      -- null: not paid
    paid_by        TEXT UNIQUE  -- the bank transaction that paid it; null: not paid
);
CREATE INDEX topup_order_open ON topup_order (account_id, expires_at) WHERE paid_at IS NULL;

-- What the bank's callback appended, whole. A row is never changed and never removed.
CREATE TABLE bankpay_transactions (
    id          TEXT   NOT NULL PRIMARY KEY, -- the bank's
    body        BLOB   NOT NULL,
    received_at BIGINT NOT NULL
);

-- What became of each bank transaction. The row opens by itself when the transaction is appended.
CREATE TABLE bankpay_match (
    transaction_id TEXT   NOT NULL PRIMARY KEY,
    received_at    BIGINT NOT NULL, -- the transaction's, for lists
    outcome        TEXT   NOT NULL CHECK (outcome IN ('new', 'credited', 'unmatched', 'ignored', 'resolved')),
    reason         TEXT,            -- why it was not credited by itself; null: it was, or was not looked at yet
    order_id       TEXT,            -- the order that it paid, or that its memo named
    account_id     TEXT,            -- whom it was credited to
    points         BIGINT,          -- what was credited
    settled_at     BIGINT           -- when that was decided; null: not looked at yet
);
CREATE INDEX bankpay_match_new ON bankpay_match (received_at, transaction_id) WHERE outcome = 'new';
CREATE INDEX bankpay_match_list ON bankpay_match (outcome, received_at, transaction_id);
CREATE INDEX bankpay_match_all ON bankpay_match (received_at, transaction_id);

-- +goose StatementBegin
CREATE TRIGGER bankpay_transactions_open AFTER INSERT ON bankpay_transactions
BEGIN
    INSERT INTO bankpay_match (transaction_id, received_at, outcome) VALUES (NEW.id, NEW.received_at, 'new');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER bankpay_transactions_update BEFORE UPDATE ON bankpay_transactions
BEGIN
    SELECT RAISE(ABORT, 'bankpay_transactions is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER bankpay_transactions_delete BEFORE DELETE ON bankpay_transactions
BEGIN
    SELECT RAISE(ABORT, 'bankpay_transactions is append-only');
END;
-- +goose StatementEnd

-- What staff did by hand, and who and why. A row is never changed and never removed.
CREATE TABLE wallet_audit (
    subject    TEXT   NOT NULL, -- the bank transaction that was settled, or the ledger entry that was made
    sequence   BIGINT NOT NULL, -- 1, 2, 3 … for each subject
    action     TEXT   NOT NULL, -- adjust, order, account, ignore
    staff      TEXT   NOT NULL, -- who did it: a name of the operating system
    note       TEXT   NOT NULL, -- why
    created_at BIGINT NOT NULL,
    PRIMARY KEY (subject, sequence)
);
-- +goose StatementBegin
CREATE TRIGGER wallet_audit_update BEFORE UPDATE ON wallet_audit
BEGIN
    SELECT RAISE(ABORT, 'wallet_audit is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER wallet_audit_delete BEFORE DELETE ON wallet_audit
BEGIN
    SELECT RAISE(ABORT, 'wallet_audit is append-only');
END;
-- +goose StatementEnd

-- Calls that carried an Idempotency-Key, with their first answers.
CREATE TABLE idempotency_key (
    account_id TEXT   NOT NULL,
    operation  TEXT   NOT NULL,
    key        TEXT   NOT NULL,
    body_hash  TEXT   NOT NULL, -- hexadecimal SHA-256 of what was asked for
    answer     TEXT   NOT NULL, -- JSON
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, operation, key)
);
CREATE INDEX idempotency_key_expires ON idempotency_key (expires_at);
