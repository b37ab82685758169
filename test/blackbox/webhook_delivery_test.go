package blackbox_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	reference "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// schedule is the retry schedule of docs/spec/webhooks.md#deliveries.
var schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour,
}

// quiet checks that a receiver gets nothing more: it waits for another receiver to get something sent later.
func (s *service) quiet(u user, r *apptest.Receiver, have int) {
	s.t.Helper()
	probe := authority.NewReceiver(s.t)
	h := s.hook(u, probe, "webhook.ping")
	s.call(http.MethodDelete, "/me/webhooks/"+h.ID, u.Token, 204, "")
	arrived(s.t, r, have)
}

func TestDeliveryRetriesFollowSchedule(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	r.Status(http.StatusInternalServerError)
	s.create(u.Token, nil)
	first := arrived(t, r, 2)[1]
	for n, pause := range schedule {
		last := s.attempted(u, h, 2+n)[0]
		if last.Attempt != n+1 || last.Outcome != "failed" || last.HTTPStatus == nil || *last.HTTPStatus != 500 || last.Error == nil ||
			last.NextAttemptAt == nil || !last.NextAttemptAt.Equal(s.Clock.Now().Add(pause)) || last.EventID != first.Event() {
			t.Fatalf("attempt %d is %+v, want it failed with 500 and another %s after %s", n+1, last, pause, s.Clock.Now())
		}
		if got := s.shown(u, h); got.FailureCount != n+1 {
			t.Errorf("failureCount %d, want FailureCount %v", got.FailureCount, n+1)
		}
		s.Clock.Advance(pause - time.Second)
		s.quiet(u, r, 2+n)
		s.Clock.Advance(time.Second)
		again := arrived(t, r, 3+n)[2+n]
		if again.Event() != first.Event() || !bytes.Equal(again.Body, first.Body) {
			t.Errorf("the retry sends %s %s, want %s %s again", again.Event(), again.Body, first.Event(), first.Body)
		}
		s.read(h.Secret, again)
	}
	if last := s.attempted(u, h, 2+len(schedule))[0]; last.NextAttemptAt != nil || last.Attempt != 8 {
		t.Errorf("the last attempt is %+v, want the eighth, without another to come", last)
	}
	s.Clock.Advance(48 * time.Hour)
	s.quiet(u, r, 2+len(schedule))

	r.Status(http.StatusOK)
	s.create(u.Token, nil)
	s.attempted(u, h, 3+len(schedule))
	if got := s.shown(u, h); got.FailureCount != 0 || !got.LastDeliveryAt.Equal(s.Clock.Now()) {
		t.Errorf("a success leaves failures: %+v, want FailureCount 0 and LastDeliveryAt %v", got, s.Clock.Now())
	}
}

