-- +goose Up

CREATE TABLE subscription (
    id         TEXT     NOT NULL PRIMARY KEY,
    account_id TEXT     NOT NULL,
    plan       TEXT     NOT NULL, -- its code
    term       TEXT     NOT NULL, -- monthly, yearly
    status     TEXT     NOT NULL, -- active; cancelled: another took its place; expired
    auto_renew SMALLINT NOT NULL,
    price      BIGINT   NOT NULL, -- points that the current period cost
    started_at BIGINT   NOT NULL,
    anchor_at  BIGINT   NOT NULL, -- where the present row of periods began
    period     BIGINT   NOT NULL, -- which of that row the current one is, from 1
    period_end BIGINT   NOT NULL, -- end of the current period
    ended_at   BIGINT             -- when it was cancelled or found expired
);
CREATE UNIQUE INDEX subscription_active ON subscription (account_id) WHERE status = 'active';
CREATE INDEX subscription_account ON subscription (account_id, id);
CREATE INDEX subscription_due ON subscription (period_end, id) WHERE status = 'active';
