package datakey_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/datakey"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/token"
)

// masters returns the secrets after a number of rotations.
func masters(rotations int) token.Masters {
	var m token.Masters
	for i := range rotations + 1 {
		if m.Current != nil {
			m.Previous = append([][]byte{m.Current}, m.Previous...)
		}
		m.Current = bytes.Repeat([]byte{byte(i + 1)}, 32)
	}
	return m
}

func open(t *testing.T, d *db.DB, m token.Masters) []byte {
	t.Helper()
	key, err := datakey.Open(t.Context(), d, m)
	if err != nil || len(key) != 32 {
		t.Fatalf("a key of %d bytes, %v, want 32", len(key), err)
	}
	return key
}

func TestDataKeyStaysTheSameOverRotations(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		key := open(t, d, masters(0))
		if bytes.Equal(key, masters(0).Current) {
			t.Error("the data key of a new database is the master secret")
		}
		for _, m := range []token.Masters{masters(0), masters(1), {Current: masters(1).Current}, masters(5), {Current: masters(5).Current}} {
			if !bytes.Equal(open(t, d, m), key) {
				t.Errorf("the data key opened with %d earlier secrets differs from the one of the first start, want the same", len(m.Previous))
			}
		}
		if _, err := datakey.Open(t.Context(), d, masters(4)); !errors.Is(err, datakey.ErrSecret) {
			t.Errorf("with secrets from before the last rotation: %v, want the error %v", err, datakey.ErrSecret)
		}
		open(t, d, masters(5)) // the failure changed nothing
	})
}

func TestConcurrentFirstStartsShareOneDataKey(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		var keys [4][]byte
		var starts sync.WaitGroup
		for i := range keys {
			starts.Go(func() {
				var err error
				if keys[i], err = datakey.Open(t.Context(), d, masters(0)); err != nil {
					t.Error(err)
				}
			})
		}
		starts.Wait()
		for _, key := range keys[1:] {
			if !bytes.Equal(key, keys[0]) {
				t.Errorf("one start opened the data key %x, the first %x, want the same for all", key, keys[0])
			}
		}
	})
}

func TestReplacedDataKeyIsUsable(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		lost := open(t, d, masters(0))
		other := token.Masters{Current: masters(1).Current}
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return datakey.ReplaceTx(ctx, tx, other.Current) })
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(open(t, d, other), lost) {
			t.Error("after ReplaceTx, Open returned the lost data key, want the new one")
		}
	})
}
