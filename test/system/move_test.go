package system_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/smtp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// TestMigrateMovesServiceToPostgres fills a service on SQLite over SMTP and HTTP, migrates it, and serves it from
// PostgreSQL: every credential is valid and every call answers as before. Then it is migrated back.
func TestMigrateMovesServiceToPostgres(t *testing.T) {
	t.Parallel()
	issuer := newTeam(t)
	settings := movedSettings()
	maps.Copy(settings, issuer.settings())
	old := start(t, options{set: settings})
	f := newSample(t, old)
	f.refuse.Store(true) // deliveries from here on wait for the other side
	f.fill()
	member := issuer.signIn(old)
	before := f.readAll(old)
	f.refused(old)
	url, secret := dbtest.PostgresURL(t), filepath.Join(old.dir, "secret.key")
	f.inUse("sqlite:"+old.dir, url, secret)
	old.stop()

	r := f.move("sqlite:"+old.dir, url, secret)
	if r.RawMessages.Count != int64(len(f.mails)) || r.RawMessages.Gone != 0 || r.Replaced != 0 {
		t.Errorf("the move took the raw messages %+v and replaced %d texts, want all %d messages, none gone and no text replaced", r.RawMessages, r.Replaced, len(f.mails))
	}
	for _, table := range r.Tables {
		if table.Rows == 0 && !slices.Contains([]string{"address_hold", "job_schedule", "blob_stage", "fault_preset", "transcript", "transcript_message", "ingress_lease", "ingress"}, table.Name) {
			t.Errorf("the table %s is empty, want this test to fill it", table.Name)
		}
	}
	if again := f.move("sqlite:"+old.dir, url, secret); !again.Already || again.Digest != r.Digest {
		t.Errorf("the second move: %+v, want it found, with the digest %s", again, r.Digest)
	}
	f.otherSecret(url)

	settings["database.url"], settings["secrets.key"] = url, f.secret(secret)
	moved := start(t, options{set: settings})
	if d := cmp.Diff(before, f.readAll(moved)); d != "" {
		t.Errorf("the responses after the move (-want of SQLite, +PostgreSQL):\n%s", d)
	}
	f.signsIn(moved)
	if again := issuer.signIn(moved); again != member {
		t.Errorf("a member of the team signs in on the other side to %s, want %s", again, member)
	}
	f.refuse.Store(false)
	f.delivered()
	f.goesOn(moved)
	after := f.readAll(moved)
	back := t.TempDir()
	f.inUse(url, "sqlite:"+back, secret)
	moved.stop()

	f.move(url, "sqlite:"+back, secret)
	delete(settings, "database.url")
	returned := start(t, options{set: settings, dir: back})
	if d := cmp.Diff(after, f.readAll(returned)); d != "" {
		t.Errorf("the responses after the way back (-want of PostgreSQL, +SQLite):\n%s", d)
	}
}

// ingressSecret is the password of the ingress "post".
const ingressSecret = "the secret of an ingress, long enough"

func movedSettings() map[string]string {
	set := hookSettings()
	maps.Copy(set, map[string]string{
		"webhooks.retry_schedule": strings.Repeat("1s, ", 999) + "1s", "base_url": "http://gonebox.test",
		"billing.bankpay.apikey": bankSecret, "billing.bankpay.allow_networks": "127.0.0.0/8", "billing.bankpay.bank_bin": "970436",
		"billing.bankpay.account_number": "0011001932418", "plans.plus.price.monthly": fmt.Sprint(planPrice), "limits.other": "1000000/1m",
		"smtp.sink.domains": "sink.example", "smtp.sink.account": "bob@example.org", "smtp.projects": "on",
		"ingress.post.kind": "raw", "ingress.post.secret": ingressSecret,
		"relay.url": "smtp://127.0.0.1:1", "relay.from": "no-reply@example.org", "relay.allow": "*@allowed.example", // which does not answer
	})
	return set
}

