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
	old := start(t, options{set: movedSettings()})
	w := newWorld(t, old)
	w.refuse.Store(true) // deliveries from here on wait for the other side
	w.fill()
	before := w.look(old)
	w.refused(old)
	url, secret := dbtest.PostgresURL(t), filepath.Join(old.dir, "secret.key")
	w.inUse("sqlite:"+old.dir, url, secret)
	old.stop()

	r := w.move("sqlite:"+old.dir, url, secret)
	if r.RawMessages.Count != int64(len(w.mails)) || r.RawMessages.Gone != 0 || r.Replaced != 0 {
		t.Errorf("moved the raw messages %+v of %d mails, and replaced %d texts", r.RawMessages, len(w.mails), r.Replaced)
	}
	for _, table := range r.Tables {
		if table.Rows == 0 && !slices.Contains([]string{"address_hold", "job_schedule", "blob_stage"}, table.Name) {
			t.Errorf("the test does not fill %s", table.Name)
		}
	}
	if again := w.move("sqlite:"+old.dir, url, secret); !again.Already || again.Digest != r.Digest {
		t.Errorf("the second time: %+v", again)
	}
	w.otherSecret(url)

	settings := movedSettings()
	settings["database.url"], settings["secrets.key"] = url, w.secret(secret)
	moved := start(t, options{set: settings})
	if d := cmp.Diff(before, w.look(moved)); d != "" {
		t.Errorf("a call has another answer (-SQLite +PostgreSQL): %s", d)
	}
	w.signsIn(moved)
	w.refuse.Store(false)
	w.delivered()
	w.goesOn(moved)
	after := w.look(moved)
	back := t.TempDir()
	w.inUse(url, "sqlite:"+back, secret)
	moved.stop()

	w.move(url, "sqlite:"+back, secret)
	delete(settings, "database.url")
	returned := start(t, options{set: settings, dir: back})
	if d := cmp.Diff(after, w.look(returned)); d != "" {
		t.Errorf("a call has another answer on the way back (-PostgreSQL +SQLite): %s", d)
	}
}

