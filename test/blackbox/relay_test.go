package blackbox_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// relayFixture is a service with a relay.
type relayFixture struct {
	*service
	relay *apptest.Relay
}

// startRelay starts a service with a relay, to which releases to ops@company.example are allowed.
func startRelay(t testing.TB, set settings) *relayFixture {
	t.Helper()
	r := apptest.NewRelay(t)
	own := settings{
		"relay.url": "smtp://" + r.Addr, "relay.from": "Gonebox <no-reply@box.example>", "relay.allow": "ops@company.example, *@team.example",
		"limits.release": "100000/1m",
	}
	maps.Copy(own, set)
	return &relayFixture{startAccounts(t, own), r}
}

// release asks for a message to be sent to an address.
func (f *relayFixture) release(id, credential, to string) apptest.Response {
	f.t.Helper()
	return f.Call(http.MethodPost, "/messages/"+id+"/release", credential, fields{"to": to})
}

// mails waits until the relay has n mails and returns them.
func (f *relayFixture) mails(n int) []apptest.Relayed {
	f.t.Helper()
	eventually(f.t, fmt.Sprintf("%d mails at the relay", n), func() bool { return len(f.relay.Mails()) >= n })
	return f.relay.Mails()
}

// received sends a mail to a mailbox and returns its message.
func (f *relayFixture) received(box mailbox, raw []byte) summary {
	f.t.Helper()
	return f.mail(box.box(), apptest.Mail{Raw: raw})
}

var listMail = crlf(
	"From: Shop <news@shop.example>",
	"To: Ada <ada@example.org>",
	"Subject: News",
	"Date: Sat, 14 Mar 2026 11:59:00 +0000",
	"Message-ID: <news-1@shop.example>",
	"List-Id: News <news.shop.example>",
	"List-Unsubscribe: <https://shop.example/u?x=1>",
	"List-Unsubscribe-Post: List-Unsubscribe=One-Click",
	"",
	"hello",
	".a line with a dot",
	".",
	"  ",
)

func TestReleasedMessageIsAsItWasReceived(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	box := f.create(u.Token, nil)
	m := f.received(box, listMail)
	answer := f.release(m.ID, box.Token, "ops@company.example")
	want(t, answer, 202, "")
	got := f.mails(1)[0]
	if got.From != "no-reply@box.example" || got.To != "ops@company.example" {
		t.Errorf("envelope of the released message: from %q to %q, want no-reply@box.example and ops@company.example", got.From, got.To)
	}
	added, found := bytes.CutSuffix(got.Data, listMail)
	if !found {
		t.Fatalf("the released message is\n%s\nwant it to end with the octets that were received:\n%s", got.Data, listMail)
	}
	header, err := mail.ReadMessage(bytes.NewReader(append(added, "\r\n"...)))
	if err != nil {
		t.Fatalf("the fields in front of the released message cannot be parsed: %v\n%s", err, added)
	}
	for name, want := range map[string]string{"Resent-From": `"Gonebox" <no-reply@box.example>`, "Resent-To": "ops@company.example", "Return-Path": "", "Authentication-Results": ""} {
		if got := header.Header.Get(name); got != want {
			t.Errorf("%s of the released message = %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"Resent-Date", "Resent-Message-Id", "Received"} {
		if header.Header.Get(name) == "" {
			t.Errorf("the released message has no %s, want it added:\n%s", name, added)
		}
	}
	if !bytes.HasPrefix(added, []byte("Resent-Date: ")) {
		t.Errorf("the released message begins with\n%s\nwant the Resent fields first", added)
	}
}

// relayLine is an entry of the delivery log.
type relayLine struct {
	Reply              int
	Code, Reason, From string
	MessageID, To      *string
	RemoteIP, Helo     string
}

// tries lists the entries of releases in the delivery log of a mailbox, the oldest first.
func (f *relayFixture) tries(box mailbox) []relayLine {
	f.t.Helper()
	var all []relayLine
	for _, e := range get[[]relayLine](f.service, "/mailboxes/me/deliveries", box.Token) {
		if e.To != nil {
			all = append([]relayLine{e}, all...)
		}
	}
	return all
}

func TestFailedReleaseIsTriedAgainUntilItSucceeds(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	box := f.create(u.Token, nil)
	m := f.received(box, listMail)
	f.relay.Reply("greeting", "554 5.3.2 not today")
	f.relay.Reply("RCPT", "451 4.7.1 try later")
	f.relay.Reply("content", "452 4.3.1 no space", "close")
	want(t, f.release(m.ID, box.Token, "ops@company.example"), 202, "")
	for n := 1; n <= 4; n++ {
		eventually(t, fmt.Sprintf("%d tries", n), func() bool { return len(f.tries(box)) == n })
		f.Clock.Advance(100 * time.Second * time.Duration(n*n)) // the first pause is shorter than 100 s
	}
	f.mails(1)
	eventually(t, "the last entry", func() bool { return len(f.tries(box)) == 5 })
	var replies []string
	for _, e := range f.tries(box) {
		replies = append(replies, fmt.Sprintf("%d %s", e.Reply, e.Code))
		if *e.To != "ops@company.example" || e.MessageID == nil || *e.MessageID != m.ID || e.From != "no-reply@box.example" {
			t.Errorf("an entry of the delivery log is %+v, want to ops@company.example, the message %s and from no-reply@box.example", e, m.ID)
		}
	}
	if got, want := strings.Join(replies, ", "), "451 4.7.0, 451 4.7.1, 452 4.3.1, 451 4.4.2, 250 2.0.0"; got != want {
		t.Errorf("the tries ended with %s, want %s", got, want)
	}
	f.Clock.Advance(time.Hour)
	if n := len(f.relay.Mails()); n != 1 {
		t.Errorf("the relay got %d mails, want 1", n)
	}
}

func TestPermanentRefusalIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"MAIL", "RCPT", "DATA", "content"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			f := startRelay(t, nil)
			u := f.account("ada@example.org")
			box := f.create(u.Token, nil)
			m := f.received(box, listMail)
			f.relay.Reply(stage, "550 5.7.1 no")
			want(t, f.release(m.ID, box.Token, "ops@company.example"), 202, "")
			eventually(t, "the try", func() bool { return len(f.tries(box)) == 1 })
			if e := f.tries(box)[0]; e.Reply != 550 || e.Code != "5.7.1" || e.Reason != "no" {
				t.Errorf("the entry of a release refused at %s = %+v, want 550 5.7.1 no", stage, e)
			}
			eventually(t, "an empty queue", func() bool { return f.rows("SELECT count(*) FROM outgoing_mail") == 0 })
			f.Clock.Advance(49 * time.Hour)
			if n := f.relay.Tries(); n != 1 {
				t.Errorf("the relay got %d mail transactions, want 1", n)
			}
		})
	}
}

