CREATE TRIGGER message_sink AFTER DELETE ON message
WHEN EXISTS (SELECT 1 FROM sink_copy WHERE mailbox_id = OLD.mailbox_id AND message_id = OLD.id)
BEGIN
    UPDATE sink_state SET changes = changes + 1;
    UPDATE sink_mail SET gone = 1, mail = '', change = (SELECT changes FROM sink_state)
    WHERE id = (SELECT sink_id FROM sink_copy WHERE mailbox_id = OLD.mailbox_id AND message_id = OLD.id)
        AND (SELECT count(*) FROM sink_copy WHERE sink_id = sink_mail.id) = 1;
    DELETE FROM sink_copy WHERE mailbox_id = OLD.mailbox_id AND message_id = OLD.id;
END;
