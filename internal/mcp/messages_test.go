package mcp

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/apiclient"
	"github.com/gonebox/gonebox/internal/clock"
)

// partialSearchAPI is an API whose search reads only a part of the mailbox in each call. The first part has no match.
type partialSearchAPI struct{ t *testing.T }

func (s partialSearchAPI) Do(_ context.Context, r apiclient.Request) (*apiclient.Response, error) {
	u, err := url.Parse(r.Path)
	if err != nil || u.Path != "/mailboxes/me/messages" {
		s.t.Errorf(`unexpected call of %s, want Path "/mailboxes/me/messages"`, r.Path)
	}
	body := `{"data": [], "nextCursor": "c"}`
	if u.Query().Get("cursor") == "c" {
		body = `{"data": [{"id": "msg_1"}], "nextCursor": "d"}`
	}
	return &apiclient.Response{Status: http.StatusOK, Body: []byte(body)}, nil
}

func TestListMessagesFollowsCursorOfEmptyPage(t *testing.T) {
	c := &call{toolset: &toolset{Options: Options{API: partialSearchAPI{t}}}, credential: "xm_1"}
	list, err := listMessages(t.Context(), c, listArgs{From: "shop"})
	if err != nil || len(list.Messages) != 1 || list.Messages[0].MessageID != "msg_1" || !list.More {
		t.Errorf("the list is %+v, %v; want the message of the second page, and more", list, err)
	}
}

// largeMailboxAPI is an API with a mailbox that takes two calls to search. The matching message arrives while a call waits.
type largeMailboxAPI struct {
	clock *clock.Fake
	waits int
}

func (l *largeMailboxAPI) Do(_ context.Context, r apiclient.Request) (*apiclient.Response, error) {
	u, err := url.Parse(r.Path)
	if err != nil {
		return nil, err
	}
	q, body := u.Query(), `{"data": [], "nextCursor": "c"}`
	switch {
	case q.Get("from") == "":
		body = `{"data": [{"id": "msg_8"}], "nextCursor": "d"}`
	case q.Get("after") == "msg_8" && q.Get("wait") != "":
		l.waits++
		l.clock.Advance(time.Second)
		body = `{"data": [{"id": "msg_9"}]}`
	case q.Get("cursor") == "c":
		body = `{"data": []}`
	}
	return &apiclient.Response{Status: http.StatusOK, Body: []byte(body)}, nil
}

// authenticatedAPI is an API with one message, whose sender has been authenticated or not.
type authenticatedAPI struct{ authentication string }

func (a authenticatedAPI) Do(context.Context, apiclient.Request) (*apiclient.Response, error) {
	return &apiclient.Response{Status: http.StatusOK, Body: []byte(`{"data": {"id": "msg_1", "authentication": ` + a.authentication + `}}`)}, nil
}

func TestReadMessageTellsWhetherTheSenderIsVerified(t *testing.T) {
	for authentication, want := range map[string]readResult{
		`{"spf": "pass", "dkim": "pass", "dmarc": "none", "verified": true, "domain": "shop.example"}`: {SPF: "pass", DKIM: "pass", DMARC: "none", Verified: true, Domain: "shop.example"},
		`{"spf": "pass", "dkim": "pass", "dmarc": "none", "verified": false, "domain": null}`:          {SPF: "pass", DKIM: "pass", DMARC: "none"},
		`{"spf": "none", "dkim": "none", "dmarc": "pass"}`:                                             {SPF: "none", DKIM: "none", DMARC: "pass"},
	} {
		c := &call{toolset: &toolset{Options: Options{API: authenticatedAPI{authentication}}}, credential: "xm_1"}
		got, err := readMessage(t.Context(), c, readArgs{MessageID: "msg_1"})
		if err != nil || got.SPF != want.SPF || got.DKIM != want.DKIM || got.DMARC != want.DMARC || got.Verified != want.Verified || got.Domain != want.Domain {
			t.Errorf("readMessage of a message with %s is %+v, %v, want the verdicts of %+v", authentication, got, err, want)
		}
	}
}

