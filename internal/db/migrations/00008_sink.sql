-- Mailboxes that mail to the sink's domains opened (docs/spec/dev.md#the-sink) are counted apart from the others of their account.
ALTER TABLE mailbox_owner ADD COLUMN sink_live BIGINT NOT NULL DEFAULT 0;
CREATE INDEX mailbox_sink ON mailbox (account_id, created_at, id) WHERE source = 'sink' AND ended_at IS NULL;

-- Whether the URL was set by a client on loopback or a private network under profile: dev, which may name such an address.
ALTER TABLE webhook ADD COLUMN local SMALLINT NOT NULL DEFAULT 0;
