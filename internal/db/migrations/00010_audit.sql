-- What staff and the operator's commands have changed (docs/spec/staff.md#the-audit-log).
CREATE TABLE audit_log (
    id     TEXT   NOT NULL PRIMARY KEY,
    at     BIGINT NOT NULL,
    actor  TEXT   NOT NULL, -- the e-mail address of a member of staff, or command
    action TEXT   NOT NULL, -- the noun and verb of the command
    target TEXT   NOT NULL, -- what was changed
    detail TEXT   NOT NULL  -- the change, without secrets; may be empty
);