// report is the output of gonebox migrate --json.
type report struct {
	Tables []struct {
		Name string
		Rows int64
	}
	RawMessages struct{ Count, Gone int64 }
	Digest      string
	Replaced    int64
	Already     bool
}

// sample is what was created in a service, and the calls to compare.
type sample struct {
	*service
	hook

	refuse   atomic.Bool
	asked    map[string]string // path and note → token
	mails    [][]byte
	boxes    []mailbox
	recovery []string
	totp     string
}

func newSample(t *testing.T, s *service) *sample {
	f := &sample{service: s, hook: s.hooked("ada@example.org", 0), asked: make(map[string]string)}
	f.Answer(func(rw http.ResponseWriter, _ *http.Request) {
		if f.refuse.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	await(t, "the ping", func() bool { return len(f.Got()) > 0 })
	return f
}

// do makes a call that must succeed and decodes the answer into data, unless data is nil.
func (f *sample) do(method, path, token string, body, data any) {
	f.t.Helper()
	status, text := f.call(method, path, token, body)
	if status/100 != 2 {
		f.t.Fatalf("%s %s: %d %s, want success", method, path, status, text)
	}
	if data == nil {
		return
	}
	if err := json.Unmarshal(text, &struct{ Data any }{data}); err != nil {
		f.t.Fatal(err)
	}
}

// ask records a call to compare.
func (f *sample) ask(token string, paths ...string) {
	for _, path := range paths {
		f.asked[path+" "+token[:min(12, len(token))]] = token
	}
}

// fill creates something of every kind.
func (f *sample) fill() {
	f.account()
	f.money()
	f.mailboxes()
	for i, box := range f.boxes {
		f.receive(box, i)
	}
	f.content()
	f.sink()
	f.ask("", "/domains", "/plans", "/payment-providers", "/content/notices", "/content/pages", "/content/pages/terms")
}

func (f *sample) account() {
	token := f.token
	f.do(http.MethodPatch, "/me", token, map[string]string{"locale": "vi-VN"}, nil)
	var setup struct{ Secret string }
	f.do(http.MethodPost, "/me/2fa/setup", token, nil, &setup)
	f.totp = setup.Secret
	var confirmed struct{ RecoveryCodes []string }
	f.do(http.MethodPost, "/me/2fa/confirm", token, map[string]string{"code": f.code(0)}, &confirmed)
	f.recovery = confirmed.RecoveryCodes
	f.do(http.MethodPost, "/me/domains", token, map[string]string{"domain": "ada-example.org"}, nil)
	f.do(http.MethodPost, "/me/filters", token, map[string]any{"name": "Übung", "extractRegex": `Nummer (\d+)`, "subjectPattern": "Übung"}, nil)
	f.ask(token, "/me", "/me/2fa", "/me/domains", "/me/filters", "/me/mailboxes", "/me/subscription", "/me/wallet", "/me/wallet/transactions")
}

// money orders, pays and buys.
func (f *sample) money() {
	token := f.token
	order := f.order("first")
	f.transfer(700, "MBVCB "+order.Memo+" CT")
	f.transfer(701, "nothing that anybody ordered")
	await(f.t, "the reconciliation", func() bool { return f.unseen() == 0 })
	if code, _, text := command(f.t, "payment", "resolve", "701", "--ignore", "--note", "a test", "--data-dir", f.dir); code != 0 {
		f.t.Fatalf(`command(f.t, "payment", "resolve", "701", "--ignore", "--note", "a test", "--data-dir", f.dir) = %v, want 0`, text)
	}
	f.do(http.MethodPost, "/me/subscription", token, map[string]string{"planCode": "plus", "interval": "monthly"}, nil)
	f.do(http.MethodPost, "/me/webhooks", token, map[string]any{"url": authority.NewReceiver(f.t).URL, "events": []string{"otp.extracted"}}, nil)
	f.ask(token, "/me/wallet/topups/"+order.ID)
}

// order is a top-up order.
type order struct{ ID, Memo string }

// order orders 30 points with an Idempotency-Key.
func (f *sample) order(key string) (o order) {
	f.t.Helper()
	body := `{"provider":"bankpay","amount":30000,"currency":"VND"}`
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+"/me/wallet/topups", strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + f.token}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&struct{ Data any }{&o}); err != nil || res.StatusCode != http.StatusCreated {
		f.t.Fatalf("POST /me/wallet/topups with the key %s: %d %v, want 201", key, res.StatusCode, err)
	}
	return o
}