// rows returns the number that a query has.
func (s *service) rows(query string, args ...any) (n int) {
	s.t.Helper()
	if err := s.Database().QueryRowContext(s.t.Context(), query, args...).Scan(&n); err != nil {
		s.t.Fatalf("query %s: got %v, want no error", query, err)
	}
	return n
}

func TestReleaseIsGivenUpAfterTwoDays(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"relay.url": "smtp://127.0.0.1:1"})
	u := f.account("ada@example.org")
	box := f.create(u.Token, fields{"ttl": 6 * 24 * 3600})
	m := f.received(box, listMail)
	want(t, f.release(m.ID, box.Token, "ops@company.example"), 202, "")
	eventually(t, "a try", func() bool { return len(f.tries(box)) == 1 })
	f.Clock.Advance(47 * time.Hour)
	eventually(t, "another try", func() bool {
		f.Clock.Advance(time.Second) // a try that the jump in time cut off begins again when its lease has ended
		all := f.tries(box)
		return len(all) > 1 && all[len(all)-1].Code == "4.4.2"
	})
	if n := f.rows("SELECT count(*) FROM outgoing_mail"); n != 1 {
		t.Fatalf("%d mails wait after 47 hours, want 1", n)
	}
	f.Clock.Advance(2 * time.Hour)
	eventually(t, "the end", func() bool {
		f.Clock.Advance(time.Second)
		all := f.tries(box)
		return len(all) > 0 && all[len(all)-1].Code == "5.4.7"
	})
	eventually(t, "an empty queue", func() bool { return f.rows("SELECT count(*) FROM outgoing_mail") == 0 })
	if n := f.rows("SELECT count(*) FROM outgoing_chunk"); n != 0 {
		t.Errorf("%d rows of content are left, want none", n)
	}
}

// A relay that accepts connections and says nothing delays no call.
func TestSilentRelayHoldsNobody(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	f.relay.Silence(true)
	u := f.account("ada@example.org")
	box := f.create(u.Token, nil)
	m := f.received(box, listMail)
	for range 50 {
		want(t, f.release(m.ID, box.Token, "ops@company.example"), 202, "")
	}
	f.received(f.create("", nil), listMail)
	want(t, f.Call(http.MethodGet, "/healthz", "", nil), 200, "")
	if err := f.Stop(); err != nil {
		t.Errorf("stop the service while the relay is silent: %v, want no error", err)
	}
}
