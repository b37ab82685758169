-- When an account's credentials were last ended by disabling it or resetting its password, so that running services end the calls
-- that wait with them (docs/spec/accounts.md#the-end-of-an-account).
ALTER TABLE account ADD COLUMN ended_at BIGINT; -- null: never
CREATE INDEX account_ended ON account (ended_at) WHERE ended_at IS NOT NULL;