// transfer has the bank report a transfer that pays an order.
func (f *sample) transfer(number int, content string) {
	f.t.Helper()
	p := &payer{market: &market{url: f.url}}
	body := map[string]any{"id": number, "transferType": "in", "transferAmount": 30000, "content": content, "accountNumber": "0011001932418"}
	if err := p.insist(f.t.Context(), "/integrations/bankpay/webhook", "", "", body, http.StatusOK, nil); err != nil {
		f.t.Fatal(err)
	}
}

// mailboxes makes one of every kind.
func (f *sample) mailboxes() {
	var session struct{ Key string }
	f.do(http.MethodPost, "/session", "", nil, &session)
	var key struct{ Key string }
	f.do(http.MethodPost, "/me/api-keys", f.token, map[string]any{"name": "ci", "scopes": []string{"mailboxes:read", "mailboxes:write", "messages:read", "otp:read"}}, &key)
	for _, of := range []struct{ path, token string }{{"/mailboxes", ""}, {"/mailboxes", session.Key}, {"/mailboxes", f.token}, {"/keys/mailboxes", key.Key}} {
		var made mailbox
		f.do(http.MethodPost, of.path, of.token, map[string]any{}, &made)
		f.boxes = append(f.boxes, made)
	}
	f.ask(key.Key, "/keys/mailboxes")
	f.ask(session.Key, "/session")
	f.ask(f.token, "/me/api-keys")
}

// receive sends a mailbox two mails, one of them with attachments, and records the calls that read them.
func (f *sample) receive(box mailbox, n int) {
	f.t.Helper()
	boundary := "part-of-the-test"
	lines := 400
	if n == 0 {
		lines = 4000 // an attachment that is stored as a blob
	}
	attached := strings.Repeat(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(n), 0xff, 0}, 19))+"\r\n", lines)
	for i, mail := range []string{
		"Subject: Your code\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nYour verification code is 4821" + fmt.Sprint(n) + "7. Tiếng Việt.\r\n",
		"Subject: =?utf-8?q?=C3=9Cbung?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=" + boundary + "\r\n\r\n--" + boundary +
			"\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Nummer 77" + fmt.Sprint(n) + "</p>\r\n--" + boundary +
			"\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=\"dữ liệu.bin\"\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			attached + "--" + boundary + "--\r\n",
	} {
		mail = fmt.Sprintf("From: Sender <sender@example.org>\r\nTo: %s\r\nMessage-ID: <%d-%d@example.org>\r\n", box.Address, n, i) + mail
		if err := smtp.SendMail(f.smtp, nil, "sender@example.org", []string{box.Address}, []byte(mail)); err != nil {
			f.t.Fatal(err)
		}
		f.mails = append(f.mails, []byte(mail))
	}
	f.ask(box.Token, "/mailboxes/me", "/mailboxes/me/deliveries", "/mailboxes/me/messages", "/mailboxes/me/otp/latest")
	for i, m := range f.messages(box)[:2] {
		full := f.read(box, m.ID) // which is seen from now on
		f.ask(box.Token, "/messages/"+m.ID, "/messages/"+m.ID+"/raw")
		for _, a := range full.Attachments {
			f.ask(box.Token, "/messages/"+m.ID+"/attachments/"+a.ID)
		}
		if _, sent := f.raw(box, m.ID); !bytes.Equal(sent, f.mails[len(f.mails)-1-i]) {
			f.t.Errorf("the raw message of %s has %d octets, want the %d that were sent", m.ID, len(sent), len(f.mails[len(f.mails)-1-i]))
		}
	}
}

