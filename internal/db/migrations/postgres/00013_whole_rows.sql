-- +goose Up

-- A row of mail that fits a page stays in it. At a quarter of a page, the default, PostgreSQL compresses what is compressed
-- already and cuts it into pieces in a table beside, each with an index entry of its own.
ALTER TABLE message SET (toast_tuple_target = 8160);
ALTER TABLE attachment SET (toast_tuple_target = 8160);
ALTER TABLE message ALTER COLUMN summary SET STORAGE EXTERNAL;
