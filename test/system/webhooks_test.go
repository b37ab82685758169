package system_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	reference "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// hook is a webhook endpoint of a new account that has mailboxes.
type hook struct {
	*apptest.Receiver
	id, secret, token string
	boxes             []mailbox
}

// hooked registers an account with a receiver for its messages, and makes mailboxes for it.
func (s *service) hooked(email string, boxes int) hook {
	s.t.Helper()
	h := hook{Receiver: authority.NewReceiver(s.t)}
	status, body := s.call(http.MethodPost, "/auth/register", "", map[string]string{"email": email, "password": "correct horse"})
	if status != http.StatusCreated {
		s.t.Fatalf("register: %d %s, want %v", status, body, http.StatusCreated)
	}
	h.token = decode[struct{ Token string }](s.t, body).Token
	wish := map[string]any{"url": h.URL, "events": []string{"message.received"}}
	if status, body = s.call(http.MethodPost, "/me/webhooks", h.token, wish); status != http.StatusCreated {
		s.t.Fatalf("register a webhook: %d %s, want %v", status, body, http.StatusCreated)
	}
	made := decode[struct{ ID, Secret string }](s.t, body)
	h.id, h.secret = made.ID, made.Secret
	for range boxes {
		if status, body = s.call(http.MethodPost, "/mailboxes", h.token, map[string]any{}); status != http.StatusCreated {
			s.t.Fatalf("make a mailbox: %d %s, want %v", status, body, http.StatusCreated)
		}
		h.boxes = append(h.boxes, decode[mailbox](s.t, body))
	}
	return h
}

// hookSettings are those of a service that delivers to receivers of a test and does not pause them.
func hookSettings() map[string]string {
	return map[string]string{
		"webhooks.allow_networks": "127.0.0.0/8", "webhooks.retry_schedule": strings.Repeat("50ms, ", 99) + "50ms", "webhooks.pause_after_failures": "1000000",
		"plans.free.mail.daily.max": "1000000", "account.password.memory": "64KiB", "account.password.passes": "1",
	}
}

// received returns the message of a delivery if it is a message.received event.
func (h hook) received(t *testing.T, d apptest.Delivery) (m struct{ ID, MailboxID, Preview string }, ok bool) {
	t.Helper()
	check, err := reference.NewWebhook(h.secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := check.Verify(d.Body, d.Header); err != nil {
		t.Errorf("the reference refuses a delivery: %v", err)
	}
	e := struct {
		Type string
		Data any
	}{Data: &m}
	if err := json.Unmarshal(d.Body, &e); err != nil {
		t.Fatalf("decode the delivery %s: %v", d.Body, err)
	}
	return m, e.Type == "message.received"
}

// TestWebhooksSurviveCrashes repeatedly kills the service under load while the endpoint refuses every fifth delivery.
// Every mail that was answered 250 is delivered at least once, each under one identifier, and nothing else is.
func TestWebhooksSurviveCrashes(t *testing.T) {
	t.Parallel()
	l := &load{seed: *seed}
	if l.seed == 0 {
		l.seed = uint64(rand.Uint32())
	}
	t.Logf("go test ./test/system -run TestWebhooksSurviveCrashes -seed %d", l.seed)
	s := start(t, options{set: hookSettings()})
	h := s.hooked("ada@example.org", 4)
	var n atomic.Int64
	h.Answer(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%5 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	l.boxes, l.addr = h.boxes, s.smtp
	l.torment(t, s)
	s.restart()
	l.verify(t, s)

	wanted := make(map[string]bool) // of each mail that is there, the message identifiers
	for _, box := range h.boxes {
		for _, m := range s.messages(box) {
			wanted[m.ID] = true
		}
	}
	events := make(map[string]string) // by message
	tries, looked := 0, 0
	await(t, "every event", func() bool {
		for _, d := range h.Got()[looked:] {
			looked++
			m, ok := h.received(t, d)
			if !ok {
				continue
			}
			tries++
			if before, again := events[m.ID]; again && before != d.Event() {
				t.Errorf("message %s came as the event %s and as %s, want one event", m.ID, before, d.Event())
			}
			events[m.ID] = d.Event()
		}
		return len(events) >= len(wanted)
	})
	for id := range events {
		if !wanted[id] {
			t.Errorf("an event names the message %s, want one that exists", id)
		}
	}
	different := make(map[string]bool)
	for id := range maps.Values(events) {
		different[id] = true
	}
	if len(different) != len(events) {
		t.Errorf("%d events have %d identifiers, want one each", len(events), len(different))
	}
	t.Logf("%d messages, %d deliveries", len(events), tries)
}

// TestSlowEndpointDelaysNoOther has one mailbox with 23 endpoints: one accepts a request and never answers, one answers
// just before the timeout, and on one port no process listens. The other 20 get every mail while those are being waited
// for.
func TestSlowEndpointDelaysNoOther(t *testing.T) {
	t.Parallel()
	const healthy, mails = 20, 100
	set := hookSettings()
	set["plans.free.webhooks.max"] = "30"
	set["webhooks.retry_schedule"] = "5s, 5m"
	s := start(t, options{set: set})
	h := s.hooked("ada@example.org", 1)
	dead, slow, refusing := authority.NewReceiver(t), authority.NewReceiver(t), authority.NewReceiver(t)
	dead.Answer(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	slow.Answer(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(14 * time.Second):
		case <-r.Context().Done():
		}
	})
	refusing.Close()
	receivers := []*apptest.Receiver{h.Receiver}
	for range healthy - 1 {
		receivers = append(receivers, authority.NewReceiver(t))
	}
	for _, r := range slices.Concat(receivers[1:], []*apptest.Receiver{dead, slow, refusing}) {
		wish := map[string]any{"url": r.URL, "events": []string{"message.received"}}
		if status, body := s.call(http.MethodPost, "/me/webhooks", h.token, wish); status != http.StatusCreated {
			t.Fatalf("register a webhook: %d %s, want %v", status, body, http.StatusCreated)
		}
	}
	told := make(map[string]time.Time) // by the token of a mail, when its sender heard 250
	c, err := dial(t.Context(), s.smtp)
	if err != nil {
		t.Fatal(err)
	}
	defer c.conn.Close()
	for i := range mails {
		token := fmt.Sprintf("tkn-%d.", i)
		c.within(patience)
		reply, err := c.send("sender@example.org", []string{h.boxes[0].Address}, sampleMail("fair", token+"\r\n"))
		if err != nil || !strings.HasPrefix(reply, "250 ") {
			t.Fatalf("the reply is %s, %v, want 250", reply, err)
		}
		told[token] = time.Now()
		<-time.After(5 * time.Millisecond) // 200 mails a second
	}
	var delays []time.Duration
	for _, r := range receivers {
		await(t, "every event at a healthy endpoint", func() bool { return len(r.Got()) >= mails+1 }) // and the ping
		for _, d := range r.Got() {
			for token, at := range told {
				if strings.Contains(string(d.Body), token) {
					delays = append(delays, d.At.Sub(at))
				}
			}
		}
	}
	slices.Sort(delays)
	t.Logf("from 250 to a healthy endpoint: median %s, 99 of 100 within %s, %d deliveries", delays[len(delays)/2], delays[len(delays)*99/100], len(delays))
}
