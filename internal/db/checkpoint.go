package db

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"sync"
)

// SQLite writes its log back into the database file (a checkpoint) in the commit that makes the log longer than the
// threshold, and syncs it there: tens of milliseconds in which nobody's write is answered. The checkpointer does most of
// that on a connection of its own, beside the writer, a little before; what the commit finds left is little.
const checkpointFrom = 3200 // pages in the log and not yet in the file; at 4,000 a commit does it (wal_autocheckpoint)

// checkpointer begins when it is told to look and finds the log long enough.
type checkpointer struct {
	pool  *sql.DB
	index *os.File // the log's index
	wal   *os.File // the log
	file  *os.File // the database
	left  *residue
	from  uint32 // pages in the log and not yet in the file, at which it begins
	log   *slog.Logger
	begin chan struct{}
	ended sync.WaitGroup
}

func openCheckpointer(path string, o Options) (*checkpointer, error) {
	pool, err := sql.Open("sqlite", dsn(path, pragmas+syncing(o)+"&_pragma=cache_size(-64)"))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	c := &checkpointer{pool: pool, from: checkpointAt(o.Space), log: o.Logger, begin: make(chan struct{})}
	err = c.checkpoint() // what another run left; after it there is an index
	if err == nil {
		c.index, err = os.Open(path + "-shm")
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
	c.left = &residue{wal: c.wal, index: c.index, pages: make(map[uint32]struct{}), whole: true}
	c.ended.Go(c.run)
	return c, nil
}

// look begins a checkpoint where there is need for one and none runs. The writer calls it after each commit.
func (c *checkpointer) look() {
	s, err := readState(c.index)
	if err != nil {
		return
	}
	c.left.note(s)
	switch {
	case s.last > 0 && s.last == s.written: // the commit did it, and the next one begins the log anew
		c.examine()
	case s.unwritten() >= c.from:
		select {
		case c.begin <- struct{}{}:
		default:
		}
	}
}

// examine looks for residue in the log before it is overwritten.
func (c *checkpointer) examine() {
	if err := c.left.examine(); err != nil {
		c.log.Debug("log of the database not examined, a purge does it", "error", err)
	}
}

func (c *checkpointer) run() {
	for range c.begin {
		c.examine()
		if err := c.checkpoint(); err != nil {
			c.log.Warn("checkpoint failed; a commit does it", "error", err)
		}
	}
}

// checkpoint waits for nobody and keeps nobody waiting. What it leaves, because of readers or of what is written meanwhile,
// is the next one's.
func (c *checkpointer) checkpoint() error {
	_, err := c.pool.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

// unwritten is how many pages are in the log and not yet in the database file.
func (s logState) unwritten() uint32 {
	if s.written > s.last { // the log begins anew just now
		return 0
	}
	return s.last - s.written
}

// empty reports whether the log's file is empty.
func (c *checkpointer) empty() bool {
	info, err := c.wal.Stat()
	return err == nil && info.Size() == 0
}

// close ends the checkpointer and its connection. The index stays open until closeIndex.
func (c *checkpointer) close() error {
	close(c.begin)
	c.ended.Wait()
	return errors.Join(c.wal.Close(), c.pool.Close())
}

// closeIndex must be called after every connection is closed: the system lets go of all locks that this process has on
// a file when any of its descriptors is closed, and SQLite's locks are on the index and the database. It may be called more than once.
func (c *checkpointer) closeIndex() error {
	if err := c.index.Close(); !errors.Is(err, os.ErrClosed) {
		return errors.Join(err, c.file.Close())
	}
	return nil
}
