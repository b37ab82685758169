package blackbox_test

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// randomBytes returns n octets that do not compress.
func randomBytes(seed uint64, octets int) []byte {
	data := make([]byte, octets)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(data)
	return data
}

// withFiles is a mail with a text and attachments.
func withFiles(text string, files ...[]byte) []byte {
	var b bytes.Buffer
	b.WriteString("From: Sender <sender@example.org>\r\nSubject: files\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain\r\n\r\n" + text + "\r\n")
	for i, f := range files {
		fmt.Fprintf(&b, "--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=%d.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n", i)
		for rest := f; len(rest) > 0; {
			line := rest[:min(57, len(rest))]
			b.WriteString(base64.StdEncoding.EncodeToString(line) + "\r\n")
			rest = rest[len(line):]
		}
	}
	b.WriteString("--b--\r\n")
	return b.Bytes()
}

// received returns the only message of a mailbox, in full.
func (s *service) received(m mailbox) message {
	s.t.Helper()
	list := get[[]summary](s, "/mailboxes/me/messages", m.Token)
	if len(list) != 1 {
		s.t.Fatalf("%d messages in %s, want 1", len(list), m.Address)
	}
	return get[message](s, "/messages/"+list[0].ID, m.Token)
}

// wantFiles downloads the attachments of the only message of a mailbox and compares them.
func (s *service) wantFiles(m mailbox, files ...[]byte) {
	s.t.Helper()
	full := s.received(m)
	if len(full.Attachments) != len(files) {
		s.t.Fatalf("%d attachments in %s, want %d", len(full.Attachments), m.Address, len(files))
	}
	for i, a := range full.Attachments {
		got := s.call(http.MethodGet, "/messages/"+full.ID+"/attachments/"+a.ID, m.Token, 200, "").Body
		if !bytes.Equal(got, files[i]) {
			s.t.Errorf("attachment %d of %s: %d octets, want %d", i, m.Address, len(got), len(files[i]))
		}
	}
}

// wantCounts counts rows.
func (s *service) wantCounts(d *sql.DB, want map[string]int) {
	s.t.Helper()
	for table, n := range want {
		if got := column(s.t, d, "SELECT count(*) FROM "+table); got[0] != fmt.Sprint(n) {
			s.t.Errorf("%s rows of %s, want %d", got[0], table, n)
		}
	}
}

// stored is the size of the database in octets.
func (s *service) stored(d *sql.DB) (octets int64) {
	s.t.Helper()
	if s.OnPostgres() {
		if err := d.QueryRowContext(s.t.Context(), "SELECT pg_database_size(current_database())").Scan(&octets); err != nil {
			s.t.Fatal(err)
		}
		return octets
	}
	files, err := filepath.Glob(filepath.Join(s.Dir, "gonebox.db*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			octets += info.Size()
		}
	}
	return octets
}

// A mail within every limit, ten files for a hundred recipients, is stored once.
func TestLargeMailToManyIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := s.Database()
	var boxes []mailbox
	var to []string
	for range 100 {
		m := s.create("", nil)
		boxes, to = append(boxes, m), append(to, m.Address)
	}
	var files [][]byte
	for i := range 10 {
		files = append(files, randomBytes(uint64(i), 1_750_000))
	}
	raw := withFiles("ten files", files...)
	before := s.stored(d)
	s.Send(apptest.Mail{To: to, Raw: raw})
	if grown := s.stored(d) - before; grown > 5*int64(len(raw)) { // on PostgreSQL the raw message is in it, too, and on SQLite the log
		t.Errorf("the database has grown by %d octets for a mail of %d, want at most %v", grown, len(raw), 5*int64(len(raw)))
	}
	s.wantCounts(d, map[string]int{"blob": 11, "blob WHERE refs = 100": 11, "blob_stage": 0, "attachment": 1000, "message": 100})
	s.wantFiles(boxes[0], files...)
	s.wantFiles(boxes[99], files...)

	for _, m := range boxes[:99] {
		s.call(http.MethodDelete, "/messages/"+s.received(m).ID, m.Token, 204, "")
	}
	s.wantCounts(d, map[string]int{"blob WHERE refs = 1": 11, "attachment": 10})
	s.wantFiles(boxes[99], files...)
	s.call(http.MethodDelete, "/mailboxes/me", boxes[99].Token, 204, "")
	s.erased(boxes[99])
	s.wantCounts(d, map[string]int{"blob": 0, "blob_chunk": 0, "attachment": 0, "message": 0})
}

