package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// The bounds of docs/spec/messages.md#summary-and-full-message.
const (
	fieldMax = 998
	pageMax  = 3 << 19
	eventMax = 64 << 10
)

// longFields is a mail with a code whose subject, sender's name and recipients are long and expand in JSON.
func longFields(subject, name string, recipients int) []byte {
	to := make([]string, recipients)
	for i := range to {
		to[i] = fmt.Sprintf("\"%s\" <recipient-%d@example.org>", name, i)
	}
	return crlf("From: \""+name+"\" <sender@example.org>", "To: "+strings.Join(to, ",\r\n "), "Subject: "+subject,
		"Date: Sat, 14 Mar 2026 11:59:00 +0000", "Message-ID: <long@example.org>", "Content-Type: text/plain; charset=utf-8", "",
		"Your verification code is 482913.")
}

func wantCut(t *testing.T, what, got, whole string) {
	t.Helper()
	if got == whole || !strings.HasPrefix(whole, got) || !utf8.ValidString(got) || utf8.RuneCountInString(got) != fieldMax {
		t.Errorf("%s has %d code points, %q…, want the first %d of the whole", what, utf8.RuneCountInString(got), got[:min(len(got), 20)], fieldMax)
	}
}

func TestLongFieldsAreCutInSummariesAndEvents(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "message.received", "otp.extracted")
	m := s.create(u.Token, body{"ttl": 3600})
	subject, name := "Code: "+strings.Repeat("<ü&😀>", 50_000), strings.Repeat("<Björn>", 300)
	s.Send(apptest.Mail{To: []string{m.Address}, Raw: longFields(subject, name, 20)})

	list := get[[]summary](s, "/mailboxes/me/messages", m.Token)
	wantCut(t, "subject", list[0].Subject, subject)
	wantCut(t, "name", list[0].From.Name, name)
	wantCut(t, "recipient's name", list[0].To[0].Name, name)
	if list[0].OTP == nil {
		t.Fatal("the summary has no code, want one")
	}
	latest := get[code](s, "/mailboxes/me/otp/latest", m.Token)
	wantCut(t, "the code's subject", latest.Subject, subject)

	full := get[message](s, "/messages/"+list[0].ID, m.Token)
	if full.Subject != subject || full.From.Name != name || len(full.To) != 20 || full.To[19].Name != name || full.OTP.Subject != subject {
		t.Errorf("the full message has a subject of %d octets, a name of %d and %d recipients, want both whole, 20 recipients, and the subject with the code", len(full.Subject), len(full.From.Name), len(full.To))
	}

	all := arrived(t, r, 3) // with the ping
	for _, d := range all {
		if len(d.Body) > eventMax {
			t.Errorf("an event has %d octets, want at most %d", len(d.Body), eventMax)
		}
	}
	of := s.eventsByType(h, all)
	var received summary
	if err := json.Unmarshal(of["message.received"][0].Data, &received); err != nil {
		t.Fatal(err)
	}
	wantCut(t, "subject of the event", received.Subject, subject)
	var extracted code
	if err := json.Unmarshal(of["otp.extracted"][0].Data, &extracted); err != nil {
		t.Fatal(err)
	}
	wantCut(t, "subject of the event of the code", extracted.Subject, subject)
}

func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	const mails = 60
	raw := longFields(strings.Repeat("\U0001F600", 10_000), strings.Repeat("😀", 998), 20)
	for range mails {
		s.Send(apptest.Mail{To: []string{m.Address}, Raw: raw})
		s.Clock.Advance(time.Millisecond)
	}
	seen := 0
	for query := "limit=100"; ; {
		a := s.call(http.MethodGet, "/mailboxes/me/messages?"+query, m.Token, 200, "")
		if len(a.Body) > pageMax {
			t.Errorf("a page has %d octets, want at most %d", len(a.Body), pageMax)
		}
		var p page
		if err := json.Unmarshal(a.Body, &p); err != nil {
			t.Fatal(err)
		}
		seen += len(p.Data)
		if p.NextCursor == nil {
			break
		}
		if len(a.Body) < pageMax/2 {
			t.Errorf("a page that is not the last has %d octets, want at least %d", len(a.Body), pageMax/2)
		}
		query = "limit=100&cursor=" + *p.NextCursor
	}
	if seen != mails {
		t.Errorf("the pages have %d messages, want %d", seen, mails)
	}
}
