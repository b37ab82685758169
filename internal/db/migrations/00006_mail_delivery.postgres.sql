-- Delivery log: what became of the mail for an address, for 24 hours (docs/spec/messages.md#delivery-log).
CREATE TABLE mail_delivery (
    address_hash BYTEA    NOT NULL, -- keyed hash of the recipient's address, which is not stored
    id           TEXT     NOT NULL, -- sorts by time
    at           BIGINT   NOT NULL,
    has_mailbox  SMALLINT NOT NULL, -- 1: the mail was for an existing mailbox
    sender       TEXT     NOT NULL, -- the reverse-path
    remote_ip    TEXT     NOT NULL,
    helo         TEXT     NOT NULL,
    tls          SMALLINT NOT NULL,
    reply        BIGINT   NOT NULL, -- of SMTP
    code         TEXT     NOT NULL, -- the enhanced status code
    reason       TEXT     NOT NULL, -- the text of the reply
    message_id   TEXT     NOT NULL, -- '': nothing was stored
    PRIMARY KEY (address_hash, id)
);
CREATE INDEX mail_delivery_at ON mail_delivery (has_mailbox, at);
