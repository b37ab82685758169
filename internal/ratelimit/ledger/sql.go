package ledger

// These statements are for PostgreSQL alone.
const (
	// The debt is added to the later of the stored time and now: an allowance that was not used does not accumulate.
	// excluded.tat is now plus the debt.
	addAll = `INSERT INTO rate_limit (key, tat)
		SELECT key, CAST($1 AS BIGINT) + debt FROM unnest(CAST($2 AS BYTEA[]), CAST($3 AS BIGINT[])) AS taken (key, debt) ORDER BY key
		ON CONFLICT (key) DO UPDATE SET tat = greatest(rate_limit.tat, CAST($1 AS BIGINT)) + excluded.tat - CAST($1 AS BIGINT)
		RETURNING key, tat`
	lockKey = "SELECT pg_advisory_xact_lock($1)"
	// Holdings expire by the server's clock, since the clocks of processes may differ. Reports of one process may arrive out of order,
	// so a row keeps the holding with the highest turn.
	holdAll = `WITH reported AS (
			SELECT * FROM unnest(CAST($2 AS BYTEA[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[])) AS reported (key, held, turn)),
		mine AS (
			INSERT INTO rate_held (key, process, held, turn, until)
			SELECT key, $1, held, turn, now() + CAST($5 AS INTERVAL) FROM reported ORDER BY key
			ON CONFLICT (key, process) DO UPDATE SET until = excluded.until, turn = greatest(rate_held.turn, excluded.turn),
				held = CASE WHEN rate_held.turn > excluded.turn THEN rate_held.held ELSE excluded.held END)
		SELECT key, held + coalesce((SELECT sum(o.held) FROM rate_held o WHERE o.key = reported.key AND o.process <> $1 AND o.until > now()), 0) FROM reported`
	deleteFree = "DELETE FROM rate_held WHERE until <= now()"
	deleteIdle = "DELETE FROM rate_limit WHERE tat < $1"
)
