-- +goose Up

CREATE TABLE filter (
    id              TEXT     NOT NULL PRIMARY KEY,
    account_id      TEXT     NOT NULL,
    name            TEXT     NOT NULL,
    domain_id       TEXT,             -- the private domain it is for; null: all of the account's mailboxes
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
