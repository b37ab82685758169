package db

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"sync"
)

// checkpointFrom is the number of pages in the write-ahead log, and not yet in the database file, at which the checkpointer begins.
//
// When the log has 16,000 pages (wal_autocheckpoint), SQLite itself writes the pages that remain back into the database file during a
// commit, and syncs the file, so that the log can start anew. No other write completes meanwhile. The checkpointer does most of this work
// before, on its own connection and concurrently with the writer, and such a long commit is so rare that fewer than one mail in a hundred
// waits for it. With 4,000 and 3,200 pages instead, the 99th percentile for 32 senders of 4 KiB was 28 ms (26–84); it is 23 ms (19–26).
const checkpointFrom = 1600

// checkpointer writes the log back into the database file, on a goroutine of its own, when startIfDue finds that it is long enough.
type checkpointer struct {
	pool      *sql.DB
	index     *os.File // the log's index
	wal       *os.File // the log
	file      *os.File // the database
	residue   *residue
	threshold uint32 // see checkpointFrom
	log       *slog.Logger
	begin     chan struct{}
	ended     sync.WaitGroup
}

func openCheckpointer(path string, o Options) (*checkpointer, error) {
	pool, err := sql.Open("sqlite", dsn(path, pragmas+syncPragma(o)+"&_pragma=cache_size(-64)"))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	c := &checkpointer{pool: pool, threshold: checkpointThreshold(o.Space), log: o.Logger, begin: make(chan struct{})}
	err = c.checkpoint() // writes back what an earlier process left in the log, and creates the index
	if err == nil {
		c.index, err = openIndex(path+"-shm", o.Logger)
	}
	if err == nil {
		c.wal, err = os.Open(path + "-wal")
	}
	if err == nil {
		c.file, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	c.residue = &residue{wal: c.wal, index: c.index, pages: make(map[uint32]struct{}), scanFile: true}
	c.ended.Go(c.run)
	return c, nil
}

// openIndex opens the index of the log and allocates the blocks of its largest size. SQLite extends the file by writing one octet of each
// page, and then writes through a mapping. A block that is missing then makes a commit fail in the middle: one of a page with several
// blocks, or any block on a full disk.
func openIndex(path string, log *slog.Logger) (*os.File, error) {
	const largest = 5 * 32 << 10 // an index of 32 KiB describes 4,096 pages, and the log has few more than 16,000 (wal_autocheckpoint)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := allocate(f, largest); err != nil {
		log.Debug("could not allocate the index of the write-ahead log", "error", err)
	}
	return f, nil
}

// startIfDue starts a checkpoint if one is due and none is running. The writer calls it after each commit.
func (c *checkpointer) startIfDue() {
	s, err := readState(c.index)
	if err != nil {
		return
	}
	c.residue.update(s)
	switch {
	case s.last > 0 && s.last == s.written: // the commit has written the whole log back, so that the next one starts it anew
		c.examine()
	case s.unwritten() >= c.threshold:
		select {
		case c.begin <- struct{}{}:
		default:
		}
	}
}

// examine looks for residue in the log before it is overwritten.
func (c *checkpointer) examine() {
	if err := c.residue.examine(); err != nil {
		c.log.Debug("could not examine the write-ahead log, the next purge will", "error", err)
	}
}

func (c *checkpointer) run() {
	for range c.begin {
		c.examine()
		if err := c.checkpoint(); err != nil {
			c.log.Warn("checkpoint failed, a commit will do it", "error", err)
		}
	}
}

// checkpoint writes pages of the log back. It neither waits for other connections nor blocks them: pages that readers still need, and pages
// that are written meanwhile, are left to the next checkpoint.
func (c *checkpointer) checkpoint() error {
	_, err := c.pool.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

// unwritten returns the number of pages in the log that are not yet in the database file.
func (s logState) unwritten() uint32 {
	if s.written > s.last { // the log has just been started anew
		return 0
	}
	return s.last - s.written
}

// empty reports whether the log's file is empty.
func (c *checkpointer) empty() bool {
	info, err := c.wal.Stat()
	return err == nil && info.Size() == 0
}

// close stops the checkpointer and closes its connection. The index stays open until closeIndex.
func (c *checkpointer) close() error {
	close(c.begin)
	c.ended.Wait()
	return errors.Join(c.wal.Close(), c.pool.Close())
}

// closeIndex closes the index and the database file. It must be called after all connections are closed: closing any descriptor of a file
// releases all locks of the process on it (fcntl(2)), and SQLite's locks are on these two. It may be called more than once.
func (c *checkpointer) closeIndex() error {
	if err := c.index.Close(); !errors.Is(err, os.ErrClosed) {
		return errors.Join(err, c.file.Close())
	}
	return nil
}