// A thousand small parts do not become a thousand rows for each recipient.
func TestSmallAttachmentsShareABlob(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := s.Database()
	a, b, c := s.create("", nil), s.create("", nil), s.create("", nil)
	var files [][]byte
	for i := range 200 {
		files = append(files, randomBytes(uint64(i), i%100*20))
	}
	files[77] = randomBytes(77, 200_000)
	s.Send(apptest.Mail{To: []string{a.Address, b.Address, c.Address}, Raw: withFiles("many files", files...)})
	s.wantCounts(d, map[string]int{"blob": 2, "attachment": 3})
	s.wantFiles(a, files...)
	s.call(http.MethodDelete, "/messages/"+s.received(a).ID, a.Token, 204, "")
	s.wantFiles(c, files...)
	if full := s.received(b); full.Text != "many files" {
		t.Errorf(`the text is %q, want Text "many files"`, full.Text)
	}
}

func TestEqualContentIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := s.Database()
	a, b := s.create("", nil), s.create("", nil)
	same, other := randomBytes(1, 3_000_000), randomBytes(2, 200_000)
	s.Send(apptest.Mail{To: []string{a.Address}, Raw: withFiles("first", same, same)}) // large: staged
	s.Send(apptest.Mail{To: []string{b.Address}, Raw: withFiles("second", same, other)})
	s.wantCounts(d, map[string]int{"blob": 2, "blob WHERE refs = 3": 1, "attachment": 4, "blob_stage": 0})
	s.wantFiles(a, same, same)
	s.call(http.MethodDelete, "/messages/"+s.received(a).ID, a.Token, 204, "")
	s.wantCounts(d, map[string]int{"blob WHERE refs = 1": 2})
	s.wantFiles(b, same, other)
	s.call(http.MethodDelete, "/messages/"+s.received(b).ID, b.Token, 204, "")
	s.wantCounts(d, map[string]int{"blob": 0, "blob_chunk": 0})
}

func TestLongTextIsShared(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := s.Database()
	a, b := s.create("", nil), s.create("", nil)
	text := strings.Repeat("Grüße, long enough to be a blob. ", 40_000) // longer than a chunk, and a large mail
	raw := crlf("From: sender@example.org", "Subject: long", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit", "", text)
	s.Send(apptest.Mail{To: []string{a.Address, b.Address}, Raw: raw})
	s.wantCounts(d, map[string]int{"blob WHERE refs = 2": 1})
	for _, m := range []mailbox{a, b} {
		if got := s.received(m).Text; strings.TrimSpace(got) != strings.TrimSpace(text) {
			t.Errorf("%s: %d characters, want %d", m.Address, len(got), len(text))
		}
	}
}

// A mail that is staged and then refused leaves nothing.
func TestRefusedLargeMailLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"plans.guest.mail.daily.max": "2"})
	d := s.Database()
	m := s.create("", nil)
	// Both mails are accepted at RCPT and staged, since neither is counted yet; there is room for one.
	s.Send(apptest.Mail{To: []string{m.Address}, Subject: "the first"})
	taken := make(chan error)
	for i := range 3 {
		go func() {
			taken <- s.TrySend(apptest.Mail{To: []string{m.Address}, Raw: withFiles("large", randomBytes(uint64(i), 1_500_000))})
		}()
	}
	accepted := 0
	for range 3 {
		if err := <-taken; err == nil {
			accepted++
		}
	}
	if accepted != 1 {
		t.Errorf("%d large mails were accepted, want 1", accepted)
	}
	s.wantCounts(d, map[string]int{"blob": 1, "blob_stage": 0, "attachment": 1})
}

