-- What PostgreSQL adds to the tables: storage parameters, triggers, which do the same as those of SQLite, and tables of its own.

-- Mailboxes
-- ---------

-- Free space in a page lets an update put the new version beside the old one without touching the indexes (HOT).
ALTER TABLE mailbox SET (fillfactor = 80);

-- A project is gone when its mailbox has ended.
CREATE FUNCTION end_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.source = 'project' THEN
        DELETE FROM project WHERE mailbox_id = NEW.id;
        DELETE FROM mailbox_member WHERE mailbox_id = NEW.id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER mailbox_project AFTER UPDATE OF ended_at ON mailbox FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION end_project();

-- Mail
-- ----

-- Columns that are compressed by the program are stored as they are: compressing them again costs time and saves nothing.
ALTER TABLE message ALTER COLUMN summary SET STORAGE EXTERNAL, ALTER COLUMN detail SET STORAGE EXTERNAL, ALTER COLUMN shown SET STORAGE EXTERNAL;
ALTER TABLE attachment ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE blob_chunk ALTER COLUMN data SET STORAGE EXTERNAL;
-- A row that fits into a page stays there. By default a row above a quarter of a page is cut into pieces in a TOAST table, each with
-- an index entry.
ALTER TABLE message SET (toast_tuple_target = 8160);
ALTER TABLE attachment SET (toast_tuple_target = 8160);
-- Free space for HOT updates, as in mailbox.
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
    recipient    TEXT     NOT NULL, -- to whom the relay was to send a mail from the mailbox; '': the mail was for the address
    PRIMARY KEY (address_hash, id)
);
CREATE INDEX mail_delivery_at ON mail_delivery (has_mailbox, at);

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

-- A mail of the sink is gone when its last message is.
CREATE FUNCTION forget_sunk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM sink_copy c JOIN erased e ON e.mailbox_id = c.mailbox_id AND e.id = c.message_id) THEN
        RETURN NULL;
    END IF;
    UPDATE sink_state SET changes = changes + 1;
    WITH removed AS (
        DELETE FROM sink_copy c USING erased e WHERE e.mailbox_id = c.mailbox_id AND e.id = c.message_id RETURNING c.sink_id
    )
    UPDATE sink_mail SET gone = 1, mail = '', tags = '', change = (SELECT changes FROM sink_state)
    WHERE id IN (SELECT sink_id FROM removed) AND NOT EXISTS (
        SELECT 1 FROM sink_copy c WHERE c.sink_id = sink_mail.id
            AND NOT EXISTS (SELECT 1 FROM erased e WHERE e.mailbox_id = c.mailbox_id AND e.id = c.message_id)
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER message_sink AFTER DELETE ON message REFERENCING OLD TABLE AS erased FOR EACH STATEMENT EXECUTE FUNCTION forget_sunk();

-- Plans, points and payments
-- --------------------------

CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER wallet_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_entry EXECUTE FUNCTION append_only();
CREATE TRIGGER bankpay_transactions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON bankpay_transactions EXECUTE FUNCTION append_only();
CREATE TRIGGER wallet_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_audit EXECUTE FUNCTION append_only();

-- An entry follows the one before it.
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

-- A transaction of the bank is open until it is matched.
CREATE FUNCTION bankpay_transactions_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bankpay_match (transaction_id, received_at, outcome) VALUES (NEW.id, NEW.received_at, 'new');
    RETURN NULL;
END
$$;
CREATE TRIGGER bankpay_transactions_open AFTER INSERT ON bankpay_transactions FOR EACH ROW EXECUTE FUNCTION bankpay_transactions_open();

-- What staff and the operator decide
-- ----------------------------------

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log EXECUTE FUNCTION append_only();

-- The processes of the service
-- ----------------------------

-- What each process reports of itself every few seconds (package process). A crash of the server empties the table.
CREATE UNLOGGED TABLE process (
    id         TEXT     NOT NULL PRIMARY KEY, -- random
    name       TEXT     NOT NULL,             -- of its machine or container
    version    TEXT     NOT NULL,
    roles      TEXT     NOT NULL,             -- separated by commas
    started_at BIGINT   NOT NULL,
    seen_at    BIGINT   NOT NULL,             -- when it last reported
    ended      SMALLINT NOT NULL,             -- 1: it was shut down
    minutes    TEXT     NOT NULL              -- JSON: the mail that it counted in the last minutes
) WITH (fillfactor = 50);

-- Limits that processes share
-- ---------------------------

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
