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
