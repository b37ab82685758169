package audit_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

func record(ctx context.Context, t *testing.T, d *db.DB, action, detail string) {
	t.Helper()
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	err := d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return audit.RecordTx(ctx, tx, now, action, "ada@example.org", detail)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestChangesAreRecordedWithTheirActor(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		record(t.Context(), t, d, "user.enable", "an owner's change")
		record(audit.As(t.Context(), audit.Command), t, d, "user.disable", "")
		record(audit.As(t.Context(), "staff@example.org"), t, d, "user.set-plan", strings.Repeat("é", 1500))
		log := audit.New(d)
		first, err := log.List(t.Context(), "", 1)
		if err != nil || len(first) != 1 {
			t.Fatalf("List of the first page = %v, %v, want one entry", first, err)
		}
		rest, err := log.List(t.Context(), first[0].ID, 10)
		if err != nil || len(rest) != 1 {
			t.Fatalf("List behind %s = %v, %v, want one entry", first[0].ID, rest, err)
		}
		for _, e := range append(first, rest...) {
			actor := map[string]string{"user.disable": audit.Command, "user.set-plan": "staff@example.org"}[e.Action]
			if e.Actor != actor || e.Target != "ada@example.org" || len(e.Detail) > 2000 {
				t.Errorf("the entry is %+v, want the actor %v, the target ada@example.org and at most 2000 octets of detail", e, actor)
			}
		}
	})
}

func TestDatabaseRefusesToChangeTheLog(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		record(audit.As(t.Context(), audit.Command), t, d, "user.disable", "")
		for _, statement := range []string{
			"UPDATE audit_log SET actor = 'x'",
			"DELETE FROM audit_log",
			"INSERT INTO audit_log (id, at, actor, action, target, detail) SELECT id, at, 'x', action, target, detail FROM audit_log",
		} {
			err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, statement)
				return err
			})
			if err == nil {
				t.Errorf("%s was executed, want an error", statement)
			}
		}
		if all, err := audit.New(d).List(t.Context(), "", 10); err != nil || len(all) != 1 || all[0].Actor != audit.Command {
			t.Errorf("List = %v, %v, want one entry of the actor %v", all, err, audit.Command)
		}
	})
}