func movedSettings() map[string]string {
	set := hookSettings()
	maps.Copy(set, map[string]string{
		"webhooks.retry_schedule": strings.Repeat("1s, ", 999) + "1s", "base_url": "http://gonebox.test",
		"billing.bankpay.apikey": bankSecret, "billing.bankpay.allow_networks": "127.0.0.0/8", "billing.bankpay.bank_bin": "970436",
		"billing.bankpay.account_number": "0011001932418", "plans.plus.price.monthly": fmt.Sprint(planPrice), "limits.other": "1000000/1m",
		"smtp.sink.domains": "sink.example", "smtp.sink.account": "bob@example.org",
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

// world is what was created in a service, and the calls to compare.
type world struct {
	*service
	hook

	refuse   atomic.Bool
	asked    map[string]string // path and note → token
	mails    [][]byte
	boxes    []mailbox
	recovery []string
	totp     string
}

func newWorld(t *testing.T, s *service) *world {
	w := &world{service: s, hook: s.hooked("ada@example.org", 0), asked: make(map[string]string)}
	w.Answer(func(rw http.ResponseWriter, _ *http.Request) {
		if w.refuse.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	await(t, "the ping", func() bool { return len(w.Got()) > 0 })
	return w
}

// do makes a call that must succeed and decodes the answer into data, unless data is nil.
func (w *world) do(method, path, token string, body, data any) {
	w.t.Helper()
	status, text := w.call(method, path, token, body)
	if status/100 != 2 {
		w.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if data == nil {
		return
	}
	if err := json.Unmarshal(text, &struct{ Data any }{data}); err != nil {
		w.t.Fatal(err)
	}
}

// ask records a call to compare.
func (w *world) ask(token string, paths ...string) {
	for _, path := range paths {
		w.asked[path+" "+token[:min(12, len(token))]] = token
	}
}

// fill creates something of every kind.
func (w *world) fill() {
	w.account()
	w.money()
	w.mailboxes()
	for i, box := range w.boxes {
		w.receive(box, i)
	}
	w.content()
	w.sink()
	w.ask("", "/domains", "/plans", "/payment-providers", "/content/notices", "/content/pages", "/content/pages/terms")
}

func (w *world) account() {
	token := w.token
	w.do(http.MethodPatch, "/me", token, map[string]string{"locale": "vi-VN"}, nil)
	var setup struct{ Secret string }
	w.do(http.MethodPost, "/me/2fa/setup", token, nil, &setup)
	w.totp = setup.Secret
	var confirmed struct{ RecoveryCodes []string }
	w.do(http.MethodPost, "/me/2fa/confirm", token, map[string]string{"code": w.code(0)}, &confirmed)
	w.recovery = confirmed.RecoveryCodes
	w.do(http.MethodPost, "/me/domains", token, map[string]string{"domain": "ada-example.org"}, nil)
	w.do(http.MethodPost, "/me/filters", token, map[string]any{"name": "Übung", "extractRegex": `Nummer (\d+)`, "subjectPattern": "Übung"}, nil)
	w.ask(token, "/me", "/me/2fa", "/me/domains", "/me/filters", "/me/mailboxes", "/me/subscription", "/me/wallet", "/me/wallet/transactions")
}

// money orders, pays and buys.
func (w *world) money() {
	token := w.token
	var order struct{ ID, Memo string }
	r := func(key string) *http.Request {
		body := `{"provider":"bankpay","amount":30000,"currency":"VND"}`
		r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/me/wallet/topups", strings.NewReader(body))
		if err != nil {
			w.t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
		return r
	}
	res, err := http.DefaultClient.Do(r("first"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&struct{ Data any }{&order}); err != nil || res.StatusCode != http.StatusCreated {
		w.t.Fatalf("order: %d %v", res.StatusCode, err)
	}
	for n, content := range []string{"MBVCB " + order.Memo + " CT", "nothing that anybody ordered"} {
		p := &payer{market: &market{url: w.url}}
		transfer := map[string]any{"id": 700 + n, "transferType": "in", "transferAmount": 30000, "content": content, "accountNumber": "0011001932418"}
		if err := p.insist(w.t.Context(), "/integrations/bankpay/webhook", "", "", transfer, http.StatusOK, nil); err != nil {
			w.t.Fatal(err)
		}
	}
	await(w.t, "the reconciliation", func() bool { return w.unseen() == 0 })
	if code, _, text := command(w.t, "payment", "resolve", "701", "--ignore", "--note", "a test", "--data-dir", w.dir); code != 0 {
		w.t.Fatal(text)
	}
	w.do(http.MethodPost, "/me/subscription", token, map[string]string{"planCode": "plus", "interval": "monthly"}, nil)
	w.do(http.MethodPost, "/me/webhooks", token, map[string]any{"url": authority.NewReceiver(w.t).URL, "events": []string{"otp.extracted"}}, nil)
	w.ask(token, "/me/wallet/topups/"+order.ID)
}

// mailboxes makes one of every kind.
func (w *world) mailboxes() {
	var session struct{ Key string }
	w.do(http.MethodPost, "/session", "", nil, &session)
	var key struct{ Key string }
	w.do(http.MethodPost, "/me/api-keys", w.token, map[string]any{"name": "ci", "scopes": []string{"mailboxes:read", "mailboxes:write", "messages:read", "otp:read"}}, &key)
	for _, of := range []struct{ path, token string }{{"/mailboxes", ""}, {"/mailboxes", session.Key}, {"/mailboxes", w.token}, {"/keys/mailboxes", key.Key}} {
		var made mailbox
		w.do(http.MethodPost, of.path, of.token, map[string]any{}, &made)
		w.boxes = append(w.boxes, made)
	}
	w.ask(key.Key, "/keys/mailboxes")
	w.ask(session.Key, "/session")
	w.ask(w.token, "/me/api-keys")
}

// receive sends a mailbox two mails, one of them with attachments, and records the calls that read them.
func (w *world) receive(box mailbox, n int) {
	w.t.Helper()
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
		if err := smtp.SendMail(w.smtp, nil, "sender@example.org", []string{box.Address}, []byte(mail)); err != nil {
			w.t.Fatal(err)
		}
		w.mails = append(w.mails, []byte(mail))
	}
	w.ask(box.Token, "/mailboxes/me", "/mailboxes/me/deliveries", "/mailboxes/me/messages", "/mailboxes/me/otp/latest")
	for i, m := range w.messages(box)[:2] {
		full := w.read(box, m.ID) // which is seen from now on
		w.ask(box.Token, "/messages/"+m.ID, "/messages/"+m.ID+"/raw")
		for _, a := range full.Attachments {
			w.ask(box.Token, "/messages/"+m.ID+"/attachments/"+a.ID)
		}
		if _, sent := w.raw(box, m.ID); !bytes.Equal(sent, w.mails[len(w.mails)-1-i]) {
			w.t.Errorf("the raw message of %s is not what was sent", m.ID)
		}
	}
}

func (w *world) content() {
	for _, line := range [][]string{
		{"notice", "publish", "--title", "Umzug", "--html", "<p>Wir ziehen um.</p>"},
		{"page", "put", "terms", "--title", "Terms", "--html", "<h1>Điều khoản</h1>"},
		{"domain", "add", "second.example.org"},
		{"block", "add", "--ip", "192.0.2.0/24"},
		{"invite", "add", "--note", "for Ada"},
	} {
		if code, _, text := command(w.t, append(line, "--data-dir", w.dir)...); code != 0 {
			w.t.Fatalf("%v: %s", line, text)
		}
	}
	await(w.t, "the new domain", func() bool { return w.offers("second.example.org") })
}

// sink sends a mail to the sink of an account of its own.
func (w *world) sink() {
	var bob struct{ Token string }
	w.do(http.MethodPost, "/auth/register", "", map[string]string{"email": "bob@example.org", "password": "correct horse battery staple"}, &bob)
	await(w.t, "mail to the sink", func() bool { // the account is looked for now and then
		return smtp.SendMail(w.smtp, nil, "sender@example.org", []string{"anyone@sink.example"}, []byte("Subject: To the sink\r\n\r\nHello.\r\n")) == nil
	})
	w.mails = append(w.mails, nil) // it is counted, and not read
	w.ask(bob.Token, "/me/mailboxes")
}

// look returns the answer to every call, without the fields that change with time.
func (w *world) look(s *service) map[string]string {
	s.t.Helper()
	answers := make(map[string]string)
	for call, token := range w.asked {
		path, _, _ := strings.Cut(call, " ")
		status, body := s.call(http.MethodGet, path, token, nil)
		if status != http.StatusOK {
			s.t.Errorf("GET %s: %d %s", path, status, body)
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
func (w *world) refused(s *service) {
	s.t.Helper()
	await(s.t, "refused deliveries", func() bool { return len(w.Got()) > len(w.mails)/2 })
}

// move runs the command on the destination's configuration.
func (w *world) move(from, to, secret string) report {
	t := w.t
	t.Helper()
	args := []string{"migrate", "--json", "--from", from, "--to", to, "--data-dir", t.TempDir()}
	if code, _, text := command(t, args...); code != 1 || !strings.Contains(text, "secrets.key") {
		t.Errorf("without a secret: status %d, %s", code, text)
	}
	code, out, text := command(t, append(args, "--set", "secrets.key="+w.secret(secret))...)
	var r report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("move: status %d, %v: %s%s", code, err, out, text)
	}
	return r
}

// inUse checks that the command refuses to run beside the service.
func (w *world) inUse(from, to, secret string) {
	t := w.t
	t.Helper()
	code, out, text := command(t, "migrate", "--from", from, "--to", to, "--set", "secrets.key="+w.secret(secret))
	if code != 1 || out != "" || strings.Count(text, "\n") != 1 || !strings.Contains(text, "a service is running on it") {
		t.Errorf("while it is served: status %d, %q, %q", code, out, text)
	}
}

func (w *world) secret(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// otherSecret checks that the service refuses to start on the moved data with another secret.
func (w *world) otherSecret(url string) {
	t := w.t
	other := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))
	code, _, text := command(t, "serve", "--data-dir", t.TempDir(), "--set", "http.addr=127.0.0.1:0", "--set", "smtp.addr=127.0.0.1:0",
		"--set", "database.url="+url, "--set", "secrets.key="+other)
	if code != 1 || !strings.Contains(text, "secrets.key is not the secret") {
		t.Errorf("served with another secret: status %d, %s", code, text)
	}
}

// signsIn signs in with both kinds of second factor.
func (w *world) signsIn(s *service) {
	s.t.Helper()
	for _, code := range []string{w.code(1), w.recovery[0]} {
		body := map[string]string{"email": "ada@example.org", "password": "correct horse", "code": code}
		if status, text := s.call(http.MethodPost, "/auth/token", "", body); status != http.StatusOK {
			s.t.Errorf("sign in: %d %s", status, text)
		}
	}
}

// code is the one-time password (RFC 6238) some steps from now.
func (w *world) code(steps int64) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(w.totp)
	if err != nil {
		w.t.Fatal(err)
	}
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, clock.System().Now().Unix()/30+steps)
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:at+4])&0x7fffffff%1_000_000)
}

// delivered waits for the deliveries that were pending when the service was moved.
func (w *world) delivered() {
	t := w.t
	t.Helper()
	first := make(map[string]int)
	await(t, "the deliveries that were pending", func() bool {
		clear(first)
		for _, d := range w.Got() {
			if m, ok := w.received(t, d); ok {
				first[m.ID]++
			}
		}
		return len(first) == 4 // the mails of the mailboxes that the account and its key made
	})
}

// goesOn uses the service on its new database.
func (w *world) goesOn(s *service) {
	w.service = s
	w.receive(w.boxes[0], 9)
	var made mailbox
	w.do(http.MethodPost, "/mailboxes", w.token, map[string]any{}, &made)
	w.receive(made, 8)
}
