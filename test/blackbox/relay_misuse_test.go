package blackbox_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/emersion/go-msgauth/dkim"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestSignatureOfReleasedMessageIsValid(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	box := f.create(u.Token, nil)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	record := "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)
	for name, raw := range map[string][]byte{
		"a list": listMail, "attachment": withAttachment("a.pdf", strings.Repeat("QUJD", 30_000)), "no body": crlf("From: a@shop.example", "Subject: x", ""),
		"trailing lines": crlf("From: a@shop.example", "", "x", "", "", ""), "dots": crlf("From: a@shop.example", "", ".", "..", "...x", "."),
	} {
		var signed bytes.Buffer
		err := dkim.Sign(&signed, bytes.NewReader(raw), &dkim.SignOptions{
			Domain: "shop.example", Selector: "s", Signer: private, HeaderCanonicalization: dkim.CanonicalizationSimple, BodyCanonicalization: dkim.CanonicalizationSimple,
			HeaderKeys: []string{"From", "To", "Subject", "Date", "Message-ID", "List-Id", "List-Unsubscribe", "Reply-To", "Cc"},
		})
		if err != nil {
			t.Fatal(err)
		}
		before := len(f.relay.Mails())
		m := f.received(box, signed.Bytes())
		want(t, f.release(m.ID, u.Token, "ops@company.example"), 202, "")
		sent := f.mails(before + 1)[before].Data
		verdicts, err := dkim.VerifyWithOptions(bytes.NewReader(sent), &dkim.VerifyOptions{LookupTXT: func(string) ([]string, error) { return []string{record}, nil }})
		if err != nil || len(verdicts) != 1 || verdicts[0].Err != nil {
			t.Errorf("%s: the verifier says %d signatures, %v of the released message, want one that is valid", name, len(verdicts), err)
		}
	}
}

// misuses returns texts that some mail server could read as another address than the one that is allowed.
func misuses() []string {
	const allowed, victim = "ops@company.example", "victim@elsewhere.example"
	all := []string{
		"", " ", "@", "ops", "ops@", "@company.example", victim, "ops@company.example.evil.example", "ops@evil-company.example", "opsX@company.example",
		"*@team.example", "ops%company.example@elsewhere.example", "ops!company.example@elsewhere.example", "/etc/passwd@team.example", "|cat@team.example",
		"-oQ/tmp@team.example", `"ops"@company.example`, `"a b"@team.example`, "<" + allowed + ">", "Ops <" + allowed + ">", allowed + " (x)", "ops@[127.0.0.1]",
		"a@b@team.example", "a@team.example@elsewhere.example", "a@elsewhere.example@team.example", "a@team.example.", "a@.team.example", "a..b@team.example", ".a@team.example", "a.@team.example",
		"ópš@team.example", "a@téam.example", "a\u200b@team.example", "ａ@team.example", strings.Repeat("a", 65) + "@team.example", "a@" + strings.Repeat("b.", 130) + "team.example",
		"victim%elsewhere.example@team.example", "elsewhere.example!victim@team.example", "@team.example:victim@elsewhere.example", "@team.example,@b.example:" + victim,
		"postmaster@team.example@", "a@-team.example", "a@team.example-", "a@1", "a@127.0.0.1",
	}
	// What follows an allowed address, or stands before it, after a character at which some server would begin anew.
	breaks := []string{"\r\n", "\n", "\r", "\x00", "\v", "\f", "\u0085", "\u2028", "\t", " ", ",", ";", ">", "><", "> ", "\\", "\"", "'\"", "(", ")", ":", "%0d%0a", "\r\n\r\n", "\\r\\n"}
	behind := []string{
		"RCPT TO:<" + victim + ">", "Bcc: " + victim, "DATA", victim, "NOTIFY=SUCCESS ORCPT=rfc822;" + victim, "QUIT", ".", "MAIL FROM:<x@y.example>", "SIZE=1", "cc:" + victim, "\r\nRCPT TO:<" + victim + ">",
	}
	for _, b := range breaks {
		for _, text := range behind {
			all = append(all, allowed+b+text, text+b+allowed)
		}
	}
	return all
}

