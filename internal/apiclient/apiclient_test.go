package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/apiclient"
	"github.com/gonebox/gonebox/internal/clock"
)

func TestErrOfResponse(t *testing.T) {
	const html = "<h1>Bad Gateway</h1>"
	problem := `{"code":"request.invalid","title":"Invalid","detail":"The request is invalid","errors":[{"pointer":"/ttl","message":"is too small"}]}`
	for _, c := range []struct {
		response apiclient.Response
		want     string
		after    time.Duration
	}{
		{apiclient.Response{Status: 200, Body: []byte(html)}, "", 0},
		{apiclient.Response{Status: 422, Body: []byte(problem)}, "request.invalid: The request is invalid; ttl is too small", 0},
		{apiclient.Response{Status: 429, RetryAfter: "7", Body: []byte(`{"code":"rate.limited","title":"Too many"}`)}, "rate.limited: Too many; try again in 7 s", 7 * time.Second},
		{apiclient.Response{Status: 502, URL: "http://a.test", Body: []byte(html)}, "http://a.test answered with status 502, not as Gonebox does: check the URL", 0},
		{apiclient.Response{Status: 503, URL: "http://a.test", RetryAfter: "9", Body: []byte("{}")}, "http://a.test answered with status 503, not as Gonebox does: check the URL", 9 * time.Second},
		{apiclient.Response{Status: 400, RetryAfter: "-1", Body: []byte(`{"code":"a.b","title":"T"}`)}, "a.b: T", 0},
		{apiclient.Response{Status: 400, RetryAfter: "99999999999", Body: []byte(`{"code":"a.b","title":"T"}`)}, "a.b: T", 0},
		{apiclient.Response{Status: 400, RetryAfter: "Fri, 31 Dec 1999 23:59:59 GMT", Body: []byte(`{"code":"a.b","title":"T"}`)}, "a.b: T", 0},
	} {
		got, after := "", time.Duration(0)
		if e, ok := errors.AsType[*apiclient.Error](c.response.Err()); ok {
			got, after = e.Error(), e.RetryAfter
		}
		if got != c.want || after != c.after {
			t.Errorf("Err of the response %d %s with Retry-After %q: %q, %v; want %q, %v", c.response.Status, c.response.Body, c.response.RetryAfter, got, after, c.want, c.after)
		}
	}
}

// Any response with a status of 400 or above is an error that can be shown.
func FuzzErrOfResponse(f *testing.F) {
	f.Add(422, "5", []byte(`{"code":"request.invalid","errors":[{"pointer":"/ttl","message":"is too small"}]}`))
	f.Add(502, "-1", []byte("<h1>Bad Gateway</h1>"))
	f.Add(503, "1e9", []byte(`{"code":1,"errors":null}`))
	f.Fuzz(func(t *testing.T, status int, retryAfter string, body []byte) {
		err := (&apiclient.Response{Status: status, RetryAfter: retryAfter, Body: body}).Err()
		e, _ := errors.AsType[*apiclient.Error](err)
		if (err != nil) != (status >= 400) || err != nil && (e.Error() == "" || e.RetryAfter < 0) {
			t.Errorf("Err of the response %d %q with Retry-After %q: %v, want an error from 400 on", status, body, retryAfter, err)
		}
	})
}

// What answers with something else than JSON is not Gonebox, whatever its status.
func TestDataOfForeignService(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>Welcome</h1>") }))
	defer service.Close()
	var data struct{ ID string }
	err := apiclient.Data(t.Context(), &apiclient.Remote{URL: service.URL, HTTP: service.Client()}, apiclient.Request{Method: http.MethodGet, Path: "/mailboxes/me"}, &data)
	if want := service.URL + " answered with status 200, not as Gonebox does: check the URL"; err == nil || err.Error() != want {
		t.Errorf("Data from a page of HTML: %v, want %q", err, want)
	}
}

// poll is one poll of a wait: when it began, and for how long it might hold its call open.
type poll struct{ At, Hold time.Duration }

// Each poll waits for whole seconds, over the network for at most 25. The fraction that remains is slept, and a last poll
// finds what came meanwhile.
func TestUntilPollsForWholeTime(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		timeout time.Duration
		remote  bool
		took    func(hold time.Duration) time.Duration // how long a poll takes
		want    []poll
	}{
		{30 * second, false, hold, []poll{{0, 30 * second}}},
		{55 * second, true, hold, []poll{{0, 25 * second}, {25 * second, 25 * second}, {50 * second, 5 * second}}},
		{300 * time.Millisecond, true, hold, []poll{{0, 0}, {300 * time.Millisecond, 0}}},
		{2500 * time.Millisecond, true, hold, []poll{{0, 2 * second}, {2 * second, 0}, {2500 * time.Millisecond, 0}}},
		{0, true, hold, []poll{{0, 0}}},
		{30 * second, false, atOnce, []poll{{0, 30 * second}}}, // this process shuts down
		{3 * second, true, atOnce, []poll{ // the service restarts
			{0, 3 * second}, {250 * time.Millisecond, 2 * second}, {750 * time.Millisecond, 2 * second}, {1750 * time.Millisecond, second}, {3 * second, 0},
		}},
	} {
		start := time.Unix(1, 0)
		now := clock.NewJumping(start)
		w := apiclient.Wait{Clock: now, Timeout: c.timeout}
		if c.remote {
			w.Retry = apiclient.IsUnavailable
		}
		var got []poll
		err := w.Until(t.Context(), func(_ context.Context, hold time.Duration) (apiclient.Outcome, error) {
			got = append(got, poll{now.Now().Sub(start), hold})
			now.Advance(c.took(hold))
			return apiclient.NoMessages, nil
		})
		if diff := cmp.Diff(c.want, got); !errors.Is(err, apiclient.ErrTimeout) || diff != "" {
			t.Errorf("Until with the timeout %v, remote %t: %v, want ErrTimeout after these polls (-want +got):\n%s", c.timeout, c.remote, err, diff)
		}
	}
}

