package ledger

// These are for PostgreSQL alone.
const (
	addAll = `INSERT INTO rate_limit (key, tat)
		SELECT key, CAST($1 AS BIGINT) + debt FROM unnest(CAST($2 AS BYTEA[]), CAST($3 AS BIGINT[])) AS taken (key, debt) ORDER BY key
		ON CONFLICT (key) DO UPDATE SET tat = greatest(rate_limit.tat, CAST($1 AS BIGINT)) + excluded.tat - CAST($1 AS BIGINT)
		RETURNING key, tat`
	deleteIdle = "DELETE FROM rate_limit WHERE tat < $1"
)
