package move

// table is one that is moved, row by row.
type table struct {
	name string
	key  string // its primary key: rows are read in its order, which is the same on both engines

	// opened says that rows are there already: a trigger has opened each with the row of another table.
	opened bool
}

// The columns of a message that say where its raw message is. A database and its raw messages have references of their own.
const (
	messages     = "message"
	refColumn    = "raw_ref"
	refEndColumn = "raw_until"
)

// tables are all that is moved. A table comes after those whose triggers write to it.
func tables() []table {
	return []table{
		{name: "public_domain", key: "name"},
		{name: "account", key: "id"},
		{name: "user_token", key: "hash"},
		{name: "recovery_code", key: "account_id, code_hash"},
		{name: "guest_session", key: "id"},
		{name: "api_key", key: "prefix"},
		{name: "private_domain", key: "id"},
		{name: "filter", key: "id"},
		{name: "mailbox", key: "id"},
		{name: "mailbox_owner", key: "account_id"},
		{name: "mail_day", key: "account_id"},
		{name: "address_hold", key: "address_hash"},
		{name: "blob", key: "hash"},
		{name: "blob_chunk", key: "hash, number"},
		{name: "blob_stage", key: "id, hash"},
		{name: messages, key: "mailbox_id, id"},
		{name: "attachment", key: "mailbox_id, message_id, id"},
		{name: "wallet", key: "account_id"},
		{name: "wallet_entry", key: "account_id, sequence"},
		{name: "topup_order", key: "id"},
		{name: "bankpay_transactions", key: "id"},
		{name: "bankpay_match", key: "transaction_id", opened: true},
		{name: "wallet_audit", key: "subject, sequence"},
		{name: "idempotency_key", key: "account_id, operation, key"},
		{name: "subscription", key: "id"},
		{name: "notice", key: "id"},
		{name: "page", key: "key, locale"},
		{name: "job", key: "id"},
		{name: "job_schedule", key: "name"},
		{name: "webhook", key: "id"},
		{name: "webhook_delivery", key: "webhook_id, slot"},
	}
}

// leftOut are the tables that are not moved, each with its reason.
func leftOut() map[string]string {
	return map[string]string{
		"goose_db_version": "each database has its own migrations",
		"raw_message":      "a raw message goes with its message, and is kept anew",
		"rate_limit":       "what was taken of limits is forgotten by a restart, too",
		"rate_held":        "as rate_limit",
		"move":             "tells of its own database where it came from",
	}
}
