-- The PHC string of the Argon2id hash of the password of a mailbox that was created with one (docs/spec/mailtm.md).
ALTER TABLE mailbox ADD COLUMN password TEXT;
