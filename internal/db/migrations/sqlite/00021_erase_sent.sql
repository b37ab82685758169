-- +goose Up

-- What was sent of a message goes with the message: the body is emptied, the attempt stays.
ALTER TABLE webhook_delivery ADD COLUMN mailbox_id TEXT;
ALTER TABLE webhook_delivery ADD COLUMN message_id TEXT; -- the message that the event is about; null: it is about none
CREATE INDEX webhook_delivery_message ON webhook_delivery (message_id) WHERE message_id IS NOT NULL;

-- Attempts of versions before do not say which message they are about.
UPDATE webhook_delivery SET body = '' WHERE event IN ('message.received', 'otp.extracted');

-- +goose StatementBegin
CREATE TRIGGER message_sent AFTER DELETE ON message
BEGIN
    UPDATE webhook_delivery SET body = '' WHERE message_id = OLD.id;
END;
-- +goose StatementEnd
