package blob_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "10"); err != nil { // each is many transactions; a flag asks for more
		panic(err)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// content is the n-th of the contents that the tests store: of no octets, and below, at and above the size of a chunk.
func content(n int) []byte {
	sizes := []int{0, 8, 1000, 64 << 10, 64<<10 + 1, 300_000}
	size := sizes[n%len(sizes)]
	return bytes.Repeat(fmt.Appendf(nil, "%8d", n), 1+size/8)[:size]
}

func contentOf(n int) blob.Content {
	return blob.Content{Key: blob.KeyOf(content(n)), Data: content(n)}
}

func prepare(n int) blob.Blob {
	b, _ := blob.Pack(nil, contentOf(n))
	return b
}

// random is content that compression leaves as large as it is.
func random(seed uint64, octets int) blob.Content {
	data := make([]byte, octets)
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return blob.Content{Key: blob.KeyOf(data), Data: data}
}

// holder is a message with attachments, each of which refers to a blob.
type holder struct {
	message  string
	contents []int
}

const (
	insertMessage = `INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, internal, detail, crc, blob)
		VALUES ('box', $1, 0, 0, 0, 0, '', 0, '{}', '{}', $2, 0, $3)`
	insertAttachment = "INSERT INTO attachment (mailbox_id, message_id, id, data, crc, blob) VALUES ('box', $1, $2, $3, 0, $4)"
)

// insertTx stores holders, all of whose contents are added in one call.
func insertTx(ctx context.Context, tx *db.Tx, holders ...holder) error {
	var refs blob.References
	for _, h := range holders {
		for i, n := range h.contents {
			b := prepare(n)
			refs.Add(b, 1)
			if i == 0 {
				if err := tx.Queue(ctx, insertMessage, h.message, []byte{}, b.Key[:]); err != nil {
					return err
				}
				continue
			}
			if err := tx.Queue(ctx, insertAttachment, h.message, fmt.Sprint(i), []byte{}, b.Key[:]); err != nil {
				return err
			}
		}
	}
	return blob.InsertTx(ctx, tx, &refs)
}

const selectBlobs = "SELECT blob FROM message WHERE id = $1 UNION ALL SELECT blob FROM attachment WHERE message_id = $1"

func deleteTx(ctx context.Context, tx *db.Tx, message string) error {
	if err := blob.LockTx(ctx, tx, selectBlobs, message); err != nil {
		return err
	}
	for _, table := range []string{"attachment WHERE message_id", "message WHERE id"} {
		if err := tx.Queue(ctx, "DELETE FROM "+table+" = $1", message); err != nil {
			return err
		}
	}
	return nil
}

func deleteAll(ctx context.Context, tx *db.Tx) error {
	for _, table := range []string{"attachment", "message"} {
		if _, err := tx.Exec(ctx, "DELETE FROM "+table); err != nil {
			return err
		}
	}
	return nil
}

// check fails the test unless exactly the contents of the holders are stored, each with the right count.
func check(t rapid.TB, d *db.DB, holders []holder) {
	t.Helper()
	ctx := context.Background()
	want := make(map[blob.Key]int64)
	for _, h := range holders {
		for _, n := range h.contents {
			b := prepare(n)
			if want[b.Key]++; want[b.Key] > 1 {
				continue
			}
			if data, err := blob.Read(ctx, d, b.Key, 0, 1<<40); err != nil || !bytes.Equal(data, content(n)) {
				t.Fatalf("Read of content %d = %d octets, %v, want the %d octets that were stored", n, len(data), err, len(content(n)))
			}
		}
	}
	type row struct {
		key  []byte
		refs int64
	}
	stored, err := db.Collect(ctx, d, func(r db.Row) (v row, err error) { return v, r.Scan(&v.key, &v.refs) }, "SELECT hash, refs FROM blob")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range stored {
		if want[blob.Key(r.key)] != r.refs {
			t.Errorf("blob %x counts %d references, want %d", r.key, r.refs, want[blob.Key(r.key)])
		}
	}
	if len(stored) != len(want) {
		t.Errorf("%d blobs are stored, want %d", len(stored), len(want))
	}
	var orphans int
	if err := d.QueryRow(ctx, "SELECT count(*) FROM blob_chunk WHERE hash NOT IN (SELECT hash FROM blob)").Scan(&orphans); err != nil || orphans > 0 {
		t.Errorf("%d chunks belong to no blob, %v, want none and no error", orphans, err)
	}
}

func TestReferencesAreCountedExactly(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		last := 0
		rapid.Check(t, func(t *rapid.T) {
			var live []holder
			update := func(fn func(ctx context.Context, tx *db.Tx) error) {
				if err := d.Update(context.Background(), fn); err != nil {
					t.Fatal(err)
				}
			}
			update(deleteAll) // what a failed run left
			t.Repeat(map[string]func(*rapid.T){
				"insert": func(t *rapid.T) {
					var added []holder
					for range rapid.IntRange(1, 4).Draw(t, "messages") {
						last++
						contents := rapid.SliceOfN(rapid.IntRange(0, 11), 1, 5).Draw(t, "contents")
						added = append(added, holder{fmt.Sprint(last), contents})
					}
					update(func(ctx context.Context, tx *db.Tx) error { return insertTx(ctx, tx, added...) })
					live = append(live, added...)
				},
				"roll back": func(t *rapid.T) {
					failed := errors.New("failed")
					err := d.Update(context.Background(), func(ctx context.Context, tx *db.Tx) error {
						last++
						return errors.Join(insertTx(ctx, tx, holder{fmt.Sprint(last), []int{rapid.IntRange(0, 11).Draw(t, "content")}}), failed)
					})
					if !errors.Is(err, failed) {
						t.Fatalf("Update = %v, want the error %v", err, failed)
					}
				},
				"delete": func(t *rapid.T) {
					for range rapid.IntRange(0, len(live)).Draw(t, "messages") {
						i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
						update(func(ctx context.Context, tx *db.Tx) error { return deleteTx(ctx, tx, live[i].message) })
						live = slices.Delete(live, i, i+1)
					}
				},
				"": func(t *rapid.T) { check(t, d, live) },
			})
			update(deleteAll)
			check(t, d, nil)
		})
	})
}

