package main

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

func TestMailsHaveTheirSizeAndMarks(t *testing.T) {
	for _, k := range []kind{small(), large()} {
		for _, form := range k.forms {
			text := form(k.size, 7)
			if d := len(text) - k.size; d < -100 || d > 100 {
				t.Errorf("%s has %d octets, want %d within 100", k.name, len(text), k.size)
			}
			if bytes.Contains(bytes.ReplaceAll(text, []byte("\r\n"), nil), []byte("\n")) {
				t.Errorf("%s: the mail has a line feed alone, want every line to end with CRLF", k.name)
			}
			for line := range bytes.Lines(text) {
				if len(line) > 998+len("\r\n") { // RFC 5322 §2.1.1
					t.Errorf("%s: a line of %d octets, want at most %v", k.name, len(line), 998+len("\r\n"))
				}
			}
			s := newStamped(stuffed(text))
			if len(s.codes) < 2 || len(s.serials) != 1 || len(s.addresses) != 2 {
				t.Errorf("%s: %d codes, %d serials, %d addresses to stamp, want at least 2 in codes, 1 in serials and 2 in addresses", k.name, len(s.codes), len(s.serials), len(s.addresses))
			}
		}
	}
}

func TestStampReplacesEveryMark(t *testing.T) {
	s := newStamped(textMail(4096, 3))
	m, err := mail.ReadMessage(bytes.NewReader(s.stamp(271828, 42, "box-0000017@gonebox.localhost")))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(m.Body)
	code, err := subjectCode(m.Header.Get("Subject"))
	if err != nil || code != 271828 || !bytes.Contains(body, []byte(" 271828\r\n")) {
		t.Errorf(`subject %q, error %v, body %.200q, want 271828 and " 271828\r\n" in it`, m.Header.Get("Subject"), err, body)
	}
	if to := m.Header.Get("To"); to != "<box-0000017@gonebox.localhost>" {
		t.Errorf(`To: %s, want "<box-0000017@gonebox.localhost>"`, to)
	}
	if id := m.Header.Get("Message-Id"); !strings.HasPrefix(id, "<0000000042.") {
		t.Errorf("Message-ID is %s, want <0000000042. at its beginning", id)
	}
}

func TestCodesHaveSixDigitsAndDoNotRepeat(t *testing.T) {
	seen := make(map[int]bool)
	for serial := range 900_000 {
		code := codeOf(serial)
		if code < 100_000 || code > 999_999 || seen[code] {
			t.Fatalf("codeOf(%d) = %d, want six digits that did not come before", serial, code)
		}
		seen[code] = true
	}
}

// The receiver accepts mail with a connection for each mail and with a connection that is kept.
func TestReceiverAcceptsMail(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { _ = serveGoSMTP(l) }() // ends with the listener
	for _, reuse := range []bool{false, true} {
		l := load{addrs: []string{l.Addr().String()}, boxes: []mailbox{{Address: addressMark}}, reuse: reuse, length: time.Minute, most: 3}
		for _, k := range []kind{small(), large()} {
			o, err := l.run(t.Context(), newSenders(k, 2))
			if err != nil || len(o.taken) != 6 {
				t.Errorf("%s: %d of 6 mails, %v, want 6 in taken", k.name, len(o.taken), err)
			}
		}
	}
}

func TestCallerReadsChunkedAndSizedBodies(t *testing.T) {
	long := strings.Repeat("0123456789", 5000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" { // net/http sends it in chunks
			_, _ = io.WriteString(w, long)
			return
		}
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short")
	}))
	defer s.Close()
	c, err := dial(t.Context(), s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.conn.Close()
	for range 2 {
		if status, err := c.do(request("GET", "/long", "", "")); err != nil || status != 200 || string(c.body) != long {
			t.Errorf("status %d, %d octets, %v, want 200 and body %v", status, len(c.body), err, long)
		}
		if status, err := c.do(request("GET", "/", "", "")); err != nil || status != 418 || string(c.body) != "short" {
			t.Errorf(`status %d, %q, %v, want 418 and body "short"`, status, c.body, err)
		}
	}
}

func TestQuantiles(t *testing.T) {
	for _, c := range []struct {
		s    series
		q    float64
		want float64
	}{
		{series{3, 1, 2}, 0.5, 2},
		{series{4, 1, 2, 3}, 0.5, 2.5},
		{series{1, 2, 3, 4, 5}, 1, 5},
		{series{7}, 0.99, 7},
	} {
		if got := c.s.quantile(c.q); got != c.want {
			t.Errorf("%v: quantile %v is %v, want %v", c.s, c.q, got, c.want)
		}
	}
	if !math.IsNaN(series(nil).median()) {
		t.Errorf("the median of an empty series is %v, want NaN", series(nil).median())
	}
}

func TestOnlyNamesParts(t *testing.T) {
	if o, err := parse([]string{"--only", "mail,growth", "--quick"}); err != nil || !o.only["growth"] || o.only["calls"] || !o.quick {
		t.Errorf("parse(--only mail,growth --quick) = %+v, %v, want those two parts and quick", o, err)
	}
	if _, err := parse([]string{"--only", "mails"}); err == nil || !strings.Contains(err.Error(), "polls") {
		t.Errorf(`error %v, want an error and "polls" in it`, err)
	}
}

