package ledger

// These are for PostgreSQL alone.
const (
	addAll = `INSERT INTO rate_limit (key, tat)
		SELECT key, CAST($1 AS BIGINT) + debt FROM unnest(CAST($2 AS BYTEA[]), CAST($3 AS BIGINT[])) AS taken (key, debt) ORDER BY key
		ON CONFLICT (key) DO UPDATE SET tat = greatest(rate_limit.tat, CAST($1 AS BIGINT)) + excluded.tat - CAST($1 AS BIGINT)
		RETURNING key, tat`
	lockKey = "SELECT pg_advisory_xact_lock($1)"
	// Whether a process still lives is a matter of real time, so the server's clock decides.
	holdAll = `WITH mine AS (
			INSERT INTO rate_held (key, process, held, until)
			SELECT key, $1, held, now() + CAST($4 AS INTERVAL) FROM unnest(CAST($2 AS BYTEA[]), CAST($3 AS BIGINT[])) AS said (key, held) ORDER BY key
			ON CONFLICT (key, process) DO UPDATE SET held = excluded.held, until = excluded.until
			RETURNING key, held)
		SELECT key, held + coalesce((SELECT sum(o.held) FROM rate_held o WHERE o.key = mine.key AND o.process <> $1 AND o.until > now()), 0) FROM mine`
	deleteFree = "DELETE FROM rate_held WHERE held = 0 OR until <= now()"
	deleteIdle = "DELETE FROM rate_limit WHERE tat < $1"
)
