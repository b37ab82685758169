package move

// table is a table that is moved.
type table struct {
	name string
	key  string // its primary key: rows are read in this order, which is the same on both engines

	// triggered is set where a trigger has inserted the rows already, each with a row of another table.
	triggered bool
}

// The columns of a message that refer to its raw message. References differ between the sides.
const (
	messages     = "message"
	refColumn    = "raw_ref"
	refEndColumn = "raw_until"
)

// tables returns the tables that are moved. A table comes after those whose triggers write to it.
func tables() []table {
	return []table{
		{name: "data_key", key: "id"},
		{name: "public_domain", key: "name"},
		{name: "account", key: "id"},
		{name: "user_token", key: "hash"},
		{name: "recovery_code", key: "account_id, code_hash"},
		{name: "account_code", key: "account_id, purpose"},
		{name: "oidc_link", key: "issuer, subject"},
		{name: "oidc_step", key: "hash"},
		{name: "invite", key: "id"},
		{name: "guest_session", key: "id"},
		{name: "api_key", key: "prefix"},
		{name: "private_domain", key: "id"},
		{name: "filter", key: "id"},
		{name: "mailbox", key: "id"},
		{name: "project", key: "id"},
		{name: "mailbox_member", key: "account_id, mailbox_id"},
		{name: "mailbox_owner", key: "account_id"},
		{name: "mail_day", key: "account_id"},
		{name: "address_hold", key: "address_hash"},
		{name: "blob", key: "hash"},
		{name: "blob_chunk", key: "hash, number"},
		{name: "blob_stage", key: "id, hash"},
		{name: messages, key: "mailbox_id, id"},
		{name: "attachment", key: "mailbox_id, message_id, id"},
		{name: "sink_mail", key: "id"},
		{name: "sink_copy", key: "mailbox_id, message_id"},
		{name: "sink_state", key: "id"},
		{name: "fault_rule", key: "id"},
		{name: "fault_preset", key: "account_id, project, name"},
		{name: "fault_try", key: "scope, mail"},
		{name: "transcript", key: "id"},
		{name: "transcript_message", key: "message_id"},
		{name: "mail_delivery", key: "address_hash, id"},
		{name: "outgoing_mail", key: "id"},
		{name: "outgoing_chunk", key: "mail_id, number"},
		{name: "wallet", key: "account_id"},
		{name: "wallet_entry", key: "account_id, sequence"},
		{name: "topup_order", key: "id"},
		{name: "bankpay_transactions", key: "id"},
		{name: "bankpay_match", key: "transaction_id", triggered: true},
		{name: "wallet_audit", key: "subject, sequence"},
		{name: "idempotency_key", key: "account_id, operation, key"},
		{name: "once", key: "mark"},
		{name: "ingress", key: "name"},
		{name: "subscription", key: "id"},
		{name: "audit_log", key: "id"},
		{name: "block", key: "id"},
		{name: "block_version", key: "id"},
		{name: "notice", key: "id"},
		{name: "page", key: "key, locale"},
		{name: "job", key: "id"},
		{name: "job_schedule", key: "name"},
		{name: "webhook", key: "id"},
		{name: "webhook_delivery", key: "webhook_id, slot"},
	}
}

// leftOut returns the tables that are not moved, each with the reason.
func leftOut() map[string]string {
	return map[string]string{
		"goose_db_version": "each database has its own migrations",
		"migration_digest": "each database has its own migrations",
		"raw_message":      "raw messages are moved with the rows of message that refer to them",
		"rate_limit":       "the state of limits need not survive a restart",
		"rate_held":        "the state of limits need not survive a restart",
		"ingress_lease":    "is of processes that run",
		"process":          "is of processes that run",
		"backup":           "describes the database that it is in",
		"mailbox_change":   "is for event streams that are open, and kept for minutes",
		"move":             "describes the database that it is in",
	}
}