func (f *sample) content() {
	for _, line := range [][]string{
		{"notice", "publish", "--title", "Umzug", "--html", "<p>Wir ziehen um.</p>"},
		{"page", "put", "terms", "--title", "Terms", "--html", "<h1>Điều khoản</h1>"},
		{"domain", "add", "second.example.org"},
		{"block", "add", "--ip", "192.0.2.0/24"},
		{"invite", "add", "--note", "for Ada"},
	} {
		if code, _, text := command(f.t, append(line, "--data-dir", f.dir)...); code != 0 {
			f.t.Fatalf(`%v: command(f.t, append(line, "--data-dir", f.dir)...) = %s, want 0`, line, text)
		}
	}
	await(f.t, "the new domain", func() bool { return f.offers("second.example.org") })
}

// sink sends a mail to the sink of an account of its own.
func (f *sample) sink() {
	var bob struct{ Token string }
	f.do(http.MethodPost, "/auth/register", "", map[string]string{"email": "bob@example.org", "password": "correct horse battery staple"}, &bob)
	await(f.t, "mail to the sink", func() bool { // the account is looked for now and then
		return smtp.SendMail(f.smtp, nil, "sender@example.org", []string{"anyone@sink.example"}, []byte("Subject: To the sink\r\n\r\nHello.\r\n")) == nil
	})
	f.mails = append(f.mails, nil) // it is counted, and not read
	f.ask(bob.Token, "/me/mailboxes")
	f.testing(bob.Token)
	f.outgoing(bob.Token)
}

// testing creates a project with a member, a fault rule, and what a greylist remembers.
func (f *sample) testing(bob string) {
	f.do(http.MethodPost, "/me/projects", bob, map[string]string{"name": "shop"}, nil)
	f.do(http.MethodPut, "/me/projects/shop/members/ada@example.org", bob, nil, nil)
	f.do(http.MethodPost, "/me/faults", bob, map[string]string{"stage": "rcpt", "from": "nobody@*", "reply": "451 4.3.2 Later"}, nil)
	if err := smtp.SendMail(f.smtp, nil, "sender@example.org", []string{"x+fault-greylist-60@sink.example"}, nil); err == nil {
		f.t.Error("SendMail to x+fault-greylist-60@sink.example succeeded, want it refused at the first try")
	}
	f.ask(bob, "/me/faults")
}

// outgoing posts a mail to the ingress, and leaves mail for the relay.
func (f *sample) outgoing(bob string) {
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+"/ingress/post", strings.NewReader("Subject: Posted\r\n\r\nHello.\r\n"))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"message/rfc822"}, "X-Envelope-From": {"sender@example.org"}, "X-Envelope-To": {"posted@sink.example"}}
	r.SetBasicAuth("post", ingressSecret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		f.t.Fatalf("POST /ingress/post: %d, want 200", res.StatusCode)
	}
	f.mails = append(f.mails, nil)
	var list []struct{ ID string }
	f.do(http.MethodGet, "/me/messages", bob, nil, &list)
	f.do(http.MethodPost, "/messages/"+list[0].ID+"/release", bob, map[string]string{"to": "ann@allowed.example"}, nil)
	f.do(http.MethodPost, "/auth/password/forgot", "", map[string]string{"email": "bob@example.org"}, nil)
}

// readAll returns the answer to every call, without the fields that change with time.
func (f *sample) readAll(s *service) map[string]string {
	s.t.Helper()
	answers := make(map[string]string)
	for call, token := range f.asked {
		path, _, _ := strings.Cut(call, " ")
		status, body := s.call(http.MethodGet, path, token, nil)
		if status != http.StatusOK {
			s.t.Errorf("GET %s: %d %s, want %v", path, status, body, http.StatusOK)
		}
		answers[call] = steady(body)
	}
	return answers
}

