package job

import "github.com/gonebox/gonebox/internal/db"

// Statements returns the statements of a queue, with arguments of the right types.
func Statements() map[string][]any {
	const kind, lane, at, batch = "test", "a", int64(1), int64(10)
	return map[string][]any{
		selectLanes: {kind, ready, "", batch}, selectDue: {kind},
		claimJobs().On(db.SQLite): {at, kind, lane, batch}, promoteJobs: {kind, at, batch}, requeueJobs: {kind, at, at, batch}, eraseJobs: {kind, at, batch},
		selectLeased().On(db.SQLite): {"job_1", at}, holdLane: {kind, lane, at, batch}, releaseLane: {kind, lane, at, batch}, deleteLane: {kind, lane, batch},
	}
}

// CountBacklogStatement returns the statement of CountBacklog, with its arguments.
func CountBacklogStatement() (string, []any) { return countBacklog, []any{"test", BacklogMax} }

// IsSet reports whether the goroutine that the signal wakes has yet to wake.
func (s *Signal) IsSet() bool { return s.isSet() }
