package blackbox_test

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/mailparse"
)

// letter is a mail to the owner of an account.
type letter struct {
	To, Subject, Text, HTML string
	Header                  mail.Header
}

// letters waits until the relay has n mails and returns them.
func (f *relayFixture) letters(n int) []letter {
	f.t.Helper()
	var all []letter
	for _, m := range f.mails(n) {
		all = append(all, newLetter(f.t, m))
	}
	return all
}

// newLetter parses a mail. It checks what holds for all mails that the service writes: a text and an HTML that needs nothing else, the
// same links in both, and the mark that it is automatic.
func newLetter(t testing.TB, m apptest.Relayed) letter {
	t.Helper()
	header, err := mail.ReadMessage(bytes.NewReader(m.Data))
	if err != nil {
		t.Fatalf("parse the mail to %s: %v\n%s", m.To, err, m.Data)
	}
	parsed := mailparse.Parse(m.Data)
	l := letter{m.To, parsed.Subject, parsed.Text, parsed.HTML, header.Header}
	if l.Header.Get("Resent-Message-Id") != "" {
		return l // a release, which the service did not write
	}
	if got, _, err := mime.ParseMediaType(l.Header.Get("Content-Type")); got != "multipart/alternative" || err != nil {
		t.Errorf("the mail %q is %s, %v, want multipart/alternative", l.Subject, got, err)
	}
	if got := l.Header.Get("Auto-Submitted"); got != "auto-generated" {
		t.Errorf("the mail %q: got Auto-Submitted %q, want auto-generated", l.Subject, got)
	}
	if found := needsMore.FindString(l.HTML); found != "" || !strings.Contains(l.HTML, "<html lang=") {
		t.Errorf("the HTML of the mail %q has %q:\n%s\nwant a language, inline style alone, and nothing that is fetched", l.Subject, found, l.HTML)
	}
	for _, link := range textLink.FindAllString(l.Text, -1) {
		if want := fmt.Sprintf(`<a href="%s">%s</a>`, link, link); !strings.Contains(l.HTML, want) {
			t.Errorf("the HTML of the mail %q is\n%s\nwant %s in it, as in the text", l.Subject, l.HTML, want)
		}
	}
	return l
}

var (
	sixDigits = regexp.MustCompile(`: ([0-9]{6})\r?\n`)
	resetLink = regexp.MustCompile(`http\S+/reset\?token=(\S+)`)
	textLink  = regexp.MustCompile(`https?://\S+`)
	needsMore = regexp.MustCompile(`<(style|script|link|img|base|form|svg)|url\(|src=|background`)
)

// found returns what a pattern finds in a letter.
func (f *relayFixture) found(pattern *regexp.Regexp, l letter) string {
	f.t.Helper()
	m := pattern.FindStringSubmatch(l.Text)
	if m == nil {
		f.t.Fatalf("the mail %q is\n%s\nwant a match of %s", l.Subject, l.Text, pattern)
	}
	return m[1]
}

// confirm makes an address the account's.
func (f *relayFixture) confirm(u user, email string) {
	f.t.Helper()
	before := len(f.relay.Mails())
	want(f.t, f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": userPassword, "email": email}), 202, "")
	for n := before + 1; ; n++ {
		if l := f.letters(n)[n-1]; l.To == email {
			want(f.t, f.Call(http.MethodPost, "/me/email/confirm", u.Token, fields{"code": f.found(sixDigits, l)}), 200, "")
			return
		}
	}
}

func TestConfirmedAddressGetsReleases(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"relay.allow": ""})
	u := f.account("Ada@Example.org")
	box := f.create(u.Token, nil)
	m := f.received(box, listMail)
	want(t, f.release(m.ID, box.Token, "ada@example.org"), 403, "relay.not_allowed")
	f.confirm(u, "ada@example.org")
	if confirmed := get[struct{ EmailConfirmed bool }](f.service, "/me", u.Token); !confirmed.EmailConfirmed {
		t.Error("GET /me after confirming: got emailConfirmed false, want true")
	}
	want(t, f.release(m.ID, box.Token, "ADA@example.org"), 202, "")
	f.confirm(u, "lovelace@example.net")
	want(t, f.release(m.ID, box.Token, "ada@example.org"), 403, "relay.not_allowed")
	want(t, f.release(m.ID, box.Token, "lovelace@example.net"), 202, "")
	other := f.account("eve@example.org")
	its := f.received(f.create(other.Token, nil), listMail)
	want(t, f.release(its.ID, other.Token, "lovelace@example.net"), 403, "relay.not_allowed")
}