// TestConcurrentReferencesAreCountedExactly has several goroutines insert and delete messages that share contents, as two batches
// of mail and the erasure of mailboxes do on PostgreSQL.
func TestConcurrentReferencesAreCountedExactly(t *testing.T) {
	const workers, rounds = 6, 40
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		left := make([][]holder, workers)
		var group sync.WaitGroup
		for w := range workers {
			group.Go(func() { left[w] = churn(t, d, w, rounds) })
		}
		group.Wait()
		check(t, d, slices.Concat(left...))
		if d.Engine() == db.SQLite {
			return
		}
		var deadlocks int
		if err := d.QueryRow(t.Context(), "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").Scan(&deadlocks); err != nil || deadlocks > 0 {
			t.Errorf("%d deadlocks, %v, want 0", deadlocks, err)
		}
	})
}

// churn inserts messages with some of a few contents, deletes most of them, and returns the others.
func churn(t *testing.T, d *db.DB, worker, rounds int) (live []holder) {
	random := rand.New(rand.NewPCG(1, uint64(worker)))
	for round := range rounds {
		var added []holder
		for i := range 1 + random.IntN(3) {
			added = append(added, holder{fmt.Sprintf("%d/%d/%d", worker, round, i), random.Perm(6)[:1+random.IntN(5)]})
		}
		err := d.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error { return insertTx(ctx, tx, added...) }, nil)
		if err != nil {
			t.Error(err)
			return live
		}
		live = append(live, added...)
		for len(live) > 0 && random.IntN(10) > 0 {
			i := random.IntN(len(live))
			err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return deleteTx(ctx, tx, live[i].message) })
			if err != nil {
				t.Error(err)
				return live
			}
			live = slices.Delete(live, i, i+1)
		}
	}
	return live
}

