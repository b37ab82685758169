-- For counting the live mailboxes of each source without reading them all.
CREATE INDEX mailbox_source ON mailbox (source) WHERE ended_at IS NULL;
