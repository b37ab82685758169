package message_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// The number rises while messages are stored, also for a process that stores none itself.
func TestInsertedRisesWithMail(t *testing.T) {
	s := newShelf(t, dbtest.OpenPostgres(t, db.Options{}))
	before, err := s.Inserted(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		s.fill(1, 1)
		now, err := s.Inserted(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now > before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("Inserted() = %d after more messages were stored, want more than %d", now, before)
		}
	}
}