// None of more than 500 attempts to send a message elsewhere than allowed succeeds, whoever makes it.
func TestRelayIsNotOpen(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u, other := f.account("ada@example.org"), f.account("eve@example.org")
	box, guests := f.create(u.Token, nil), f.create("", nil)
	m, ofGuest := f.received(box, listMail), f.received(guests, listMail)
	attempts := 0
	for _, to := range misuses() {
		attempts++
		a := f.release(m.ID, u.Token, to)
		if a.Status != 422 && (a.Status != 403 || a.Code() != "relay.not_allowed") {
			t.Errorf("release to %q: got %d %s, want 422, or 403 relay.not_allowed", to, a.Status, a.Body)
		}
	}
	for range 20 {
		attempts += 4
		want(t, f.release(m.ID, u.Token, "victim@elsewhere.example"), 403, "relay.not_allowed")
		want(t, f.release(m.ID, u.Token, "ada@example.org"), 403, "relay.not_allowed") // the account's address, which is not confirmed
		want(t, f.release(m.ID, other.Token, "ops@company.example"), 404, "message.not_found")
		want(t, f.release(ofGuest.ID, guests.Token, "ops@company.example"), 403, "relay.not_allowed")
	}
	session := f.startSession().Key
	inSession := f.create(session, nil)
	want(t, f.release(f.received(inSession, listMail).ID, inSession.Token, "ops@company.example"), 403, "relay.not_allowed")
	want(t, f.release(m.ID, session, "ops@company.example"), 401, "auth.invalid_token")
	if attempts < 500 {
		t.Errorf("%d attempts were made, want 500 at least", attempts)
	}
	want(t, f.release(m.ID, u.Token, "ops@company.example"), 202, "")
	want(t, f.release(m.ID, u.Token, "Any.One+tag@TEAM.example"), 202, "")
	var to []string
	for _, mail := range f.mails(2) {
		to = append(to, mail.To)
	}
	slices.Sort(to)
	if got, want := fmt.Sprint(to), "[Any.One+tag@TEAM.example ops@company.example]"; got != want || f.relay.Tries() != 2 {
		t.Errorf("the relay got mail for %s in %d transactions, want for %s in 2", got, f.relay.Tries(), want)
	}
}

func TestReleasedMessageThatComesBackIsNotReleased(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	box := f.create(u.Token, nil)
	m := f.received(box, listMail)
	want(t, f.release(m.ID, u.Token, "ops@company.example"), 202, "")
	back := f.received(box, f.mails(1)[0].Data)
	want(t, f.release(back.ID, u.Token, "ops@company.example"), 403, "relay.not_allowed")
	padded := append(crlf("X-Padding: "+strings.Repeat("x", 900)), bytes.Repeat(crlf("X-More: "+strings.Repeat("y", 900)), 100)...)
	hidden := f.received(box, append(padded, f.mails(1)[0].Data...))
	want(t, f.release(hidden.ID, u.Token, "ops@company.example"), 403, "relay.not_allowed")
	hops := f.received(box, append(bytes.Repeat(crlf("Received: from a by b; Sat, 14 Mar 2026 11:59:00 +0000"), 50), listMail...))
	want(t, f.release(hops.ID, u.Token, "ops@company.example"), 403, "relay.not_allowed")
}

func TestReleasesAreLimited(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"limits.release": "2/1h"})
	f.relay.Silence(true)
	u, other := f.account("ada@example.org"), f.account("eve@example.org")
	box, second := f.create(u.Token, nil), f.create(u.Token, nil)
	m := f.received(box, listMail)
	for range 10 { // what is refused does not count
		want(t, f.release(m.ID, box.Token, "victim@elsewhere.example"), 403, "relay.not_allowed")
	}
	want(t, f.release(m.ID, box.Token, "ops@company.example"), 202, "")
	want(t, f.release(m.ID, u.Token, "ops@company.example"), 202, "")
	limited := f.release(f.received(second, listMail).ID, second.Token, "ops@company.example")
	want(t, limited, 429, "rate.limited")
	if limited.Header.Get("Retry-After") == "" {
		t.Errorf("a release above the limit: got no Retry-After, want one")
	}
	its := f.create(other.Token, nil)
	want(t, f.release(f.received(its, listMail).ID, its.Token, "ops@company.example"), 202, "")
}

// The mail of an account that waits for the relay is bounded.
func TestWaitingReleasesAreBounded(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"relay.url": "smtp://127.0.0.1:1"})
	u := f.account("ada@example.org")
	box := f.create(u.Token, nil)
	m := f.received(box, listMail)
	for range 100 {
		want(t, f.release(m.ID, box.Token, "ops@company.example"), 202, "")
	}
	want(t, f.release(m.ID, box.Token, "ops@company.example"), 429, "rate.limited")
}

func TestNothingIsReleasedWithoutRelay(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	box := s.create(u.Token, nil)
	m := s.mail(box.box(), apptest.Mail{Raw: listMail})
	want(t, s.Call(http.MethodPost, "/messages/"+m.ID+"/release", u.Token, fields{"to": "ada@example.org"}), 403, "relay.missing")
	want(t, s.Call(http.MethodPost, "/messages/"+m.ID+"/release", u.Token, fields{"to": "not an address"}), 403, "relay.missing")
}

func TestReleaseNeedsTheRawMessage(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	box := f.create(u.Token, nil)
	m := f.received(box, listMail)
	f.Clock.Advance(16 * 60e9)
	want(t, f.release(m.ID, u.Token, "ops@company.example"), 410, "message.raw_expired")
	f.Clock.Advance(2 * 24 * 3600e9)
	want(t, f.release(m.ID, box.Token, "ops@company.example"), 404, "message.not_found")
}
