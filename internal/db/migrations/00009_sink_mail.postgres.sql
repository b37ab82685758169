CREATE FUNCTION forget_sunk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM sink_copy c JOIN erased e ON e.mailbox_id = c.mailbox_id AND e.id = c.message_id) THEN
        RETURN NULL;
    END IF;
    UPDATE sink_state SET changes = changes + 1;
    WITH removed AS (
        DELETE FROM sink_copy c USING erased e WHERE e.mailbox_id = c.mailbox_id AND e.id = c.message_id RETURNING c.sink_id
    )
    UPDATE sink_mail SET gone = 1, mail = '', change = (SELECT changes FROM sink_state)
    WHERE id IN (SELECT sink_id FROM removed) AND NOT EXISTS (
        SELECT 1 FROM sink_copy c WHERE c.sink_id = sink_mail.id
            AND NOT EXISTS (SELECT 1 FROM erased e WHERE e.mailbox_id = c.mailbox_id AND e.id = c.message_id)
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER message_sink AFTER DELETE ON message REFERENCING OLD TABLE AS erased FOR EACH STATEMENT EXECUTE FUNCTION forget_sunk();