// A server that does not offer PIPELINING gets one command at a time.
func TestClientWaitsWhereItMust(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan []string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var heard []string
		buffer := make([]byte, 4096)
		for _, reply := range []string{"220 hello\r\n", "250-hello\r\n250 SIZE 1000\r\n", "250 ok\r\n", "250 ok\r\n", "354 go on\r\n", "250 ok\r\n", "221 bye\r\n"} {
			_, _ = io.WriteString(conn, reply)
			n, _ := conn.Read(buffer)
			heard = append(heard, string(buffer[:n]))
		}
		got <- heard
	}()
	c, err := connect(t.Context(), l.Addr().String(), "client.example", bufio.NewReader(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.send([]byte("MAIL FROM:<a@b.example>\r\nRCPT TO:<c@d.example>\r\nDATA\r\n"), 1, []byte("text\r\n.\r\n"), true); err != nil {
		t.Fatal(err)
	}
	if err := c.bye(); err != nil {
		t.Fatal(err)
	}
	want := []string{"EHLO client.example\r\n", "MAIL FROM:<a@b.example>\r\n", "RCPT TO:<c@d.example>\r\n", "DATA\r\n", "text\r\n.\r\n", "QUIT\r\n", ""}
	if heard := <-got; !slices.Equal(heard, want) {
		t.Errorf("heard = %q, want %v", heard, want)
	}
}

// What a child has used counts while it runs and after it has ended.
func TestProcessCountsItsDescendants(t *testing.T) {
	const spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
	p, err := start(t.Context(), exec.Command("sh", "-c", "sh -c '"+spin+"'; sh -c '"+spin+"; sleep 60'; true"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	for begun := time.Now(); len(p.family()) < 3; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("the process has a family of %d after a minute, want at least 3", len(p.family()))
		}
	}
	family := p.family()
	used, err := p.cpu()
	own := ticks(family[0].stat[11]) + ticks(family[0].stat[12])
	if err != nil || used <= own {
		t.Errorf("%v of CPU time with descendants, %v without, %v; want more with them", used, own, err)
	}
	if peak, err := p.peak(); err != nil || peak < 1<<16 {
		t.Errorf("%d octets of memory, %v, want at least %v", peak, err, 1<<16)
	}
	for _, one := range family[1:] {
		_ = syscall.Kill(one.pid, syscall.SIGKILL)
	}
}

func TestSoakReadsMetricsAndTrends(t *testing.T) {
	const text = "# HELP go_goroutines Number.\ngo_goroutines 59\ngo_goroutines_more 3\nprocess_open_fds 1.2e+02\n"
	if n := metric(text, "process_open_fds"); n != 120 {
		t.Errorf("descriptors: %v, want 120", n)
	}
	if n := metric(text, "go_goroutines"); n != 59 {
		t.Errorf("goroutines: %v, want 59", n)
	}
	if !math.IsNaN(metric(text, "go_threads")) {
		t.Errorf("metric(go_threads) = %v, want NaN, since it is not there", metric(text, "go_threads"))
	}
	if s := (series{10, 11, 12, 13}); math.Abs(s.slope()-360) > 1e-6 { // one in ten seconds
		t.Errorf("slope() = %v, want 360 an hour", s.slope())
	}
}

func TestStockIsFilledAndExpires(t *testing.T) {
	dir := t.TempDir()
	dbtest.Prepare(t, filepath.Join(dir, "gonebox.db"))
	store, err := openStore(dir, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	exec := func(statement string, values ...any) {
		t.Helper()
		if _, err := store.ExecContext(t.Context(), statement, values...); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		exec(`INSERT INTO mailbox (id, address, local_part, domain, source, created_at, expires_at, epoch, message_count, unread_count, last_message_at, day, day_count)
			VALUES ($1, $2, $3, 'x', 'guest', 1, $4, 1, 0, 0, 0, 0, 0)`, i, boxName(i)+"@x", boxName(i), time.Now().Add(time.Hour).UnixMicro())
	}
	for i := range perBox {
		exec(`INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, internal, detail, crc)
			VALUES (0, $1, 1, 1, 0, 1, '', 1, '{}', '{}', '', 0)`, i)
	}
	exec("UPDATE mailbox SET message_count = $1 WHERE id = 0", perBox)
	if err := copyMessages(t.Context(), store, boxName(0)+"@x", false, t.Logf); err != nil {
		t.Fatal(err)
	}
	var messages, boxes int
	if err := store.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM mailbox WHERE message_count = $1)", perBox).Scan(&messages, &boxes); err != nil || messages != 10*perBox || boxes != 10 {
		t.Errorf("%d messages, %d mailboxes that count them, %v, want %v and 10", messages, boxes, err, 10*perBox)
	}
	if err := expireSome(t.Context(), store, expiring); err != nil {
		t.Fatal(err)
	}
	if n, err := expired(t.Context(), store); err != nil || n != 2 {
		t.Errorf("%d mailboxes expired, %v, want 2", n, err)
	}
}
