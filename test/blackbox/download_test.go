package blackbox_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// bigMail is a mail of about n octets, half of which compress.
func bigMail(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("From: Sender <sender@example.org>\r\nSubject: big\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n")
	begin := b.Len()
	for b.Len() < min(n, 256<<10) {
		b.WriteString(strings.Repeat("all work and no play ", 3) + "\r\n")
		for range 64 {
			b.WriteByte(byte('!' + rng.IntN(90)))
		}
		b.WriteString("\r\n")
	}
	for block := bytes.Clone(b.Bytes()[begin:]); b.Len() < n; { // repeats itself only beyond the window of the compression
		b.Write(block)
	}
	return b.Bytes()
}

func TestLargeRawMessageIsUnchanged(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	for _, n := range []int{60_000, 70_000, 3 << 20} {
		raw := bigMail(n)
		id := s.mail(m.box(), apptest.Mail{Raw: raw}).ID
		a := s.call(http.MethodGet, "/messages/"+id+"/raw", m.Token, 200, "")
		if !bytes.Equal(behindTrace(t, a.Body), raw) || a.Header.Get("Content-Length") != fmt.Sprint(len(a.Body)) {
			t.Errorf("GET raw: %d octets with Content-Length %s, want the %d that were sent behind the trace fields", len(a.Body), a.Header.Get("Content-Length"), len(raw))
		}
	}
}

// damage changes an octet in the middle of the only large raw message in storage.
func (s *service) damage() {
	s.t.Helper()
	if s.OnPostgres() {
		result, err := s.Database().ExecContext(s.t.Context(), `UPDATE raw_message SET data = set_byte(data, 4000, get_byte(data, 4000) # 1)
			WHERE (slot, id) = (SELECT slot, id FROM raw_message ORDER BY slot, id OFFSET (SELECT count(*) / 2 FROM raw_message) LIMIT 1)`)
		if err != nil {
			s.t.Fatal(err)
		}
		if n, _ := result.RowsAffected(); n != 1 {
			s.t.Fatalf("%d rows were changed, want 1", n)
		}
		return
	}
	files, _ := filepath.Glob(filepath.Join(s.Dir, "raw", "*.segment"))
	if len(files) != 1 {
		s.t.Fatalf("the segments are %v, want one", files)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		s.t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(files[0], content, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// Octets of a raw message that differ from what was stored are never sent: the answer ends before them, short of its
// Content-Length.
func TestCorruptRawMessageIsCutOff(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	raw := bigMail(1 << 20)
	id := s.mail(m.box(), apptest.Mail{Raw: raw}).ID
	s.damage()
	r, err := s.Request(t.Context(), http.MethodGet, "/messages/"+id+"/raw", m.Token, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err == nil || int64(len(got)) >= res.ContentLength {
		t.Fatalf("GET raw of a corrupt message: %d octets of %d, %v, want fewer and an error", len(got), res.ContentLength, err)
	}
	if !bytes.HasPrefix(raw, behindTrace(t, got)) {
		t.Errorf("the octets before the cut are %.200q, want the beginning of what was sent", got)
	}
}

// idle is a client that requests something and reads nothing, with the smallest receive buffer that the system allows.
func (s *service) idle(path, token string) net.Conn {
	s.t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", u.Host)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(conn, "GET %s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", u.Path, path, u.Host, token)
	return conn
}

// memory is how many octets the service has reserved for answers, in the process whose metrics the test can read.
func (s *service) memory() int64 {
	return int64(s.metric(`gonebox_memory_used_bytes{kind="response"}`))
}

// until waits for what happens soon.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	giveUp := time.NewTimer(patience)
	defer giveUp.Stop()
	for !done() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-giveUp.C:
			t.Fatalf("waited in vain, want this to hold: %s", what)
		}
	}
}

func TestUnreadDownloadBuffersOneChunk(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	if s.OnPostgres() {
		t.Skip("the metrics are those of one of its processes")
	}
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Raw: bigMail(20 << 20)}).ID
	const clients = 20
	for range clients {
		s.idle("/messages/"+id+"/raw", m.Token)
	}
	const chunk = 64 << 10
	until(t, "all downloads begin", func() bool {
		used := s.memory()
		if used > clients*chunk {
			t.Fatalf("%d octets are held, want at most %v", used, clients*chunk)
		}
		return used == clients*chunk
	})
}

func TestUnreadDownloadTimesOut(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"http.write_timeout": "2s"})
	if s.OnPostgres() {
		t.Skip("the metrics are those of one of its processes")
	}
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Raw: bigMail(20 << 20)}).ID
	conn := s.idle("/messages/"+id+"/raw", m.Token)
	if status, err := bufio.NewReaderSize(conn, 16).ReadSlice(' '); err != nil || string(status) != "HTTP/1.1 " { // it has begun
		t.Fatalf("the status line begins with %q, %v, want HTTP/1.1", status, err)
	}
	until(t, "the download ends", func() bool { return s.memory() == 0 })
}
