-- +goose Up

CREATE TABLE webhook (
    id               TEXT     NOT NULL PRIMARY KEY,
    account_id       TEXT     NOT NULL,
    url              TEXT     NOT NULL,
    events           TEXT     NOT NULL, -- JSON: the names of the events it wants
    domain_id        TEXT,              -- the private domain it is for; null: everything of the account
    paused_reason    TEXT     NOT NULL, -- manual, failures, gone; empty: it is active
    failures         BIGINT   NOT NULL, -- failed attempts in a row
    attempts         BIGINT   NOT NULL, -- ever made
    secret           BLOB     NOT NULL, -- sealed
    old_secret       BLOB,              -- sealed; what it was before it was rotated
    old_secret_until BIGINT   NOT NULL, -- how long the old one signs as well
    created_at       BIGINT   NOT NULL,
    last_delivery_at BIGINT             -- when it last took an event; null: never
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
    attempt         BIGINT   NOT NULL,
    succeeded       SMALLINT NOT NULL,
    http_status     BIGINT   NOT NULL, -- 0: there was no answer
    error           TEXT     NOT NULL,
    duration        BIGINT   NOT NULL, -- microseconds
    attempted_at    BIGINT   NOT NULL,
    next_attempt_at BIGINT,            -- null: this was the last
    response_body   TEXT     NOT NULL, -- its beginning
    body            TEXT     NOT NULL, -- what was sent
    PRIMARY KEY (webhook_id, slot)
);