func hold(d time.Duration) time.Duration { return d }

func atOnce(time.Duration) time.Duration { return 0 }

// A search that takes several calls does not wait for mail. The wait goes on with the messages that come after those
// that were searched.
func TestMessagesAfterLongSearch(t *testing.T) {
	var calls []string
	api := apiFunc(func(r apiclient.Request) (*apiclient.Response, error) {
		u, err := url.Parse(r.Path)
		if err != nil {
			return nil, err
		}
		calls = append(calls, u.RawQuery)
		q, body := u.Query(), `{"data":[],"nextCursor":"c"}`
		switch {
		case q.Get("from") == "":
			body = `{"data":[{"id":"msg_8"}],"nextCursor":"d"}`
		case q.Get("after") == "msg_8":
			body = `{"data":[{"id":"msg_9"}]}`
		case q.Get("cursor") == "c":
			body = `{"data":[],"nextCursor":""}`
		}
		return &apiclient.Response{Status: http.StatusOK, Body: []byte(body)}, nil
	})
	s := apiclient.Search{API: api, Mailbox: "/mailboxes/me", Query: apiclient.Filter{From: "shop"}.Query()}
	w := apiclient.Wait{Clock: clock.NewJumping(time.Unix(1, 0)), Timeout: 5 * time.Second}
	var found string
	err := apiclient.Messages(t.Context(), w, s, func(page []struct{ ID string }) (apiclient.Outcome, error) {
		found = page[0].ID
		return apiclient.Found, nil
	})
	want := []string{"from=shop&wait=5", "cursor=c&from=shop", "limit=1", "from=shop", "cursor=c&from=shop", "after=msg_8&from=shop&wait=5"}
	if diff := cmp.Diff(want, calls); err != nil || found != "msg_9" || diff != "" {
		t.Errorf("Messages where the search takes two calls: %q, %v; want msg_9 after these calls (-want +got):\n%s", found, err, diff)
	}
}

// A page whose handling fails for a moment is handled again, without another search.
func TestMessagesHandlesPageAgain(t *testing.T) {
	lists, handled := 0, 0
	api := apiFunc(func(apiclient.Request) (*apiclient.Response, error) {
		lists++
		return &apiclient.Response{Status: http.StatusOK, Body: []byte(`{"data":[{"id":"msg_1"}]}`)}, nil
	})
	w := apiclient.Wait{Clock: clock.NewJumping(time.Unix(1, 0)), Timeout: 5 * time.Second, Retry: apiclient.IsUnavailable}
	err := apiclient.Messages(t.Context(), w, apiclient.Search{API: api, Query: url.Values{}}, func([]struct{ ID string }) (apiclient.Outcome, error) {
		if handled++; handled == 1 {
			return apiclient.NoMessages, &apiclient.ConnectionError{URL: "http://a.test", Err: errors.New("reset")}
		}
		return apiclient.Found, nil
	})
	if err != nil || lists != 1 || handled != 2 {
		t.Errorf("Messages where handling fails once: %v after %d lists and %d pages handled, want 1 and 2", err, lists, handled)
	}
}

func TestIsUnavailable(t *testing.T) {
	unavailable := []int{502, 503, 504}
	for _, status := range []int{400, 401, 404, 422, 429, 500, 502, 503, 504} {
		err := fmt.Errorf("failed after 1s: %w", (&apiclient.Response{Status: status, Body: []byte("{")}).Err())
		if got, want := apiclient.IsUnavailable(err), slices.Contains(unavailable, status); got != want {
			t.Errorf("IsUnavailable(%v) = %t, want %t", err, got, want)
		}
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	remote := &apiclient.Remote{URL: gone.URL, HTTP: http.DefaultClient}
	_, err := apiclient.Call(t.Context(), remote, apiclient.Request{Method: http.MethodGet, Path: "/domains"})
	if !apiclient.IsUnavailable(err) || !strings.HasPrefix(err.Error(), "no Gonebox answers at "+gone.URL+"; ") || strings.Count(err.Error(), gone.URL) != 1 {
		t.Errorf("Call at a closed port: %v, want an error that IsUnavailable, with the URL once", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := apiclient.Call(canceled, remote, apiclient.Request{Method: http.MethodGet, Path: "/domains"}); !errors.Is(err, context.Canceled) || apiclient.IsUnavailable(err) {
		t.Errorf("Call with a canceled context: %v, want context.Canceled", err)
	}
}

// apiFunc is a function as an API.
type apiFunc func(apiclient.Request) (*apiclient.Response, error)

func (f apiFunc) Do(_ context.Context, r apiclient.Request) (*apiclient.Response, error) {
	return f(r)
}
