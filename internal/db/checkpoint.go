package db

import (
	"context"
	"database/sql"
	"encoding/binary"
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
	index *os.File // the log's index; see unwritten
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
	c := &checkpointer{pool: pool, log: o.Logger, begin: make(chan struct{})}
	err = c.checkpoint() // what another run left; after it there is an index
	if err == nil {
		c.index, err = os.Open(path + "-shm")
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	c.ended.Go(c.run)
	return c, nil
}

// look begins a checkpoint where there is need for one and none runs. The writer calls it after each commit.
func (c *checkpointer) look() {
	if c.unwritten() < checkpointFrom {
		return
	}
	select {
	case c.begin <- struct{}{}:
	default:
	}
}

func (c *checkpointer) run() {
	for range c.begin {
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

// unwritten is how many pages are in the log and not yet in the database file, as the log's index tells: the number of
// the last valid frame, and how many have been written back (the file format's documentation, "The WAL-Index File Format").
func (c *checkpointer) unwritten() uint32 {
	const lastFrame, writtenBack, size = 16, 96, 100
	var head [size]byte
	if _, err := c.index.ReadAt(head[:], 0); err != nil {
		return 0
	}
	last, written := binary.NativeEndian.Uint32(head[lastFrame:]), binary.NativeEndian.Uint32(head[writtenBack:])
	if written > last { // the log begins anew just now
		return 0
	}
	return last - written
}

// close ends the checkpointer and its connection. The index stays open until closeIndex.
func (c *checkpointer) close() error {
	close(c.begin)
	c.ended.Wait()
	return c.pool.Close()
}

// closeIndex must be called after every connection is closed: the system lets go of all locks that this process has on
// a file when any of its descriptors is closed, and SQLite's locks are on this one. It may be called more than once.
func (c *checkpointer) closeIndex() error {
	if err := c.index.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