func TestOnlyStatus2xxIsASuccess(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(settings{"webhooks.timeout": "3s"}))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	elsewhere := authority.NewReceiver(t)
	for i, c := range []struct {
		what    string
		answer  http.HandlerFunc
		outcome string
		check   func(attempt) bool
	}{
		{"200 with a body", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "thanks") }, "succeeded", func(a attempt) bool { return a.ResponseBody == "thanks" }},
		{"299", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(299) }, "succeeded", nil},
		{
			"a redirect", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			},
			"failed", func(a attempt) bool { return *a.HTTPStatus == 307 },
		},
		{"404", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who?", 404) }, "failed", func(a attempt) bool { return a.ResponseBody == "who?\n" }},
		{
			"a long body", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) },
			"succeeded", func(a attempt) bool { return a.ResponseBody == strings.Repeat("x", 1024) },
		},
		{
			"octets that are no text", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("a\x00b\xff")) },
			"succeeded", func(a attempt) bool { return a.ResponseBody == "a\uFFFDb\uFFFD" },
		},
		{"no answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "failed", func(a attempt) bool {
			return a.HTTPStatus == nil && text(a.Error) == "no answer within 3s"
		}},
		{"a cut connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "failed", func(a attempt) bool {
			return a.HTTPStatus == nil && a.Error != nil && !strings.Contains(*a.Error, "https://")
		}},
	} {
		r.Answer(c.answer)
		s.call(http.MethodPost, "/me/webhooks/"+h.ID+"/test", u.Token, 202, "")
		got := s.attempted(u, h, 2+i)[0]
		if got.Outcome != c.outcome || (got.Error == nil) != (c.outcome == "succeeded") || got.NextAttemptAt != nil || c.check != nil && !c.check(got) {
			t.Errorf("%s: the attempt is %+v, want it %s, without another to come", c.what, got, c.outcome)
		}
	}
	arrived(t, elsewhere, 0)
	r.Close()
	s.call(http.MethodPost, "/me/webhooks/"+h.ID+"/test", u.Token, 202, "")
	if got := s.attempted(u, h, 10)[0]; got.Outcome != "failed" || got.HTTPStatus != nil {
		t.Errorf("the attempt at a port that refuses is %+v, want it failed, without a status", got)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	for i, c := range []struct {
		field string
		pause time.Duration
	}{
		{"120", 2 * time.Minute},
		{s.Clock.Now().Add(time.Hour).Format(http.TimeFormat), time.Hour},
		{"1", 5 * time.Second},
		{"soon", 5 * time.Second},
		{"-5", 5 * time.Second},
		{"864000", 24 * time.Hour},
		{"99999999999999999999", 5 * time.Second}, // no number that anybody means
		{s.Clock.Now().Add(-time.Hour).Format(http.TimeFormat), 5 * time.Second},
	} {
		r.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.field)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		s.create(u.Token, nil)
		got := s.attempted(u, h, 2+i)[0]
		if got.NextAttemptAt == nil || !got.NextAttemptAt.Equal(s.Clock.Now().Add(c.pause)) {
			t.Errorf("Retry-After: %s: the next attempt is at %v, want %v", c.field, got.NextAttemptAt, s.Clock.Now().Add(c.pause))
		}
	}
}

func TestConsecutiveFailuresPauseEndpoint(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(settings{"webhooks.pause_after_failures": "3"}))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	r.Status(http.StatusBadGateway)
	s.create(u.Token, nil)
	s.attempted(u, h, 2)
	s.create(u.Token, nil)
	s.attempted(u, h, 3)
	if got := s.shown(u, h); got.Status != "active" || got.FailureCount != 2 {
		t.Errorf(`s.shown(u, h) = %+v, want Status "active" and FailureCount 2`, got)
	}
	s.create(u.Token, nil)
	s.attempted(u, h, 4)
	if got := s.shown(u, h); got.Status != "paused" || text(got.PausedReason) != "failures" || got.FailureCount != 3 {
		t.Errorf(`s.shown(u, h) = %+v, want Status "paused", PausedReason "failures" and FailureCount 3`, got)
	}
	s.create(u.Token, nil)
	s.Clock.Advance(time.Minute) // the retries of the first two come due, and wait with the others
	s.quiet(u, r, 1+3)

	r.Status(http.StatusOK)
	if got := s.patch(u, h, fields{"status": "active"}); got.Status != "active" || got.PausedReason != nil || got.FailureCount != 0 {
		t.Errorf("PATCH to active = %+v, want it active, with no reason and no failures", got)
	}
	// A retry that was claimed before the resumption may be held after it. The next upkeep, within a minute or so, releases it.
	const pollsAMinute = 500
	polls := 0
	eventually(t, "each event after the resumption", func() bool {
		if polls++; polls%pollsAMinute == 0 {
			s.Clock.Advance(time.Minute)
		}
		return len(r.Got()) >= 1+3+4
	})
	ids := make(map[string]int)
	for _, d := range arrived(t, r, 1+3+4) {
		s.read(h.Secret, d)
		ids[d.Event()]++
	}
	if len(ids) != 1+4 {
		t.Errorf("after the resumption %v came, want each of 4 events and a ping", ids)
	}
}

func TestStatusGonePausesEndpoint(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	r.Status(http.StatusGone)
	s.create(u.Token, nil)
	s.attempted(u, h, 2)
	if got := s.shown(u, h); got.Status != "paused" || text(got.PausedReason) != "gone" || got.FailureCount != 1 {
		t.Errorf(`s.shown(u, h) = %+v, want Status "paused", PausedReason "gone" and FailureCount 1`, got)
	}
	if got := s.attempts(u, h)[0]; got.NextAttemptAt != nil {
		t.Errorf("the attempt is %+v, want none after it", got)
	}
	s.quiet(u, r, 2)
	r.Status(http.StatusOK)
	s.patch(u, h, fields{"status": "active"})
	arrived(t, r, 3)
}

