-- +goose Up

CREATE TABLE notice (
    id           TEXT     NOT NULL PRIMARY KEY,
    kind         TEXT     NOT NULL, -- banner, dialog
    level        TEXT     NOT NULL, -- info, warning, critical
    title        TEXT     NOT NULL,
    html         TEXT     NOT NULL, -- safe
    locale       TEXT     NOT NULL, -- BCP 47, canonical; empty: for all
    starts_at    BIGINT   NOT NULL,
    ends_at      BIGINT,            -- null: never
    dismissible  SMALLINT NOT NULL,
    created_at   BIGINT   NOT NULL,
    withdrawn_at BIGINT             -- null: not withdrawn
);
CREATE INDEX notice_shown ON notice (starts_at, id) WHERE withdrawn_at IS NULL;

CREATE TABLE page (
    key        TEXT   NOT NULL,
    locale     TEXT   NOT NULL, -- BCP 47, canonical; empty: for those whose own is missing
    title      TEXT   NOT NULL,
    html       TEXT   NOT NULL, -- safe
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (key, locale)
);