// steady removes the fields that change with time from an answer.
func steady(body []byte) string {
	var whole any
	if json.Unmarshal(body, &whole) != nil {
		return string(body)
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "ttl")
			delete(v, "lastUsedAt")
			if _, session := v["mailboxes"]; session {
				delete(v, "expiresAt") // it slides
			}
			for _, each := range v {
				strip(each)
			}
		case []any:
			for _, each := range v {
				strip(each)
			}
		}
	}
	strip(whole)
	text, _ := json.Marshal(whole)
	return string(text)
}

// refused waits until a delivery of every mail was attempted and refused, so that jobs are pending.
func (f *sample) refused(s *service) {
	s.t.Helper()
	await(s.t, "refused deliveries", func() bool { return len(f.Got()) > len(f.mails)/2 })
}

// move runs the command on the destination's configuration.
func (f *sample) move(from, to, secret string) report {
	t := f.t
	t.Helper()
	args := []string{"migrate", "--json", "--from", from, "--to", to, "--data-dir", t.TempDir()}
	if code, _, text := command(t, args...); code != 1 || !strings.Contains(text, "secrets.key") {
		t.Errorf(`without a secret: status %d, %s, want 1 and "secrets.key" in it`, code, text)
	}
	code, out, text := command(t, append(args, "--set", "secrets.key="+f.secret(secret))...)
	var r report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("move: status %d, %v: %s%s, want 0", code, err, out, text)
	}
	return r
}

// inUse checks that the command refuses to run beside the service.
func (f *sample) inUse(from, to, secret string) {
	t := f.t
	t.Helper()
	code, out, text := command(t, "migrate", "--from", from, "--to", to, "--set", "secrets.key="+f.secret(secret))
	if code != 1 || out != "" || strings.Count(text, "\n") != 1 || !strings.Contains(text, "a service is running on it") {
		t.Errorf("gonebox migrate of a database in use: exit status %d, output %q, errors %q, want 1, none and one line that says so", code, out, text)
	}
}

func (f *sample) secret(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		f.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// otherSecret checks that the service refuses to start on the moved data with another secret.
func (f *sample) otherSecret(url string) {
	t := f.t
	other := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))
	code, _, text := command(t, "serve", "--data-dir", t.TempDir(), "--set", "http.addr=127.0.0.1:0", "--set", "smtp.addr=127.0.0.1:0",
		"--set", "database.url="+url, "--set", "secrets.key="+other)
	if code != 1 || !strings.Contains(text, "secrets.key is not the secret") {
		t.Errorf(`served with another secret: status %d, %s, want 1 and "secrets.key is not the secret" in it`, code, text)
	}
}

// signsIn signs in with both kinds of second factor.
func (f *sample) signsIn(s *service) {
	s.t.Helper()
	for _, code := range []string{f.code(1), f.recovery[0]} {
		body := map[string]string{"email": "ada@example.org", "password": "correct horse", "code": code}
		if status, text := s.call(http.MethodPost, "/auth/token", "", body); status != http.StatusOK {
			s.t.Errorf("sign in: %d %s, want %v", status, text, http.StatusOK)
		}
	}
}

// code is the one-time password (RFC 6238) some steps from now.
func (f *sample) code(steps int64) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(f.totp)
	if err != nil {
		f.t.Fatal(err)
	}
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, clock.System().Now().Unix()/30+steps)
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:at+4])&0x7fffffff%1_000_000)
}

// delivered waits for the deliveries that were pending when the service was moved.
func (f *sample) delivered() {
	t := f.t
	t.Helper()
	first := make(map[string]int)
	await(t, "the deliveries that were pending", func() bool {
		clear(first)
		for _, d := range f.Got() {
			if m, ok := f.received(t, d); ok {
				first[m.ID]++
			}
		}
		return len(first) == 4 // the mails of the mailboxes that the account and its key made
	})
}

// goesOn uses the service on its new database.
func (f *sample) goesOn(s *service) {
	f.service = s
	f.receive(f.boxes[0], 9)
	var made mailbox
	f.do(http.MethodPost, "/mailboxes", f.token, map[string]any{}, &made)
	f.receive(made, 8)
}
