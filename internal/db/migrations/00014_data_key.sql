-- The key that stored secrets are encrypted with, itself encrypted under the master secret, so that a new master secret changes
-- this row alone (docs/spec/running.md#master-secret).
CREATE TABLE data_key (
    id     BIGINT NOT NULL PRIMARY KEY, -- 1, of the only row
    sealed BLOB   NOT NULL
);