func TestPendingEventsOfPausedEndpointExpire(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	s.patch(u, h, fields{"status": "paused"})
	s.create(u.Token, nil)
	s.Clock.Advance(48 * time.Hour)
	late := s.create(u.Token, nil)
	s.Clock.Advance(25 * time.Hour)
	eventually(t, "the first to be dropped", func() bool {
		s.Clock.Advance(time.Minute)
		return len(column(t, s.Database(), "SELECT id FROM job WHERE state = 3")) == 1
	})
	s.patch(u, h, fields{"status": "active"})
	if d := arrived(t, r, 2)[1]; !bytes.Contains(d.Body, []byte(late.ID)) {
		t.Errorf("the delivery is %s, want %s in it", d.Body, late.ID)
	}
	s.quiet(u, r, 2)
}

func TestDeletingEndpointDropsPendingEvents(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	r.Status(http.StatusInternalServerError)
	s.create(u.Token, nil)
	s.attempted(u, h, 2)
	s.patch(u, h, fields{"status": "paused"})
	s.create(u.Token, nil)
	s.call(http.MethodDelete, "/me/webhooks/"+h.ID, u.Token, 204, "")
	for _, query := range []string{"SELECT id FROM job", "SELECT id FROM webhook", "SELECT id FROM webhook_delivery"} {
		if left := column(t, s.Database(), query); len(left) != 0 {
			t.Errorf("%s = %v, want nothing", query, left)
		}
	}
	s.Clock.Advance(time.Hour)
	s.quiet(u, r, 2)
}

func TestRotateSecret(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	old := s.hook(u, r, "mailbox.created")
	rotate := func() (h hook) {
		a := s.Call(http.MethodPost, "/me/webhooks/"+old.ID+"/rotate-secret", u.Token, nil)
		want(t, a, 200, "")
		a.Into(t, &h)
		return h
	}
	fresh := rotate()
	if fresh.Secret == old.Secret || !strings.HasPrefix(fresh.Secret, "whsec_") || fresh.ID != old.ID {
		t.Errorf("POST rotate-secret = %+v, want %s with another secret than before", fresh, old.ID)
	}
	s.create(u.Token, nil)
	d := arrived(t, r, 2)[1]
	s.read(fresh.Secret, d)
	s.read(old.Secret, d)
	if n := len(strings.Fields(d.Header.Get("Webhook-Signature"))); n != 2 {
		t.Errorf("%d signatures, want 2", n)
	}
	s.attempted(u, old, 2)
	s.Clock.Advance(24 * time.Hour)
	s.create(u.Token, nil)
	d = arrived(t, r, 3)[2]
	s.read(fresh.Secret, d)
	if check, _ := reference.NewWebhook(old.Secret); check.VerifyIgnoringTimestamp(d.Body, d.Header) == nil {
		t.Error("the old secret signs a day after the rotation, want the new one alone")
	}
	if n := len(strings.Fields(d.Header.Get("Webhook-Signature"))); n != 1 {
		t.Errorf("%d signatures, want 1", n)
	}
}