// What a process had stored of a mail when it crashed is removed.
func TestContentOfDeadProcessIsRemoved(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := s.Database()
	for _, statement := range []string{
		"INSERT INTO blob (hash, refs, size) VALUES ($1, 1, 3)", "INSERT INTO blob_chunk (hash, number, crc, data) VALUES ($1, 0, 1, $1)",
		"INSERT INTO blob_stage (id, hash, created_at) VALUES ('dead', $1, " + fmt.Sprint(s.Clock.Now().UnixMicro()) + ")",
	} {
		if _, err := d.ExecContext(t.Context(), statement, []byte("left by a dead process")); err != nil {
			t.Fatal(err)
		}
	}
	s.Clock.Advance(14 * time.Minute)
	s.wantCounts(d, map[string]int{"blob": 1, "blob_stage": 1})
	s.Clock.Advance(2 * time.Minute)
	eventually(t, "removing what was staged", func() bool {
		s.nextRound()
		return column(t, d, "SELECT count(*) FROM blob_stage")[0] == "0"
	})
	s.wantCounts(d, map[string]int{"blob": 0, "blob_chunk": 0})
}

// flip changes an octet in the middle of a value, directly in the database, in the row that a condition selects.
func flip(t *testing.T, d *sql.DB, table, column, where string) {
	t.Helper()
	var value []byte
	if err := d.QueryRowContext(t.Context(), "SELECT "+column+" FROM "+table+" WHERE "+where).Scan(&value); err != nil {
		t.Fatalf("%s of %s: %v", column, table, err)
	}
	value[len(value)/2] ^= 0x10
	if _, err := d.ExecContext(t.Context(), "UPDATE "+table+" SET "+column+" = $1 WHERE "+where, value); err != nil {
		t.Fatal(err)
	}
}

func TestCorruptContentIsDetected(t *testing.T) {
	t.Parallel()
	large, small := randomBytes(1, 300_000), randomBytes(2, 3000)
	for name, c := range map[string]struct {
		recipients    int
		table, column string
		where         string
		file          int // that is damaged; -1: the text
	}{
		"a text in its row":           {1, "message", "detail", "mailbox_id = '%s'", -1},
		"an attachment in its row":    {1, "attachment", "data", "mailbox_id = '%s' AND blob IS NULL", 1},
		"a large attachment":          {1, "blob_chunk", "data", "number = 3 AND '%s' <> ''", 0},
		"a shared text":               {8, "blob_chunk", "data", "hash = (SELECT blob FROM message WHERE mailbox_id = '%s')", -1},
		"the end of a large one of 2": {2, "blob_chunk", "data", "number = 4 AND '%s' <> ''", 0},
	} {
		t.Run(name, func(t *testing.T) {
			log := new(apptest.Buffer)
			s := startWith(t, apptest.Options{Log: log})
			d := s.Database()
			var boxes []mailbox
			var to []string
			for range c.recipients {
				m := s.create("", nil)
				boxes, to = append(boxes, m), append(to, m.Address)
			}
			s.Send(apptest.Mail{To: to, Raw: withFiles("This is the text.", large, small)})
			m := boxes[0]
			whole := s.received(m)
			flip(t, d, c.table, c.column, fmt.Sprintf(c.where, m.ID))
			path := "/messages/" + whole.ID
			if c.file < 0 {
				s.call(http.MethodGet, path, m.Token, 500, "server.internal")
			} else {
				s.call(http.MethodGet, path+"/attachments/"+whole.Attachments[c.file].ID, m.Token, 500, "server.internal")
				s.call(http.MethodGet, path+"/attachments/"+whole.Attachments[1-c.file].ID, m.Token, 200, "")
				s.call(http.MethodGet, path, m.Token, 200, "")
			}
			eventually(t, "a line in the log", func() bool { return strings.Contains(log.String(), "stored content is damaged") })
			s.call(http.MethodGet, "/mailboxes/me/messages", m.Token, 200, "")
			s.call(http.MethodGet, path+"/raw", m.Token, 200, "")
			s.call(http.MethodDelete, path, m.Token, 204, "")
			s.call(http.MethodGet, path, m.Token, 404, "message.not_found")
			if len(boxes) == 1 {
				s.wantCounts(d, map[string]int{"message": 0, "attachment": 0, "blob": 0, "blob_chunk": 0})
			}
		})
	}
}
