-- Changes in mailboxes besides new messages, for the event streams of all processes (docs/spec/events.md). A row is kept for
-- a minute or two, and a stream that reconnects does not need it.
CREATE TABLE mailbox_change (
    id         TEXT     NOT NULL PRIMARY KEY,
    mailbox_id TEXT     NOT NULL,
    account_id TEXT,              -- the owner of the mailbox; null: a guest
    at         BIGINT   NOT NULL,
    kind       TEXT     NOT NULL, -- seen, deleted or extended
    message_id BLOB,              -- UUID; null: the mailbox was extended
    seen       SMALLINT NOT NULL, -- of the message
    expires_at BIGINT             -- the new expiry of the mailbox; null: it is about a message
);
CREATE INDEX mailbox_change_mailbox ON mailbox_change (mailbox_id, at);
CREATE INDEX mailbox_change_account ON mailbox_change (account_id, at);
CREATE INDEX mailbox_change_at ON mailbox_change (at);

-- The time of the newest message of an account, so that the messages of all its mailboxes together sort in commit order.
ALTER TABLE mail_day ADD COLUMN last_at BIGINT NOT NULL DEFAULT 0;
