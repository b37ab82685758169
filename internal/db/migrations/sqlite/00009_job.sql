-- +goose Up

-- Work that is to be done once its cause is committed; see package job.
CREATE TABLE job (
    id         TEXT     NOT NULL PRIMARY KEY,
    kind       TEXT     NOT NULL, -- which queue it is in
    lane       TEXT     NOT NULL, -- what shares its bound, a webhook endpoint for example
    state      SMALLINT NOT NULL, -- 0 ready, 1 waiting, 2 running, 3 held, 4 dead
    due_at     BIGINT   NOT NULL, -- ready: since when; waiting: when it is ready; running: end of the lease; held, dead: when it goes
    attempt    BIGINT   NOT NULL, -- how often it was begun
    created_at BIGINT   NOT NULL,
    payload    TEXT     NOT NULL
);
CREATE INDEX job_lane ON job (kind, state, lane, due_at, id);
CREATE INDEX job_due ON job (kind, state, due_at) WHERE state <> 0;

-- What is done now and then, by one process at a time.
CREATE TABLE job_schedule (
    name        TEXT   NOT NULL PRIMARY KEY,
    next_at     BIGINT NOT NULL, -- when it is done next
    lease_until BIGINT NOT NULL  -- 0: nobody does it now
);
