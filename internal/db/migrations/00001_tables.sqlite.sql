-- The triggers of SQLite. Those of PostgreSQL do the same.

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
