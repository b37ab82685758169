package blackbox_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// looking holds an engine's queries for what it stores.
type looking struct {
	tables  string // lists the tables
	columns string // lists the columns of a table, each as an expression of octets; the table's name is put in
	holds   string // whether an expression holds the octets of $1
}

func (s *service) looking() looking {
	if s.OnPostgres() {
		return looking{
			// Raw messages have a retention of their own; segments checks them.
			tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name NOT LIKE 'raw_message%'",
			columns: `SELECT CASE data_type WHEN 'bytea' THEN quote_ident(column_name) ELSE 'convert_to(' || quote_ident(column_name) || '::text, ''UTF8'')' END
				FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '%s'`,
			holds: "position(convert_to($1, 'UTF8') IN %s) > 0",
		}
	}
	return looking{
		tables:  "SELECT name FROM sqlite_master WHERE type = 'table'",
		columns: "SELECT 'CAST(' || name || ' AS BLOB)' FROM pragma_table_info('%s')",
		holds:   "instr(%s, CAST($1 AS BLOB)) > 0",
	}
}

// leftOf lists the rows that contain one of the values, over every column of every table.
func (s *service) leftOf(values ...string) (left []string) {
	s.t.Helper()
	d, look := s.Database(), s.looking()
	for _, table := range column(s.t, d, look.tables) {
		for _, expression := range column(s.t, d, fmt.Sprintf(look.columns, table)) {
			for _, value := range values {
				query := fmt.Sprintf("SELECT 1 FROM %s WHERE "+look.holds, table, expression)
				if n := len(column(s.t, d, query, value)); n > 0 {
					left = append(left, fmt.Sprintf("%d rows of %s.%s hold %q", n, table, expression, value))
				}
			}
		}
	}
	return left
}

// column reads the only column of a query.
func column(t testing.TB, d *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := d.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// erased waits until an ended mailbox is erased from storage. It moves the clock by the half minute that may be left
// until the next round of erasing.
func (s *service) erased(m mailbox) {
	s.t.Helper()
	d := s.Database()
	eventually(s.t, "erasing "+m.ID, func() bool {
		if len(column(s.t, d, "SELECT id FROM mailbox WHERE id = $1", m.ID)) == 0 {
			return true
		}
		s.nextRound()
		return false
	})
}

// nextRound moves the clock to the next scheduled round, once a round in progress has ended.
func (s *service) nextRound() { s.Clock.Advance(30 * time.Second) }

func TestEndedMailboxIsErased(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*service, mailbox){
		"destroyed": func(s *service, m mailbox) { s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "") },
		"expired":   func(s *service, _ mailbox) { s.Clock.Advance(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			key := s.startSession().Key
			m := s.create(key, body{"localPart": "unique-local-part"})
			for i := range 25 { // more than one batch
				s.Send(apptest.Mail{To: []string{m.Address}, Subject: fmt.Sprint("mail ", i), Raw: withAttachment("secret.txt", "c2VjcmV0")})
			}
			d := s.Database()
			names := []string{m.ID, m.Address, m.LocalPart}
			if len(s.leftOf(names...)) == 0 {
				t.Fatal("nothing is found of the mailbox before it ends, want its data, since the test proves nothing otherwise")
			}
			end(s, m)
			s.erased(m)
			for _, left := range s.leftOf(names...) {
				t.Errorf("%s is left of the mailbox, want nothing", left)
			}
			for _, table := range []string{"message", "attachment", "mailbox"} {
				if n := column(t, d, "SELECT count(*) FROM "+table); n[0] != "0" {
					t.Errorf("%s rows of %s are left, want 0", n[0], table)
				}
			}
		})
	}
}

// Half an hour later no segment holds a raw message of the mailbox.
func TestRawMessagesOfEndedMailboxAreErased(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Subject: "short-lived"}).ID
	s.call(http.MethodGet, "/messages/"+id+"/raw", m.Token, 200, "")
	if len(segments(t, s)) == 0 {
		t.Fatal("the service has no segment, want one with the raw message")
	}
	s.Clock.Advance(30 * time.Minute)
	eventually(t, "erasing the raw message", func() bool {
		s.nextRound()
		return len(segments(t, s)) == 0
	})
	s.call(http.MethodGet, "/messages/"+id+"/raw", m.Token, 410, "message.raw_expired")
	s.call(http.MethodGet, "/messages/"+id, m.Token, 200, "")
}

// segments lists the files of raw messages, or the rows that replace them in PostgreSQL.
func segments(t *testing.T, s *service) (files []string) {
	t.Helper()
	if s.OnPostgres() {
		return column(t, s.Database(), "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'raw_message'::regclass")
	}
	err := filepath.WalkDir(filepath.Join(s.Dir, "raw"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != "LOCK" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestDeletedMessageIsErased(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Raw: withAttachment("secret.txt", "c2VjcmV0")}).ID
	s.call(http.MethodDelete, "/messages/"+id, m.Token, 204, "")
	for _, left := range s.leftOf(id) {
		if !strings.Contains(left, "mail_delivery.") { // the delivery log says for 24 hours which message a mail became
			t.Errorf(`left of s.leftOf(id) = %v, want "mail_delivery." in it`, left)
		}
	}
}
