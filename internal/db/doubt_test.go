package db_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// cable is a proxy between a client and PostgreSQL. It can close the connection during a commit: before the server receives COMMIT, or after the
// server has replied to it.
type cable struct {
	cut   atomic.Int32 // how many more commits are cut
	after bool         // cut after the reply of the server
}

func (c *cable) lay(t *testing.T, url string) (through string) {
	t.Helper()
	_, rest, _ := strings.Cut(url, "host=")
	server, _, _ := strings.Cut(rest, "&")
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { c.carry(client, filepath.Join(server, ".s.PGSQL.5432")) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return strings.ReplaceAll(url, "host="+server, "host="+dir)
}

func (c *cable) carry(client net.Conn, to string) {
	defer client.Close()
	server, err := net.Dial("unix", to)
	if err != nil {
		return
	}
	defer server.Close()
	var cutting atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil || cutting.Load() {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	defer wg.Wait()
	defer server.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if bytes.Contains(buf[:n], []byte("COMMIT\x00")) && c.cut.Add(-1) >= 0 {
			cutting.Store(true)
			if !c.after {
				return
			}
		}
		if _, err := server.Write(buf[:n]); err != nil && !errors.Is(err, io.EOF) {
			return
		}
	}
}

// If the connection is lost during a commit, the update is stored exactly once, and Update reports success.
func TestUnconfirmedCommitIsStoredOnce(t *testing.T) {
	for name, after := range map[string]bool{"before the server received it": false, "after its reply": true} {
		t.Run(name, func(t *testing.T) {
			c := &cable{after: after}
			d, err := db.Open(t.Context(), c.lay(t, dbtest.PostgresURL(t)), db.Options{Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			for _, name := range []string{"a.example", "b.example"} {
				c.cut.Store(1)
				runs, finished := 0, 0
				err := d.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
					runs++
					tx.AfterCommit(func() { finished++ })
					return tx.Queue(ctx, insert, name)
				}, func(ctx context.Context, q db.Queryer) (bool, error) {
					var n int
					err := q.QueryRow(ctx, "SELECT count(*) FROM public_domain WHERE name = $1", name).Scan(&n)
					return n > 0, err
				})
				wantRuns := 2
				if after {
					wantRuns = 1
				}
				if err != nil || runs != wantRuns || finished != 1 {
					t.Errorf("%s: %v, %d runs, AfterCommit ran %d times, want %v and 1", name, err, runs, finished, wantRuns)
				}
			}
			if got := names(t, d); got != "a.example b.example" {
				t.Errorf(`stored: %s, want "a.example b.example"`, got)
			}
		})
	}
}

// If the outcome of a commit remains unknown, Update returns an error.
func TestCommitOfUnknownOutcomeIsUnavailable(t *testing.T) {
	c := &cable{after: true}
	d, err := db.Open(t.Context(), c.lay(t, dbtest.PostgresURL(t)), db.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c.cut.Store(1)
	runs := 0
	err = d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		runs++
		return add("a.example")(ctx, tx)
	})
	if !errors.Is(err, db.ErrUnavailable) || runs != 1 {
		t.Errorf("%v, %d runs, want the error %v and 1", err, runs, db.ErrUnavailable)
	}
}