func TestWaitContinuesAfterLongSearch(t *testing.T) {
	api := &largeMailboxAPI{clock: clock.NewFake(time.Unix(1, 0))}
	c := &call{toolset: &toolset{Options: Options{API: api, Clock: api.clock}}, credential: "xm_1", request: &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{}}}
	found, err := waitForMessage(t.Context(), c, WaitMessageArgs{WaitArgs: WaitArgs{From: "shop", Seconds: 5}})
	if err != nil || found.MessageID != "msg_9" || api.waits != 1 {
		t.Errorf("found %+v, %v after %d calls that wait; want the message that came later, after one", found, err, api.waits)
	}
}

// restartingAPI is an API whose first calls end as those of a service that restarts do.
type restartingAPI struct {
	ends  []*apiclient.Response // nil: no connection
	calls int
}

func (r *restartingAPI) Do(context.Context, apiclient.Request) (*apiclient.Response, error) {
	r.calls++
	if r.calls > len(r.ends) {
		return &apiclient.Response{Status: http.StatusOK, Body: []byte(`{"data": [{"id": "msg_1"}]}`)}, nil
	}
	if end := r.ends[r.calls-1]; end != nil {
		return end, nil
	}
	return nil, &apiclient.ConnectionError{Err: io.EOF}
}

// A wait over stdio outlives a restart of the service, which is another process. Within the service it ends.
func TestStdioWaitOutlivesRestart(t *testing.T) {
	unavailable := []byte(`{"code":"server.unavailable"}`)
	ends := []*apiclient.Response{{Status: 200, Body: []byte(`{"data": []}`)}, nil, nil, {Status: 502, Body: []byte("<h1>Bad Gateway</h1>")}, {Status: 503, RetryAfter: "5", Body: unavailable}}
	for name, c := range map[string]struct {
		tokens *tokenStore
		ends   []*apiclient.Response
		status string // "": a failure
		calls  int
	}{
		"stdio":                           {newTokenStore(), ends, statusFound, 6},
		"stdio, asked to come back later": {newTokenStore(), []*apiclient.Response{{Status: 503, RetryAfter: "60", Body: unavailable}}, "", 1},
		"HTTP, shutting down":             {nil, ends, statusTimeout, 1},
		"HTTP, not available":             {nil, ends[4:], "", 1},
	} {
		api := &restartingAPI{ends: c.ends}
		in := &call{
			toolset:    &toolset{Options: Options{API: api, Clock: clock.NewJumping(time.Unix(1, 0))}, tokens: c.tokens},
			credential: "xm_1", request: &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{}},
		}
		got, err := waitForMessage(t.Context(), in, WaitMessageArgs{})
		if (err == nil) != (c.status != "") || got.Status != c.status && err == nil || api.calls != c.calls {
			t.Errorf("wait_for_message (%s): %+v, %v after %d calls; want status %q after %d", name, got, err, api.calls, c.status, c.calls)
		}
	}
}

// A message that cannot be read during a restart is read again.
func TestWaitForLinkReadsMessageAgain(t *testing.T) {
	reads := 0
	api := apiFunc(func(r apiclient.Request) (*apiclient.Response, error) {
		body := `{"data": {"id": "msg_1", "links": ["https://shop.example/verify"], "bestLink": "https://shop.example/verify"}}`
		if u, err := url.Parse(r.Path); err == nil && u.Path == "/mailboxes/me/messages" {
			body = `{"data": [{"id": "msg_1"}]}`
			if u.Query().Get("after") == "msg_1" {
				body = `{"data": []}`
			}
		} else if reads++; reads == 1 {
			return nil, &apiclient.ConnectionError{Err: io.EOF}
		}
		return &apiclient.Response{Status: http.StatusOK, Body: []byte(body)}, nil
	})
	c := &call{
		toolset:    &toolset{Options: Options{API: api, Clock: clock.NewJumping(time.Unix(1, 0))}, tokens: newTokenStore()},
		credential: "xm_1", request: &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{}},
	}
	if got, err := waitForLink(t.Context(), c, WaitMessageArgs{}); err != nil || got.URL != "https://shop.example/verify" {
		t.Errorf("wait_for_link where the first read of the message fails: %+v, %v after %d reads; want its link", got, err, reads)
	}
}

// apiFunc is a function as an API.
type apiFunc func(apiclient.Request) (*apiclient.Response, error)

func (f apiFunc) Do(_ context.Context, r apiclient.Request) (*apiclient.Response, error) { return f(r) }
