package system_test

import (
	"database/sql"
	"errors"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// TestFullDiskOfPostgres fills the file system of PostgreSQL's tables; its log is on another.
func TestFullDiskOfPostgres(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "tmpfs", 64<<20)
	tables := filepath.Join(disk, "tables")
	if err := errors.Join(os.Chmod(filepath.Dir(disk), 0o755), os.Mkdir(tables, 0o700), lend(disk), lend(tables)); err != nil {
		t.Skipf("give a folder to PostgreSQL: %v", err)
	}
	server := dbtest.StartServer(t, "fsync=off", "autovacuum=off")
	operator, err := sql.Open("pgx", server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	for _, statement := range []string{"CREATE TABLESPACE small LOCATION '" + tables + "'", "CREATE DATABASE gonebox TABLESPACE small"} {
		if _, err := operator.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("execute %s: %v", statement, err)
		}
	}
	s := start(t, options{set: map[string]string{
		"database.url": server.URL("gonebox"), "secrets.key": strings.Repeat("5e", 32), "mailbox.erase_every": "1s",
	}})
	box, ended := s.newMailbox(), s.newMailbox()
	taken := []string{}
	for _, subject := range []string{"first", "second"} {
		wantReply(t, "before", send(t, s.smtp, sampleMail(subject, "text"), box.Address), "250 ")
		taken = append(taken, subject)
	}
	filler := filepath.Join(disk, "filler")
	fillUp(t, filler)
	for i := 0; ; i++ { // there is room for some in pages that tables have
		subject := "full " + strconv.Itoa(i)
		reply := send(t, s.smtp, sampleMail(subject, strings.Repeat("words ", 2000)), box.Address)
		if !strings.HasPrefix(reply, "250 ") {
			wantReply(t, subject, reply, "452 4.3.1 ")
			break
		}
		taken = append(taken, subject)
	}
	s.wantFull()
	s.wantSubjects(box, taken...)
	all := s.messages(box)
	if got := s.read(box, all[len(all)-1].ID); !strings.Contains(got.Text, "text") {
		t.Errorf("the message read on a full disk is %.60q, want its text", got.Text)
	}
	for path, token := range map[string]string{"/messages/" + all[len(all)-2].ID: box.Token, "/mailboxes/me": ended.Token} {
		if status, body := s.call(http.MethodDelete, path, token, nil); status != http.StatusNoContent {
			t.Logf("DELETE %s on a full disk of PostgreSQL: %d %s", path, status, body) // it may need a page
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	await(t, "readiness with space again", s.ready)
	wantReply(t, "with space again", send(t, s.smtp, sampleMail("after", "after"), box.Address), "250 ")
	if got := s.messages(box)[0].Subject; got != "after" {
		t.Errorf(`the last message is %q, want "after"`, got)
	}
}

// lend gives a folder to the user that runs PostgreSQL in tests.
func lend(dir string) error {
	u, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return errors.Join(err1, err2, os.Chown(dir, uid, gid))
}