func TestEmailChangesWithCode(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	change := func(password, email string) apptest.Response {
		return f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": password, "email": email})
	}
	confirm := func(code string) apptest.Response {
		return f.Call(http.MethodPost, "/me/email/confirm", u.Token, fields{"code": code})
	}
	want(t, change("wrong password", "new@example.org"), 422, "account.password_wrong")
	want(t, change(userPassword, "no address"), 422, "request.invalid")
	want(t, change(userPassword, "é@example.org"), 422, "request.invalid")
	want(t, confirm("000000"), 422, "account.code_invalid") // none was sent
	want(t, change(userPassword, "New@example.org"), 202, "")
	var code string
	for _, l := range f.letters(2) {
		switch l.To {
		case "new@example.org":
			code = f.found(sixDigits, l)
		case "ada@example.org":
			if sixDigits.MatchString(l.Text) || strings.Contains(l.Text, "new@example.org") {
				t.Errorf("the notice to the old address is\n%s\nwant neither the code nor the new address in it", l.Text)
			}
		default:
			t.Errorf("a mail to %s, want only to the old and the new address", l.To)
		}
	}
	wrong := "000000"
	if code == wrong {
		wrong = "000001"
	}
	want(t, confirm(wrong), 422, "account.code_invalid")
	if me := get[account](f.service, "/me", u.Token); me.Email != "ada@example.org" {
		t.Errorf("GET /me before the code: got %s, want ada@example.org", me.Email)
	}
	f.Clock.Advance(31 * time.Minute)
	want(t, confirm(code), 422, "account.code_invalid")
	want(t, change(userPassword, "new@example.org"), 202, "")
	all := f.letters(4)
	code = ""
	for _, l := range all[2:] {
		if l.To == "new@example.org" {
			code = f.found(sixDigits, l)
		}
	}
	other := f.account("eve@example.org")
	want(t, f.Call(http.MethodPost, "/me/email/confirm", other.Token, fields{"code": code}), 422, "account.code_invalid")
	want(t, confirm(" "+code[:3]+" "+code[3:]), 200, "")
	want(t, confirm(code), 422, "account.code_invalid")
	if a, _ := f.signIn("new@example.org", userPassword, ""); a.Status != 200 {
		t.Errorf("sign in with the new address: got %d %s, want 200", a.Status, a.Body)
	}
	if a, _ := f.signIn("ada@example.org", userPassword, ""); a.Status != 401 {
		t.Errorf("sign in with the old address: got %d %s, want 401", a.Status, a.Body)
	}
}

// Only someone who has the code that was sent to an address learns whether the address has an account.
func TestAddressOfAnotherAccountIsRefusedWithItsCode(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	f.account("taken@example.org")
	change := func(email string) apptest.Response {
		return f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": userPassword, "email": email})
	}
	free, taken := change("free@example.org"), change("Taken@example.org")
	if free.Status != 202 || taken.Status != 202 || !bytes.Equal(free.Body, taken.Body) {
		t.Errorf("%s: got %d %s, want 202 %s, as for a free address", taken.Request, taken.Status, taken.Body, free.Body)
	}
	for _, l := range f.letters(4) { // a code to each, and two notices
		if l.To == "taken@example.org" {
			want(t, f.Call(http.MethodPost, "/me/email/confirm", u.Token, fields{"code": f.found(sixDigits, l)}), 409, "account.email_taken")
			return
		}
	}
	t.Errorf("POST /me/email with the address of another account: got no code sent there, want one")
}

