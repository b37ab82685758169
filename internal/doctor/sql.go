package doctor

import (
	"context"
	"log/slog"

	"github.com/gonebox/gonebox/internal/db"
)

const selectSettings = `SELECT current_setting('server_version_num'), current_setting('server_version'), current_setting('fsync'),
	current_setting('synchronous_commit'), current_setting('full_page_writes'), current_setting('max_connections')`

// oldestPostgres is the oldest version that is tested.
const oldestPostgres = 150000

// checkDatabase checks PostgreSQL, if it is configured: that it responds, that commits survive a power failure, and that
// its version is a tested one. It does not migrate the database.
func (e *examination) checkDatabase(ctx context.Context) {
	url := string(e.cfg.Database.URL)
	if url == "" {
		e.reportf("PostgreSQL", OK, "not used: the database is SQLite in data_dir")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*lookupTimeout)
	defer cancel()
	d, err := db.Open(ctx, url, db.Options{Readers: 1, Writers: 1, Timeout: e.cfg.Database.Timeout, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		e.reportf("PostgreSQL", Failure, "it does not answer (%s); check database.url, and that the server is running", oneLine(err))
		return
	}
	defer d.Close()
	var number int
	var version, fsync, commit, pages, connections string
	if err := d.QueryRow(ctx, selectSettings).Scan(&number, &version, &fsync, &commit, &pages, &connections); err != nil {
		e.reportf("PostgreSQL", Failure, "it does not answer (%s); check database.url, and that the server is running", oneLine(err))
		return
	}
	switch {
	case fsync != "on" || commit == "off" || pages != "on":
		e.reportf("PostgreSQL", Failure, "fsync is %s, synchronous_commit %s and full_page_writes %s; acknowledged mail can be lost: set all to on", fsync, commit, pages)
	case number < oldestPostgres:
		e.reportf("PostgreSQL", Warning, "version %s is older than any that is tested; upgrade to 15 or newer", version)
	default:
		e.reportf("PostgreSQL", OK, "version %s, max_connections %s", version, connections)
	}
}
