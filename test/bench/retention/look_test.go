package retention_test

import (
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// hot lists the tables that mail fills and empties.
func hot() []string { return []string{"message", "mailbox", "address_hold"} }

// sampler samples the service's metrics and the size of its tables.
type sampler struct {
	t       *testing.T
	service *apptest.Service
	db      *sql.DB
	at      time.Duration // when it sampled last
	batches float64       // that had been done then
	seconds float64       // that they had taken
}

func newSampler(t *testing.T, s *apptest.Service) *sampler {
	return &sampler{t: t, service: s, db: s.Database()}
}

func (l *sampler) heading() string {
	text := fmt.Sprintf("%5s %6s %7s %7s %7s %7s %8s", "s", "mails", "p50 ms", "p99 ms", "over", "batches", "each ms")
	if !l.service.OnPostgres() {
		return text + fmt.Sprintf(" %9s %9s %9s %9s %9s", "messages", "file MB", "free MB", "log MB", "raw messages")
	}
	for _, table := range hot() {
		text += " | " + fmt.Sprintf("%-39s", table+": live dead heap+index+toast MB vacuums")
	}
	return text + " | raw messages MB parts"
}

// line formats what happened since the line before: mails a second, time to the 250, mailboxes that have expired but
// are not yet erased, the batches in which they are erased, and what each table holds.
func (l *sampler) line(at time.Duration, took []time.Duration) string {
	now := l.service.Clock.Now()
	over := count(l.t, l.db, "SELECT count(*) FROM mailbox WHERE ended_at IS NOT NULL OR expires_at < $1", now.UnixMicro())
	batches, seconds := l.batch("count"), l.batch("sum")
	text := fmt.Sprintf("%5.0f %6.0f %7.1f %7.1f %7d %7.0f %8.2f", at.Seconds(), float64(len(took))/(at-l.at).Seconds(), millis(took, 50), millis(took, 99),
		over, batches-l.batches, 1000*(seconds-l.seconds)/max(1, batches-l.batches))
	l.at, l.batches, l.seconds = at, batches, seconds
	if l.service.OnPostgres() {
		return text + l.tables()
	}
	return text + l.files()
}

// millis is a percentile of the reply times, in milliseconds.
func millis(took []time.Duration, percent int) float64 {
	if len(took) == 0 {
		return 0
	}
	return took[(len(took)-1)*percent/100].Seconds() * 1000
}

// batch reads the batch metrics.
func (l *sampler) batch(what string) float64 {
	l.t.Helper()
	r, err := http.Get(l.service.Admin + "/metrics")
	if err != nil {
		l.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\ngonebox_erase_batch_duration_seconds_"+what+" ")
	number, _, _ := strings.Cut(after, "\n")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		l.t.Fatal(err)
	}
	return v
}

// tables formats the rows, size and vacuums of each hot table, and the size of all raw messages.
func (l *sampler) tables() string {
	var text strings.Builder
	for _, table := range hot() {
		var live, dead, heap, index, toast, vacuums int64
		err := l.db.QueryRowContext(l.t.Context(), `SELECT n_live_tup, n_dead_tup, pg_relation_size(relid), pg_indexes_size(relid),
			pg_table_size(relid) - pg_relation_size(relid), autovacuum_count FROM pg_stat_user_tables WHERE relname = $1`, table).Scan(&live, &dead, &heap, &index, &toast, &vacuums)
		if err != nil {
			l.t.Fatal(err)
		}
		fmt.Fprintf(&text, " | %8d %8d %5.1f+%5.1f+%5.1f %3d", live, dead, megabytes(heap), megabytes(index), megabytes(toast), vacuums)
	}
	size := count(l.t, l.db, "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class WHERE relkind = 'r' AND relname LIKE 'raw_message%'")
	fmt.Fprintf(&text, " | %7.1f %2d", megabytes(int64(size)), count(l.t, l.db, partitions))
	return text.String()
}

// files formats the number of messages and the size of the files they are in.
func (l *sampler) files() string {
	pages := func(pragma string) int64 { return int64(count(l.t, l.db, "SELECT * FROM pragma_"+pragma)) * 4096 }
	var log, rawMessages int64
	_ = filepath.WalkDir(l.service.Dir, func(path string, _ fs.DirEntry, _ error) error {
		info, err := os.Stat(path)
		switch {
		case err != nil || info.IsDir(): // it may have gone meanwhile
		case strings.HasSuffix(path, "-wal"):
			log += info.Size()
		case !strings.Contains(filepath.Base(path), "gonebox.db"):
			rawMessages += info.Size()
		}
		return nil //nolint:nilerr // the others are counted
	})
	return fmt.Sprintf(" %9d %9.1f %9.1f %9.1f %9.1f", count(l.t, l.db, "SELECT count(*) FROM message"), megabytes(pages("page_count")), megabytes(pages("freelist_count")), megabytes(log), megabytes(rawMessages))
}

func megabytes(octets int64) float64 { return float64(octets) / (1 << 20) }
