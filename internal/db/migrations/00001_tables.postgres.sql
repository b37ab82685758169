-- Storage parameters, tables and triggers of PostgreSQL alone.

-- Columns that are compressed by the program are stored as they are: compressing them again costs time and saves nothing.
ALTER TABLE message ALTER COLUMN summary SET STORAGE EXTERNAL, ALTER COLUMN detail SET STORAGE EXTERNAL;
ALTER TABLE attachment ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE blob_chunk ALTER COLUMN data SET STORAGE EXTERNAL;
-- A row that fits into a page stays there. By default a row above a quarter of a page is cut into pieces in a TOAST table, each with
-- an index entry.
ALTER TABLE message SET (toast_tuple_target = 8160);
ALTER TABLE attachment SET (toast_tuple_target = 8160);
-- Free space in a page lets an update put the new version beside the old one without touching the indexes (HOT).
ALTER TABLE mailbox SET (fillfactor = 80);
ALTER TABLE blob SET (fillfactor = 70);

-- Raw messages, which SQLite's service keeps in files. A partition holds those that expire within the same twenty seconds; slot is the time in
-- seconds since 1970 at which all of them have expired (package raw, slot.go). Package raw creates and drops the partitions.
CREATE TABLE raw_message (
    slot    BIGINT NOT NULL,
    id      BYTEA  NOT NULL,
    data    BYTEA  NOT NULL, -- compressed
    PRIMARY KEY (slot, id)
) PARTITION BY RANGE (slot);
ALTER TABLE raw_message ALTER COLUMN data SET STORAGE EXTERNAL;

-- The state of the rate limits that processes count together (package ratelimit). A crash of the server empties the table.
CREATE UNLOGGED TABLE rate_limit (
    key BYTEA  NOT NULL PRIMARY KEY, -- a hash of limit, identity and window
    tat BIGINT NOT NULL              -- the theoretical arrival time of the generic cell rate algorithm
) WITH (fillfactor = 70);
-- How many of something each process holds for an identity. A process repeats it before until.
CREATE UNLOGGED TABLE rate_held (
    key     BYTEA       NOT NULL, -- a hash of limit and identity
    process TEXT        NOT NULL,
    held    BIGINT      NOT NULL,
    turn    BIGINT      NOT NULL, -- rises with each change in the process, so that a late report does not replace a newer one
    until   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (key, process)
) WITH (fillfactor = 70);

CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER wallet_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_entry EXECUTE FUNCTION append_only();
CREATE TRIGGER bankpay_transactions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON bankpay_transactions EXECUTE FUNCTION append_only();
CREATE TRIGGER wallet_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_audit EXECUTE FUNCTION append_only();

CREATE FUNCTION wallet_entry_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.sequence <> 1 + coalesce((SELECT max(sequence) FROM wallet_entry WHERE account_id = NEW.account_id), 0)
        OR NEW.balance_after <> NEW.amount + coalesce((SELECT balance_after FROM wallet_entry
            WHERE account_id = NEW.account_id AND sequence = NEW.sequence - 1), 0) THEN
        RAISE EXCEPTION 'wallet_entry: an entry must follow the one before it';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER wallet_entry_follows BEFORE INSERT ON wallet_entry FOR EACH ROW EXECUTE FUNCTION wallet_entry_follows();

CREATE FUNCTION bankpay_transactions_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bankpay_match (transaction_id, received_at, outcome) VALUES (NEW.id, NEW.received_at, 'new');
    RETURN NULL;
END
$$;
CREATE TRIGGER bankpay_transactions_open AFTER INSERT ON bankpay_transactions FOR EACH ROW EXECUTE FUNCTION bankpay_transactions_open();

-- Triggers count references down, so that the count is exact whichever statement or process deletes a row.
CREATE FUNCTION release_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.blob;
    RETURN NULL;
END
$$;
CREATE TRIGGER message_release AFTER DELETE ON message FOR EACH ROW WHEN (OLD.blob IS NOT NULL) EXECUTE FUNCTION release_blob();
CREATE TRIGGER attachment_release AFTER DELETE ON attachment FOR EACH ROW WHEN (OLD.blob IS NOT NULL) EXECUTE FUNCTION release_blob();
CREATE FUNCTION release_staged_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE blob SET refs = refs - 1 WHERE hash = OLD.hash;
    RETURN NULL;
END
$$;
CREATE TRIGGER blob_stage_release AFTER DELETE ON blob_stage FOR EACH ROW EXECUTE FUNCTION release_staged_blob();
CREATE FUNCTION delete_unused_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM blob_chunk WHERE hash = NEW.hash;
    DELETE FROM blob WHERE hash = NEW.hash;
    RETURN NULL;
END
$$;
CREATE TRIGGER blob_unused AFTER UPDATE OF refs ON blob FOR EACH ROW WHEN (NEW.refs <= 0) EXECUTE FUNCTION delete_unused_blob();

-- Deleting messages erases the request bodies about them; the attempts stay.
CREATE FUNCTION erase_sent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE webhook_delivery SET body = '' WHERE message_id IN (SELECT id FROM erased);
    RETURN NULL;
END
$$;
CREATE TRIGGER message_sent AFTER DELETE ON message REFERENCING OLD TABLE AS erased FOR EACH STATEMENT EXECUTE FUNCTION erase_sent();
