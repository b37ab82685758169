package blackbox_test

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// zeroMessage sorts before the identifier of every message.
var zeroMessage = "msg_" + strings.Repeat("0", 26)

func TestStreamsEndWithTheirCredential(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"account.token_ttl": "1h"})
	u := s.account("ann@example.org")
	k := s.key(u, fields{"expiresAt": s.Clock.Now().Add(time.Hour).Format(time.RFC3339)})
	box := s.create(u.Token, fields{"ttl": 86400})
	streams := []*apptest.Stream{s.OpenStream("/me/events", u.Token), s.OpenStream("/keys/events", k.Key)}
	lasting := s.OpenStream("/mailboxes/me/events", box.Token)
	s.Clock.Advance(time.Hour - time.Second)
	s.post(box, "before")
	for _, stream := range append(streams, lasting) {
		expectMessage(t, stream, "before")
	}
	s.Clock.Advance(2 * time.Second)
	s.post(box, "after")
	for _, stream := range streams {
		expectEnd(t, stream, "destroyed")
	}
	expectMessage(t, lasting, "after")
}

// A process that has lost its LISTEN connection hears of no mail that another one stores. What came meanwhile is reported once it
// listens again.
func TestStreamsMissNothingWhileListenIsLost(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	if !s.OnPostgres() {
		t.Skip("a process on SQLite listens to no other")
	}
	u := s.account("ann@example.org")
	boxes := []mailbox{s.create(u.Token, nil), s.create(u.Token, nil)}
	var ofAccount, ofMailbox []*apptest.Stream
	for range 2 { // one on each process
		ofAccount = append(ofAccount, s.OpenStream("/me/events", u.Token))
	}
	for range 2 {
		ofMailbox = append(ofMailbox, s.OpenStream("/mailboxes/me/events", boxes[0].Token))
	}
	d := s.Database()
	const listening = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
	eventually(t, "a connection that listens", func() bool {
		var n int
		err := d.QueryRowContext(t.Context(), "SELECT count(*) "+listening).Scan(&n)
		return err == nil && n > 0
	})
	for round := range 3 {
		var n int
		err := d.QueryRowContext(t.Context(), "SELECT count(pg_terminate_backend(pid)) "+listening).Scan(&n)
		if err != nil || round == 0 && n == 0 {
			t.Fatalf("%d connections that listen were ended, %v, want at least one", n, err)
		}
		for i := range 4 {
			s.post(boxes[i%2], fmt.Sprint(round, " ", i))
		}
		for i := range 4 {
			subject := fmt.Sprint(round, " ", i)
			for _, stream := range ofAccount {
				expectMessage(t, stream, subject)
			}
			if i%2 == 0 {
				for _, stream := range ofMailbox {
					expectMessage(t, stream, subject)
				}
			}
		}
	}
}

// A client that does not read its stream is disconnected after the write timeout, and until then costs what the kernel buffers for
// it: what is unsent is bounded.
func TestStalledReaderOfAStreamIsDisconnected(t *testing.T) {
	t.Parallel()
	const mails = 60
	s := start(t, settings{"limits.long_polls": "1", "limits.reads": "1000000/1m", "http.write_timeout": "10s"})
	m := s.create("", nil)
	emoji := strings.Repeat("😀", fieldMax)
	for range mails {
		s.Send(apptest.Mail{To: []string{m.Address}, Raw: longFields(emoji, emoji, 5)})
	}
	all := len(s.call("GET", "/mailboxes/me/messages?limit=100", m.Token, 200, "").Body)
	conn := s.idle("/mailboxes/me/events?after="+zeroMessage, m.Token)
	reader := bufio.NewReaderSize(conn, 16)
	if _, err := reader.ReadByte(); err != nil { // the stream has begun
		t.Fatal(err)
	}
	eventually(t, "the place of the stalled stream", func() bool {
		return s.Call("GET", "/mailboxes/me/events", m.Token, nil).Status == 200
	})
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	n, err := io.Copy(io.Discard, reader)
	if err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("after %d octets: %v, want the connection closed", n, err)
	}
	if n > int64(all)/2 && runtime.GOOS == "linux" {
		t.Errorf("%d octets of %d were sent or buffered for a client that does not read, want at most half", n, all)
	}
}
