-- What SQLite adds to the tables: triggers, which do the same as those of PostgreSQL, and a table that is stored otherwise.

-- Mailboxes
-- ---------

-- A project is gone when its mailbox has ended.
CREATE TRIGGER mailbox_project AFTER UPDATE OF ended_at ON mailbox WHEN NEW.ended_at IS NOT NULL AND NEW.source = 'project'
BEGIN
    DELETE FROM project WHERE mailbox_id = NEW.id;
    DELETE FROM mailbox_member WHERE mailbox_id = NEW.id;
END;

-- Mail
-- ----

-- Delivery log: what became of the mail for an address, for 24 hours (docs/spec/messages.md#delivery-log).
CREATE TABLE mail_delivery (
    address_hash BLOB     NOT NULL, -- keyed hash of the recipient's address, which is not stored
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
    recipient    TEXT     NOT NULL, -- to whom the relay was to send a mail from the mailbox; '': the mail was for the address
    PRIMARY KEY (address_hash, id)
) WITHOUT ROWID;
CREATE INDEX mail_delivery_at ON mail_delivery (has_mailbox, at);

-- Triggers count references down, so that the count is exact whichever statement deletes a row.
CREATE TRIGGER message_release AFTER DELETE ON message WHEN OLD.blob IS NOT NULL
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.blob;
END;
CREATE TRIGGER attachment_release AFTER DELETE ON attachment WHEN OLD.blob IS NOT NULL
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.blob;
END;
CREATE TRIGGER blob_stage_release AFTER DELETE ON blob_stage
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.hash;
END;
CREATE TRIGGER blob_unused AFTER UPDATE OF refs ON blob WHEN NEW.refs <= 0
BEGIN
    DELETE FROM blob_chunk WHERE hash = NEW.hash;
    DELETE FROM blob WHERE hash = NEW.hash;
END;

-- Deleting a message erases the request bodies about it; the attempts stay.
CREATE TRIGGER message_sent AFTER DELETE ON message
BEGIN
    UPDATE webhook_delivery SET body = '' WHERE message_id = OLD.id;
END;

-- A mail of the sink is gone when its last message is.
CREATE TRIGGER message_sink AFTER DELETE ON message
WHEN EXISTS (SELECT 1 FROM sink_copy WHERE mailbox_id = OLD.mailbox_id AND message_id = OLD.id)
BEGIN
    UPDATE sink_state SET changes = changes + 1;
    UPDATE sink_mail SET gone = 1, mail = '', tags = '', change = (SELECT changes FROM sink_state)
    WHERE id = (SELECT sink_id FROM sink_copy WHERE mailbox_id = OLD.mailbox_id AND message_id = OLD.id)
        AND (SELECT count(*) FROM sink_copy WHERE sink_id = sink_mail.id) = 1;
    DELETE FROM sink_copy WHERE mailbox_id = OLD.mailbox_id AND message_id = OLD.id;
END;

-- Plans, points and payments
-- --------------------------

-- An entry follows the one before it, and none is changed.
CREATE TRIGGER wallet_entry_follows BEFORE INSERT ON wallet_entry
WHEN NEW.sequence <> 1 + coalesce((SELECT max(sequence) FROM wallet_entry WHERE account_id = NEW.account_id), 0)
    OR NEW.balance_after <> NEW.amount + coalesce((SELECT balance_after FROM wallet_entry
        WHERE account_id = NEW.account_id AND sequence = NEW.sequence - 1), 0)
BEGIN
    SELECT RAISE(ABORT, 'wallet_entry: an entry must follow the one before it');
END;
CREATE TRIGGER wallet_entry_update BEFORE UPDATE ON wallet_entry
BEGIN
    SELECT RAISE(ABORT, 'wallet_entry is append-only');
END;
CREATE TRIGGER wallet_entry_delete BEFORE DELETE ON wallet_entry
BEGIN
    SELECT RAISE(ABORT, 'wallet_entry is append-only');
END;

-- A transaction of the bank is open until it is matched, and none is changed.
CREATE TRIGGER bankpay_transactions_open AFTER INSERT ON bankpay_transactions
BEGIN
    INSERT INTO bankpay_match (transaction_id, received_at, outcome) VALUES (NEW.id, NEW.received_at, 'new');
END;
CREATE TRIGGER bankpay_transactions_update BEFORE UPDATE ON bankpay_transactions
BEGIN
    SELECT RAISE(ABORT, 'bankpay_transactions is append-only');
END;
CREATE TRIGGER bankpay_transactions_delete BEFORE DELETE ON bankpay_transactions
BEGIN
    SELECT RAISE(ABORT, 'bankpay_transactions is append-only');
END;

CREATE TRIGGER wallet_audit_update BEFORE UPDATE ON wallet_audit
BEGIN
    SELECT RAISE(ABORT, 'wallet_audit is append-only');
END;
CREATE TRIGGER wallet_audit_delete BEFORE DELETE ON wallet_audit
BEGIN
    SELECT RAISE(ABORT, 'wallet_audit is append-only');
END;

-- What staff and the operator decide
-- ----------------------------------

CREATE TRIGGER audit_log_update BEFORE UPDATE ON audit_log
BEGIN
    SELECT RAISE(ABORT, 'audit_log is append-only');
END;
CREATE TRIGGER audit_log_delete BEFORE DELETE ON audit_log
BEGIN
    SELECT RAISE(ABORT, 'audit_log is append-only');
END;
-- REPLACE deletes without a delete trigger.
CREATE TRIGGER audit_log_insert BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'audit_log is append-only');
END;
