-- +goose Up

CREATE TABLE private_domain (
    id          TEXT     NOT NULL PRIMARY KEY,
    account_id  TEXT     NOT NULL,
    name        TEXT     NOT NULL, -- lower-case A-labels
    status      TEXT     NOT NULL, -- pending, verified, suspended; ending: its mailboxes are being destroyed, then the row goes
    proof       TEXT     NOT NULL, -- the hex digits that the TXT record holds
    created_at  BIGINT   NOT NULL,
    verified_at BIGINT,            -- when it was last proven; null: never
    checked_at  BIGINT,            -- when a look-up of its records last had an answer
    txt_ok      SMALLINT NOT NULL, -- the TXT record as of then
    mx_ok       SMALLINT NOT NULL, -- the MX record as of then
    misses      BIGINT   NOT NULL, -- re-checks in a row that found no MX record
    next_check  BIGINT             -- when a verified one is looked up again; null: it is not verified
);
CREATE UNIQUE INDEX private_domain_account ON private_domain (account_id, name);
-- Any number of accounts may claim a domain; one at a time has proven it.
CREATE UNIQUE INDEX private_domain_proven ON private_domain (name) WHERE status <> 'pending';
CREATE INDEX private_domain_due ON private_domain (next_check) WHERE next_check IS NOT NULL;
CREATE INDEX private_domain_ending ON private_domain (id) WHERE status = 'ending';

CREATE INDEX mailbox_domain ON mailbox (domain_id) WHERE domain_id IS NOT NULL AND ended_at IS NULL;