// An address that another account takes meanwhile is not given to a second one.
func TestAddressThatWasTakenMeanwhileIsRefused(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	want(t, f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": userPassword, "email": "new@example.org"}), 202, "")
	var code string
	for _, l := range f.letters(2) {
		if l.To == "new@example.org" {
			code = f.found(sixDigits, l)
		}
	}
	f.account("new@example.org")
	want(t, f.Call(http.MethodPost, "/me/email/confirm", u.Token, fields{"code": code}), 409, "account.email_taken")
}

func TestCodesAreLimited(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"limits.signin": "50/5m"})
	u, other := f.account("ada@example.org"), f.account("eve@example.org")
	for range 5 {
		want(t, f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": userPassword, "email": "victim@example.org"}), 202, "")
	}
	want(t, f.Call(http.MethodPost, "/me/email", other.Token, fields{"password": userPassword, "email": "Victim@example.org"}), 429, "rate.limited")
	for range 10 {
		want(t, f.Call(http.MethodPost, "/me/email/confirm", u.Token, fields{"code": "wrong"}), 422, "account.code_invalid")
	}
	want(t, f.Call(http.MethodPost, "/me/email/confirm", u.Token, fields{"code": "wrong"}), 429, "rate.limited")
	for range 44 {
		want(t, f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": "wrong password", "email": "x@example.org"}), 422, "account.password_wrong")
	}
	for range 2 {
		f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": "wrong password", "email": "x@example.org"})
	}
	want(t, f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": userPassword, "email": "x@example.org"}), 429, "rate.limited")
	want(t, f.Call(http.MethodPost, "/me/password", u.Token, fields{"current": userPassword, "password": "another password"}), 429, "rate.limited")
}

func TestForgottenPasswordIsSetWithLink(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"base_url": "https://box.example/mail"})
	u := f.account("ada@example.org")
	want(t, f.Call(http.MethodPatch, "/me", u.Token, fields{"locale": "vi-VN"}), 200, "")
	authenticator, _ := f.twoFactor(u.Token)
	forgot := func(email string) {
		want(t, f.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": email}), 202, "")
	}
	reset := func(token, password string) apptest.Response {
		return f.Call(http.MethodPost, "/auth/password/reset", "", fields{"token": token, "password": password})
	}
	forgot("nobody@example.org")
	forgot("not an address")
	forgot("ADA@example.org")
	forgot("ada@example.org") // within 5 minutes
	l := f.letters(1)[0]
	if l.To != "ada@example.org" || l.Subject != "Đặt mật khẩu mới" || !strings.Contains(l.Text, "https://box.example/mail/reset?token=") {
		t.Errorf("the mail for a Vietnamese account is to %s, %q:\n%s\nwant it in Vietnamese with the link", l.To, l.Subject, l.Text)
	}
	token := f.found(resetLink, l)
	want(t, reset("QCNLBB4VPDLGVWWYUN2ENUUEPC", "another password"), 422, "account.code_invalid")
	want(t, reset(token, "short"), 422, "request.invalid")
	want(t, reset(token, "another password"), 204, "")
	want(t, reset(token, "another password"), 422, "account.code_invalid")
	want(t, f.Call(http.MethodGet, "/me", u.Token, nil), 401, "auth.invalid_token")
	if a, _ := f.signIn("ada@example.org", userPassword, ""); a.Status != 401 {
		t.Errorf("sign in with the old password: got %d %s, want 401", a.Status, a.Body)
	}
	if a, _ := f.signIn("ada@example.org", "another password", ""); a.Code() != "auth.totp_required" {
		t.Errorf("sign in after a reset: got %d %s, want auth.totp_required", a.Status, a.Body)
	}
	f.Clock.Advance(time.Minute)
	if a, _ := f.signIn("ada@example.org", "another password", authenticator.code(0)); a.Status != 200 {
		t.Errorf("sign in with the new password and a code: got %d %s, want 200", a.Status, a.Body)
	}
	f.Clock.Advance(6 * time.Minute)
	forgot("ada@example.org")
	old := f.found(resetLink, f.letters(2)[1])
	f.Clock.Advance(6 * time.Minute)
	forgot("ada@example.org")
	latest := f.found(resetLink, f.letters(3)[2])
	want(t, reset(old, "a third password"), 422, "account.code_invalid") // a later link replaces it
	f.Clock.Advance(31 * time.Minute)
	want(t, reset(latest, "a third password"), 422, "account.code_invalid")
	if n := len(f.relay.Mails()); n != 3 {
		t.Errorf("the relay got %d mails, want 3: none to unknown addresses", n)
	}
}

// A link that was sent to an address the account no longer has sets no password, nor one of a disabled account.
func TestLinkToFormerAddressSetsNoPassword(t *testing.T) {
	t.Parallel()
	f := startRelay(t, nil)
	u := f.account("ada@example.org")
	want(t, f.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": "ada@example.org"}), 202, "")
	token := f.found(resetLink, f.letters(1)[0])
	f.confirm(u, "new@example.org")
	want(t, f.Call(http.MethodPost, "/auth/password/reset", "", fields{"token": token, "password": "another password"}), 422, "account.code_invalid")
}

func TestUnconfirmedAccountHasNoKeys(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"access.confirm_email": "required", "access.contact": "admin@box.example"})
	u := f.account("ada@example.org")
	refused := map[string]fields{
		"/me/api-keys": {"name": "n", "scopes": allScopes}, "/me/domains": {"domain": "mail.gonebox-tests.net"}, "/me/webhooks": {"url": "https://hook.example.org/", "events": []string{"message.received"}},
	}
	for path, body := range refused {
		want(t, f.Call(http.MethodPost, path, u.Token, body), 403, "account.unconfirmed")
	}
	f.create(u.Token, nil)
	l := f.letters(1)[0]
	want(t, f.Call(http.MethodPost, "/me/email/confirm", u.Token, fields{"code": f.found(sixDigits, l)}), 200, "")
	want(t, f.Call(http.MethodPost, "/me/api-keys", u.Token, refused["/me/api-keys"]), 201, "")
	want(t, f.Call(http.MethodPost, "/me/domains", u.Token, refused["/me/domains"]), 201, "")
	want(t, f.Call(http.MethodPost, "/auth/register", "", fields{"email": "é@example.org", "password": userPassword}), 422, "request.invalid")
	shown := get[struct {
		Registration, Contact      string
		Guests, Mail, ConfirmEmail bool
	}](f.service, "/access", "")
	if shown.Registration != "open" || shown.Contact != "admin@box.example" || !shown.Guests || !shown.Mail || !shown.ConfirmEmail {
		t.Errorf("GET /access = %+v, want open registration, the contact, guests, mail and confirmEmail", shown)
	}
}