func TestTestAndRedeliver(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	s.create(u.Token, nil)
	first := arrived(t, r, 2)[1]
	s.attempted(u, h, 2)
	s.patch(u, h, fields{"status": "paused"})
	s.create(u.Token, nil) // waits

	event := func(path string) (sent struct{ EventID string }) {
		a := s.call(http.MethodPost, "/me/webhooks/"+h.ID+path, u.Token, 202, "")
		a.Into(t, &sent)
		return sent
	}
	ping := event("/test")
	got := arrived(t, r, 3)[2]
	if e := s.read(h.Secret, got); e.Type != "webhook.ping" || got.Event() != ping.EventID {
		t.Errorf(`s.read(h.Secret, got) = %s %s, want Type "webhook.ping" and Event %v`, got.Event(), got.Body, ping.EventID)
	}
	all := s.attempted(u, h, 3)
	i := slices.IndexFunc(all, func(a attempt) bool { return a.Event == "mailbox.created" })
	s.Clock.Advance(time.Minute)
	again := event("/deliveries/" + all[i].ID + "/redeliver")
	got = arrived(t, r, 4)[3]
	s.read(h.Secret, got)
	if again.EventID != first.Event() || got.Event() != first.Event() || !bytes.Equal(got.Body, first.Body) {
		t.Errorf("POST redeliver = %s, and the delivery is of %s: %s, want %s: %s", again.EventID, got.Event(), got.Body, first.Event(), first.Body)
	}
	s.attempted(u, h, 4) // an attempt is listed by when it is recorded, some time after the receiver has the request
	for _, unknown := range []string{"x", "dlv_" + strings.Repeat("0", 26), h.ID} {
		s.call(http.MethodPost, "/me/webhooks/"+h.ID+"/deliveries/"+unknown+"/redeliver", u.Token, 404, "webhook.delivery_not_found")
	}
	// A test delivery that fails is not retried, and neither resumes nor pauses the endpoint.
	r.Status(http.StatusInternalServerError)
	event("/test")
	if last := s.attempted(u, h, 5)[0]; last.Outcome != "failed" || last.NextAttemptAt != nil {
		t.Errorf("the attempt is %+v, want it failed, without another to come", last)
	}
	if got := s.shown(u, h); text(got.PausedReason) != "manual" {
		t.Errorf(`s.shown(u, h) = %+v, want PausedReason "manual"`, got)
	}
	s.Clock.Advance(time.Hour)
	s.quiet(u, r, 5)
}

func TestLastHundredAttemptsAreKept(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	for range 110 {
		s.Clock.Advance(time.Second)
		var sent struct{ EventID string }
		s.call(http.MethodPost, "/me/webhooks/"+h.ID+"/test", u.Token, 202, "").Into(t, &sent)
		eventually(t, "the attempt", func() bool { return s.attempts(u, h)[0].EventID == sent.EventID })
	}
	all := s.attempts(u, h)
	if len(all) != 100 || !slices.IsSortedFunc(all, func(a, b attempt) int { return b.AttemptedAt.Compare(a.AttemptedAt) }) {
		t.Errorf("%d attempts are listed, want the last 100, the newest first", len(all))
	}
}

// What was enqueued before a restart is delivered after it.
func TestDeliveriesSurviveRestart(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "mailbox.created")
	r.Status(http.StatusInternalServerError)
	s.create(u.Token, nil)
	s.attempted(u, h, 2)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	r.Status(http.StatusOK)
	next := startWith(t, apptest.Options{Dir: s.Dir, Set: hookSettings(nil), RealClock: true}) // it is later than noon in March
	defer next.Stop()
	d := arrived(t, r, 3)
	if d[2].Event() != d[1].Event() {
		t.Errorf("the delivery after the restart is of %s, want %s again", d[2].Event(), d[1].Event())
	}
}

// The body of a delivery is kept for redelivery until the message is erased.
func TestDeliveryBodyIsErasedWithMessage(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "message.received")
	m := s.create(u.Token, nil)
	redeliver := func(status int, code string) {
		t.Helper()
		last := s.attempts(u, h)[0]
		if last.Event != "message.received" || last.Outcome != "succeeded" {
			t.Fatalf(`the last attempt is %+v, want Event "message.received" and Outcome "succeeded"`, last)
		}
		s.call(http.MethodPost, "/me/webhooks/"+h.ID+"/deliveries/"+last.ID+"/redeliver", u.Token, status, code)
	}
	sent := newTraces()
	first := s.mail(m.box(), apptest.Mail{Raw: sent.mail()}).ID
	s.attempted(u, h, 2) // the first is the ping
	redeliver(202, "")
	s.attempted(u, h, 3)

	s.call(http.MethodDelete, "/messages/"+first, m.Token, 204, "")
	redeliver(404, "webhook.delivery_not_found")
	if !s.OnPostgres() {
		s.pass(time.Minute)
		for _, left := range sent.in(t, s.Dir, "raw") {
			t.Errorf("the files of the raw messages have %v, want nothing of the deleted message", left)
		}
	}

	// An attempt after the message was erased stores no body.
	s.patch(u, h, fields{"status": "paused"})
	second := s.mail(m.box(), apptest.Mail{Raw: sent.mail()}).ID
	s.call(http.MethodDelete, "/messages/"+second, m.Token, 204, "")
	s.patch(u, h, fields{"status": "active"})
	s.attempted(u, h, 4)
	redeliver(404, "webhook.delivery_not_found")
}
