package blackbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// since is the query for messages received after another one.
func since(received time.Time) string {
	return "since=" + url.QueryEscape(received.Format(time.RFC3339Nano))
}

// The last receivedAt is a cursor: it never returns the message that it was read from, and it returns every later one,
// although the clock stands still here and all of them are received in the same millisecond.
func TestLastReceivedAtIsACursor(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	k := s.key(u, nil)
	m := s.create(u.Token, nil)
	for path, token := range map[string]string{"/mailboxes/me": m.Token, "/keys/mailboxes/" + m.ID: k.Key} {
		last := apptest.Noon().Add(-time.Second)
		if list := get[[]summary](s, path+"/messages?limit=1", token); len(list) > 0 {
			last = list[0].ReceivedAt
		}
		for i := range 3 {
			query := "?" + since(last)
			var list func() apptest.Response
			if i > 0 {
				s.call(http.MethodGet, path+"/otp/latest"+query, token, 404, "otp.not_found")
				if list := get[[]summary](s, path+"/messages"+query, token); len(list) != 0 {
					t.Errorf("GET %s/messages after the message = %+v, want it not again", path, list)
				}
				list = s.waiting(path+"/messages"+query+"&wait=60", token)
			}
			number := fmt.Sprint(100100 + i)
			s.Send(apptest.Mail{To: []string{m.Address}, Subject: number, Text: "Your verification code is " + number + "."})
			if list == nil {
				list = func() apptest.Response { return s.Call(http.MethodGet, path+"/messages"+query, token, nil) }
			}
			var got []summary
			if list().Into(t, &got); len(got) != 1 || got[0].Subject != number {
				t.Fatalf("GET %s/messages after mail %d = %+v, want %s alone", path, i, got, number)
			}
			if c := get[code](s, path+"/otp/latest"+query, token); c.Code != number || !c.ReceivedAt.Equal(got[0].ReceivedAt) {
				t.Errorf("GET %s/otp/latest = %+v, want %s at %v", path, c, number, got[0].ReceivedAt)
			}
			last = got[0].ReceivedAt
		}
	}
}

// Clients that poll with since=<last receivedAt> get every mail exactly once, however close together the mails are.
func TestPollingBySinceMissesNoMail(t *testing.T) {
	t.Parallel()
	const readers, writers, mails = 3, 3, 12
	s := start(t, settings{"limits.long_polls": "100000", "limits.reads": "100000/1m"})
	box := s.create("", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			var seen []string
			for query := "&limit=100"; len(seen) < writers*mails; {
				a, err := s.TryCall(ctx, http.MethodGet, waitForMail+query, box.Token, nil)
				var p page
				if err != nil || json.Unmarshal(a.Body, &p) != nil || a.Status != 200 || len(p.Data) == 0 {
					t.Errorf("the poll after %d mails: %v, %d %s, want more mails", len(seen), err, a.Status, a.Body)
					return
				}
				for _, id := range ids(p.Data) {
					if slices.Contains(seen, id) {
						t.Errorf("%s came twice, want each message once", id)
					}
					seen = append(seen, id)
				}
				query = "&limit=100&" + since(p.Data[0].ReceivedAt)
			}
		})
	}
	for range writers {
		all.Go(func() {
			for range mails {
				if err := s.TrySend(apptest.Mail{To: []string{box.Address}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