func TestAccountMailsNeedRelay(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	want(t, s.Call(http.MethodPost, "/me/email", u.Token, fields{"password": userPassword, "email": "new@example.org"}), 403, "relay.missing")
	want(t, s.Call(http.MethodPost, "/me/email/confirm", u.Token, fields{"code": "482913"}), 403, "relay.missing")
	want(t, s.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": "ada@example.org"}), 403, "relay.missing")
	want(t, s.Call(http.MethodPost, "/auth/password/reset", "", fields{"token": "x", "password": "another password"}), 403, "relay.missing")
	if shown := get[struct{ Mail bool }](s, "/access", ""); shown.Mail {
		t.Errorf("GET /access without a relay: got mail true, want false")
	}
}

// The code and the link in the mails are found by the service's own extractor, in both languages.
func TestAccountMailsAreUnderstoodByTheExtractor(t *testing.T) {
	t.Parallel()
	f := startRelay(t, settings{"base_url": "https://box.example"})
	box := f.create("", nil)
	for i, locale := range []string{"en", "vi"} {
		email := fmt.Sprintf("ada%d@example.org", i)
		u := f.account(email)
		want(t, f.Call(http.MethodPatch, "/me", u.Token, fields{"locale": locale}), 200, "")
		want(t, f.Call(http.MethodPost, "/me/email", u.Token, fields{"password": userPassword, "email": email}), 202, "")
		l := f.letters(2*i + 1)[2*i]
		f.received(box, f.relay.Mails()[2*i].Data)
		code := get[struct{ Code string }](f.service, "/mailboxes/me/otp/latest", box.Token)
		sent := f.found(sixDigits, l)
		if code.Code != sent {
			t.Errorf("%s: the extractor finds %q in the code's mail, want %q", locale, code.Code, sent)
		}
		if want := ">" + sent + "</strong>"; !strings.Contains(l.HTML, want) || !strings.Contains(l.HTML, `<html lang="`+locale+`">`) {
			t.Errorf("the HTML of the code's mail is\n%s\nwant %s in it, and the language %s", l.HTML, want, locale)
		}
		want(t, f.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": email}), 202, "")
		l = f.letters(2*i + 2)[2*i+1]
		f.received(box, f.relay.Mails()[2*i+1].Data)
		type actions []struct {
			Action *struct{ URL, Kind string }
		}
		got := get[actions](f.service, "/mailboxes/me/messages?limit=1", box.Token)[0].Action
		if got == nil || got.Kind != "reset" || !strings.HasSuffix(got.URL, f.found(resetLink, l)) {
			t.Errorf("%s: the action of the link's mail = %+v, want the reset link", locale, got)
		}
	}
}