func TestDamageIsDetected(t *testing.T) {
	const n = 5 // several chunks
	for name, damage := range map[string]string{
		"an octet":        "UPDATE blob_chunk SET data = $1 WHERE number = 1",
		"the first chunk": "DELETE FROM blob_chunk WHERE number = 0 AND data <> $1",
		"a chunk between": "DELETE FROM blob_chunk WHERE number = 1 AND data <> $1",
		"the last chunk":  "DELETE FROM blob_chunk WHERE number = 4 AND data <> $1",
		"an empty chunk":  "UPDATE blob_chunk SET data = '', crc = 0 WHERE number = 4 AND data <> $1",
		"the size":        "UPDATE blob SET size = size - 1 WHERE hash <> $1",
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Run(t, func(t *testing.T, d *db.DB) {
				key := prepare(n).Key
				err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
					if err := insertTx(ctx, tx, holder{"1", []int{n}}); err != nil {
						return err
					}
					var chunk []byte
					if err := tx.QueryRow(ctx, "SELECT data FROM blob_chunk WHERE number = 1").Scan(&chunk); err != nil {
						return err
					}
					chunk[len(chunk)/2] ^= 0x10
					changed, err := tx.Exec(ctx, damage, chunk)
					if changed != 1 {
						t.Errorf("%d rows changed, want 1", changed)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := blob.Read(t.Context(), d, key, 0, 1<<40); !errors.Is(err, blob.ErrDamaged) {
					t.Errorf("read: %v, want the error %v", err, blob.ErrDamaged)
				}
				if err := blob.Verify(t.Context(), d, key, 0, int64(len(content(n)))); !errors.Is(err, blob.ErrDamaged) {
					t.Errorf("verify: %v, want the error %v", err, blob.ErrDamaged)
				}
				if _, err := io.Copy(io.Discard, blob.NewReader(t.Context(), d, key, 0, int64(len(content(n))))); !errors.Is(err, blob.ErrDamaged) {
					t.Errorf("stream: %v, want the error %v", err, blob.ErrDamaged)
				}
			})
		})
	}
}

func TestReadReadsOnlyThePart(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return insertTx(ctx, tx, holder{"1", []int{5, 0}})
		}); err != nil {
			t.Fatal(err)
		}
		key, whole := prepare(5).Key, content(5)
		size := int64(len(whole))
		for _, part := range [][2]int64{{0, 10}, {0, size}, {64 << 10, 1}, {64<<10 - 1, 2}, {size - 1, 1}, {70_000, 200_000}, {10, 0}} {
			want := whole[part[0] : part[0]+part[1]]
			got, err := blob.Read(t.Context(), d, key, part[0], part[1])
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("Read of the part %v = %d octets, %v, want the %d octets of the part", part, len(got), err, len(want))
			}
			if err := blob.Verify(t.Context(), d, key, part[0], part[1]); err != nil {
				t.Errorf("Verify of the part %v: %v", part, err)
			}
			if err := iotest.TestReader(blob.NewReader(t.Context(), d, key, part[0], part[1]), want); err != nil {
				t.Errorf("read the part %v by the reader: %v", part, err)
			}
		}
		for _, key := range []blob.Key{key, prepare(0).Key} {
			if got, err := blob.Read(t.Context(), d, key, size, 10); err != nil || len(got) > 0 {
				t.Errorf("Read behind the end = %d octets, %v, want none", len(got), err)
			}
			if err := blob.Verify(t.Context(), d, key, size-5, 10); !errors.Is(err, blob.ErrDamaged) {
				t.Errorf("more than there is: %v, want the error %v", err, blob.ErrDamaged)
			}
		}
	})
}

func TestAnUnknownKeyIsNotFound(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		if _, err := blob.Read(t.Context(), d, blob.KeyOf(nil), 0, 1); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("Read of an unknown key = %v, want the error %v", err, blob.ErrNotFound)
		}
	})
}
