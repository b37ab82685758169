package system_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// TestNextVersionServesBesideThisOne replaces the processes on a PostgreSQL one by one with those of a version that has another migration,
// as docs/operating.md describes. The new version migrates while the processes of this one serve, and each version's mail, tokens and
// waits are the other's. A process of this version goes on until it is stopped, and cannot be started again.
func TestNextVersionServesBesideThisOne(t *testing.T) {
	t.Parallel()
	next := nextVersion(t)
	set := map[string]string{"database.url": dbtest.PostgresURL(t), "secrets.key": strings.Repeat("5e", 32)}
	first, second := start(t, options{set: maps.Clone(set)}), start(t, options{set: maps.Clone(set)})
	box := first.newMailbox()
	wantReply(t, "mail to a process of this version", send(t, first.smtp, sampleMail("before", "tkn-1-1-1."), box.Address), "250 ")

	third := start(t, options{set: maps.Clone(set), path: next})
	if code, _, text := command(t, "migrate", "--data-dir", t.TempDir(), "--set", "database.url="+set["database.url"], "--set", "secrets.key="+set["secrets.key"]); code != 1 || !strings.Contains(text, "run a newer gonebox") {
		t.Errorf("gonebox migrate of this version on a database of the next: status %d, %s, want 1 and what to run", code, text)
	}
	serveTogether(t, first, second, third)

	first.stop()
	if code, _, text := command(t, first.arguments()...); code != 1 || !strings.Contains(text, "run a newer gonebox") {
		t.Errorf("start of this version on a database of the next: status %d, %s, want 1 and what to run", code, text)
	}
	serveTogether(t, second, third)
	first.o.path = next
	first.restart()
	serveTogether(t, first, second, third)
	second.stop()
	second.o.path = next
	second.restart()
	serveTogether(t, first, second, third)
	first.wantSubjects(box, "before")
}

// serveTogether sends a mail to each process, and waits for it at all others, in a mailbox that one more of them made.
func serveTogether(t *testing.T, all ...*service) {
	t.Helper()
	for i, to := range all {
		made := all[(i+1)%len(all)].newMailbox()
		waits := make(map[*service]<-chan string)
		for _, at := range all {
			if !at.ready() {
				t.Errorf("process %d of %d is not ready beside the others, want it ready: %+v", i, len(all), at.probe())
			}
			waits[at] = at.longPoll(made)
		}
		wantReply(t, "mail to one of the processes", send(t, to.smtp, sampleMail("together", "tkn-1-1-1."), made.Address), "250 ")
		for at, answer := range waits {
			if got := <-answer; !strings.Contains(got, `"together"`) {
				t.Errorf("a wait at %s for mail to %s: %s, want the mail", at.url, to.smtp, got)
			}
		}
		for _, at := range all {
			at.wantSubjects(made, "together")
		}
	}
}

// nextVersion builds the program with a further migration and another version, and returns its path.
func nextVersion(t *testing.T) string {
	t.Helper()
	const migration = "ALTER TABLE message ADD COLUMN next TEXT NOT NULL DEFAULT '';\nCREATE TABLE next (id TEXT NOT NULL PRIMARY KEY);\n"
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	added, described := filepath.Join(dir, "next.sql"), filepath.Join(dir, "overlay.json")
	writeFile(t, added, []byte(migration))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "internal", "db", "migrations", "90001_next.sql"): added}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, described, overlay)
	path := filepath.Join(dir, "gonebox")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-overlay", described,
		"-ldflags", "-X github.com/gonebox/gonebox/internal/app.Version=9.0.0", "-o", path, "github.com/gonebox/gonebox/cmd/gonebox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program with another migration: %v\n%s", err, out)
	}
	return path
}
