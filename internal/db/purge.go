package db

import (
	"context"
	"fmt"
)

const (
	// purgeWait is how long, in milliseconds, the writer waits for readers of the log before it leaves truncating to a later purge.
	purgeWait = "100"
	// clearBatch is the number of pages cleared of residue in one transaction.
	clearBatch = 128
)

// purge clears the remains of deleted rows from pages, writes the log back and truncates it. The log contains frames with images of pages from
// before a deletion; when it starts anew, it overwrites them only gradually. Most of the work is done concurrently with the writer.
func (w *writer) purge(ctx context.Context) error {
	if w.checkpointer.empty() && !w.checkpointer.residue.needed() {
		return nil
	}
	if err := w.checkpointer.findResidue(ctx); err != nil {
		return fmt.Errorf("find remains of deleted rows: %w", err)
	}
	for more := true; more; {
		err := w.runExclusively(ctx, func(ctx context.Context) (err error) {
			more, err = w.clear(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("clear remains of deleted rows: %w", err)
		}
	}
	if err := w.retryWithReserve(w.checkpointer.checkpoint); err != nil {
		return fmt.Errorf("write the log back: %w", err)
	}
	if err := w.runExclusively(ctx, w.truncate); err != nil {
		return fmt.Errorf("truncate the log: %w", err)
	}
	return nil
}

// runExclusively runs fn on the writer's goroutine, between two groups of updates.
func (w *writer) runExclusively(ctx context.Context, fn func(context.Context) error) (err error) {
	done := make(chan struct{})
	run := func() {
		defer close(done)
		err = w.retryWithReserve(func() error { return fn(context.WithoutCancel(ctx)) })
	}
	select {
	case w.exclusive <- run:
		<-done
		return err
	case <-w.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// truncate writes the rest of the log back and truncates it.
func (w *writer) truncate(ctx context.Context) error {
	if err := w.checkpointer.residue.examine(); err != nil {
		return err
	}
	if err := w.conn.run(ctx, "PRAGMA busy_timeout = "+purgeWait); err != nil {
		return err
	}
	var busy, frames, written int
	err := w.conn.queryRow(ctx, "PRAGMA wal_checkpoint(TRUNCATE)", nil).Scan(&busy, &frames, &written)
	if back := w.conn.run(ctx, "PRAGMA busy_timeout = "+busyTimeout); err == nil {
		err = back
	}
	if err == nil && busy != 0 {
		w.log.Info("could not truncate the write-ahead log, a reader still needs it", "frames", frames, "written", written)
	}
	return err
}

// Statements on whole pages, including the parts that no row refers to.
const (
	selectPageCount = "PRAGMA page_count"
	selectRawPage   = "SELECT data FROM sqlite_dbpage WHERE pgno = $1"
	updateRawPage   = "UPDATE sqlite_dbpage SET data = $2 WHERE pgno = $1"
)

// clear clears up to clearBatch pages that have residue in one transaction, and reports whether there may be more.
func (w *writer) clear(ctx context.Context) (more bool, err error) {
	pages := w.checkpointer.residue.take(clearBatch)
	if len(pages) == 0 {
		return false, nil
	}
	if err = w.conn.run(ctx, "BEGIN IMMEDIATE"); err == nil {
		if err = w.clearPages(ctx, pages); err == nil {
			err = w.conn.run(ctx, "COMMIT")
		}
		if err != nil {
			w.rollback(ctx)
		}
	}
	if err != nil {
		w.checkpointer.residue.add(pages)
		return false, err
	}
	return len(pages) == clearBatch, nil
}

func (w *writer) clearPages(ctx context.Context, pages []uint32) error {
	var count uint32
	if err := w.conn.queryRow(ctx, selectPageCount, nil).Scan(&count); err != nil || count >= maxPages {
		return err
	}
	for _, number := range pages {
		var page []byte
		if err := w.conn.queryRow(ctx, selectRawPage, []any{number}).Scan(&page); err != nil {
			return fmt.Errorf("read page %d: %w", number, err)
		}
		if !hasResidue(number, page) {
			continue
		}
		clear(freeSpace(number, page))
		if _, err := w.conn.exec(ctx, updateRawPage, []any{number, page}); err != nil {
			return fmt.Errorf("write page %d: %w", number, err)
		}
	}
	return nil
}

// findResidue examines the log and, if frames were overwritten before they could be examined, the whole file.
func (c *checkpointer) findResidue(ctx context.Context) error {
	if err := c.residue.examine(); err != nil {
		return err
	}
	return c.residue.examineAll(ctx, c.file)
}
