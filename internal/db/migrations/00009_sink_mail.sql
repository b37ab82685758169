-- The mail of the sink as test tools see it (docs/spec/mailpit.md): one row for a mail, however many recipients it had.
CREATE TABLE sink_mail (
    id          TEXT     NOT NULL PRIMARY KEY,
    number      BIGINT   NOT NULL, -- in the order of arrival
    change      BIGINT   NOT NULL, -- sink_state.changes when the row last changed
    received_at BIGINT   NOT NULL,
    size        BIGINT   NOT NULL,
    seen        SMALLINT NOT NULL,
    gone        SMALLINT NOT NULL, -- all copies were deleted; kept for a while, so that other processes notice
    mail        TEXT     NOT NULL  -- JSON: what a list shows and what is searched; empty when it is gone
);
CREATE INDEX sink_mail_change ON sink_mail (change);
CREATE INDEX sink_mail_number ON sink_mail (number) WHERE gone = 0;

-- The messages that a mail became.
CREATE TABLE sink_copy (
    mailbox_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    sink_id    TEXT NOT NULL,
    PRIMARY KEY (mailbox_id, message_id)
);
CREATE INDEX sink_copy_mail ON sink_copy (sink_id);

-- One row, whose lock orders the changes of sink_mail.
CREATE TABLE sink_state (
    id        BIGINT NOT NULL PRIMARY KEY, -- 1
    changes   BIGINT NOT NULL,             -- made so far
    forgotten BIGINT NOT NULL              -- the last change of the rows that were gone and deleted
);
