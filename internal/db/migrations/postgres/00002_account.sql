-- +goose Up

CREATE TABLE account (
    id         TEXT     NOT NULL PRIMARY KEY,
    email      TEXT     NOT NULL UNIQUE, -- lower case, NFC
    password   TEXT     NOT NULL,        -- PHC string of its Argon2id hash
    epoch      BIGINT   NOT NULL,        -- rises when the password is replaced: a sign-in under way with the old one fails
    locale     TEXT     NOT NULL,        -- BCP 47, canonical
    role       TEXT     NOT NULL,        -- user, staff
    plan       TEXT     NOT NULL,        -- as staff assigned it
    disabled   SMALLINT NOT NULL,
    created_at BIGINT   NOT NULL,
    totp_key   BYTEA,                    -- sealed; null: no two-factor and no enrolment
    totp_until BIGINT,                   -- end of an enrolment that waits to be confirmed; null: confirmed, or none
    totp_last  BIGINT   NOT NULL,        -- the latest time step whose code was accepted
    totp_spent BIGINT   NOT NULL         -- bit i: the code of the step totp_last - i was accepted
);
CREATE INDEX account_totp_until ON account (totp_until) WHERE totp_until IS NOT NULL;

CREATE TABLE user_token (
    hash       BYTEA  NOT NULL PRIMARY KEY, -- SHA-256 of the token
    account_id TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX user_token_account ON user_token (account_id);
CREATE INDEX user_token_expires ON user_token (expires_at);

-- Recovery codes that have not been used yet.
CREATE TABLE recovery_code (
    account_id TEXT NOT NULL,
    code_hash  BYTEA NOT NULL, -- HMAC-SHA-256 under a key of the service
    PRIMARY KEY (account_id, code_hash)
);
