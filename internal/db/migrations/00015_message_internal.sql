-- What is stored of a message beside its summary, which is the JSON that a list shows. Both are of the version of the service that
-- stored the message.
ALTER TABLE message ADD COLUMN internal TEXT NOT NULL DEFAULT '{}';
