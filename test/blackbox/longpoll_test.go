package blackbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// waiting starts a call that waits and returns its answer. It returns once the call is asleep. The answer must arrive
// within patience, long before the wait of a minute ends.
func (s *service) waiting(path, token string) (answer func() apptest.Response) {
	s.t.Helper()
	before := s.Sleepers()
	got := make(chan apptest.Response, 1)
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	go func() {
		defer cancel()
		a, err := s.TryCall(ctx, http.MethodGet, path, token, nil)
		if err != nil {
			a = apptest.Response{Body: []byte(err.Error())}
		}
		got <- a
	}()
	eventually(s.t, "waiting", func() bool { return s.Sleepers() > before || len(got) > 0 })
	return func() apptest.Response { return <-got }
}

const (
	waitForMail = "/mailboxes/me/messages?wait=60"
	waitForCode = "/mailboxes/me/otp/latest?wait=60"
)

func TestLongPollAnswersWhenMailArrives(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	mail, code, fromBank := s.waiting(waitForMail, m.Token), s.waiting(waitForCode, m.Token), s.waiting(waitForCode+"&from=bank", m.Token)
	s.Send(apptest.Mail{To: []string{m.Address}, Subject: "no code", Text: "hello"})
	a := mail()
	want(t, a, 200, "")
	var list []summary
	a.Into(t, &list)
	if len(list) != 1 || list[0].Subject != "no code" {
		t.Errorf(`%s, after a mail: got %s, want one message with the subject "no code"`, waitForMail, a.Body)
	}
	s.Send(apptest.Mail{To: []string{m.Address}, Subject: "Sign in", Text: "Your verification code is 482913."})
	want(t, code(), 200, "")
	after := s.waiting(waitForMail+"&after="+s.page(m.Token, "limit=1").Data[0].ID, m.Token)
	s.Send(apptest.Mail{From: "x@bank.example", To: []string{m.Address}, Subject: "Sign in", Text: "Your verification code is 111222."})
	want(t, fromBank(), 200, "")
	a = after()
	if a.Into(t, &list); a.Status != 200 || len(list) != 1 {
		t.Errorf("the long-poll returned %d %s, want 200 and one message", a.Status, a.Body)
	}
	want(t, s.Call(http.MethodGet, waitForMail, m.Token, nil), 200, "") // there is something: at once
	want(t, s.Call(http.MethodGet, waitForCode, m.Token, nil), 200, "")
}

func TestLongPollTimesOutEmpty(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	mail, code := s.waiting("/mailboxes/me/messages?wait=1", m.Token), s.waiting("/mailboxes/me/otp/latest?wait=1", m.Token)
	a := mail()
	want(t, a, 200, "")
	if begin := `{"data":[],"nextCursor":null,"diagnosis":{`; !strings.HasPrefix(string(a.Body), begin) {
		t.Errorf("mail() = %s, want a body that begins with %s", a.Body, begin)
	}
	want(t, code(), 404, "otp.not_found")
}

func TestLongPollEndsWithMailbox(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	mail, code := s.waiting(waitForMail, m.Token), s.waiting(waitForCode, m.Token)
	s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "")
	want(t, mail(), 401, "auth.invalid_token")
	want(t, code(), 401, "auth.invalid_token")

	m = s.create("", nil)
	mail, code = s.waiting(waitForMail, m.Token), s.waiting(waitForCode, m.Token)
	s.Clock.Advance(time.Hour)
	want(t, mail(), 410, "mailbox.expired")
	want(t, code(), 404, "otp.not_found")
}

func TestLongPollEndsWhenClientDisconnects(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.long_polls": "1"})
	m := s.create("", nil)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	before := s.Sleepers()
	go func() {
		_, err := s.TryCall(ctx, http.MethodGet, waitForMail, m.Token, nil)
		gone <- err
	}()
	eventually(t, "waiting", func() bool { return s.Sleepers() > before })
	s.call(http.MethodGet, waitForMail, m.Token, 429, "rate.limited")
	leave()
	if err := <-gone; err == nil {
		t.Error("the call of a client that left was answered, want an error")
	}
	eventually(t, "the end of the wait", func() bool { return s.Sleepers() == before })
	eventually(t, "a free place", func() bool {
		return s.Call(http.MethodGet, "/mailboxes/me/otp/latest?wait=1", m.Token, nil).Status == 404
	})
}

func TestLongPollEndsAtShutdown(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	mail, code := s.waiting(waitForMail, m.Token), s.waiting(waitForCode, m.Token)
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	want(t, mail(), 200, "")
	want(t, code(), 404, "otp.not_found")
}

// A client that repeatedly asks for messages after the newest it has gets every acknowledged mail, however mails and
// calls interleave.
func TestLongPollsMissNoMail(t *testing.T) {
	t.Parallel()
	const readers, writers, mails = 6, 3, 12
	s := start(t, settings{"limits.long_polls": "100000"})
	box := s.create("", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			if got := s.follow(ctx, box.Token, writers*mails); len(got) != writers*mails {
				t.Errorf("a reader has %d mails, want %d", len(got), writers*mails)
			}
		})
	}
	for w := range writers {
		all.Go(func() {
			for i := range mails {
				for range rand.IntN(40) {
					runtime.Gosched() // a chance for others
				}
				if err := s.TrySend(apptest.Mail{To: []string{box.Address}, Subject: fmt.Sprint(w, "-", i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// follow collects mails by long-polling until it has n.
func (s *service) follow(ctx context.Context, token string, enough int) (seen []string) {
	after := ""
	for len(seen) < enough {
		a, err := s.TryCall(ctx, http.MethodGet, waitForMail+"&limit=100"+after, token, nil)
		var p page
		if err != nil || json.Unmarshal(a.Body, &p) != nil || a.Status != 200 || len(p.Data) == 0 {
			s.t.Errorf("the long-poll after %q = %v, %d %s, want 200 and messages", after, err, a.Status, a.Body)
			return seen
		}
		fresh := ids(p.Data)
		for _, id := range fresh {
			if slices.Contains(seen, id) {
				s.t.Errorf("%s came twice, want each message once", id)
			}
		}
		seen = append(seen, fresh...)
		after = "&after=" + fresh[0]
	}
	return seen
}

// Mail that was acknowledged before a call is in its answer, without waiting.
func TestAcknowledgedMailIsListed(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	box := s.create("", nil)
	for i := range 30 {
		s.Send(apptest.Mail{To: []string{box.Address}, Subject: fmt.Sprint(i)})
		if got := s.page(box.Token, "limit=1"); len(got.Data) != 1 || got.Data[0].Subject != fmt.Sprint(i) {
			t.Fatalf("after mail %d the newest is %+v, want it alone", i, got)
		}
	}
}
