package mcp

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/clock"
)

// partialSearchAPI is an API whose search reads only a part of the mailbox in each call. The first part has no match.
type partialSearchAPI struct{ t *testing.T }

func (s partialSearchAPI) Do(_ context.Context, r Request) (*Response, error) {
	u, err := url.Parse(r.Path)
	if err != nil || u.Path != "/mailboxes/me/messages" {
		s.t.Errorf("unexpected call of %s", r.Path)
	}
	body := `{"data": [], "nextCursor": "c"}`
	if u.Query().Get("cursor") == "c" {
		body = `{"data": [{"id": "msg_1"}], "nextCursor": "d"}`
	}
	return &Response{Status: http.StatusOK, Body: []byte(body)}, nil
}

func TestListMessagesFollowsCursorOfEmptyPage(t *testing.T) {
	c := &call{toolset: &toolset{Options: Options{API: partialSearchAPI{t}}}, credential: "xm_1"}
	list, err := listMessages(t.Context(), c, listArgs{MailboxArgs: MailboxArgs{Mailbox: "a@b.example"}, From: "shop"})
	if err != nil || len(list.Messages) != 1 || list.Messages[0].MessageID != "msg_1" || !list.More {
		t.Errorf("the list is %+v, %v; want the message of the second page, and more", list, err)
	}
}

// largeMailboxAPI is an API with a mailbox that takes two calls to search. The matching message arrives while a call waits.
type largeMailboxAPI struct {
	clock *clock.Fake
	waits int
}

func (l *largeMailboxAPI) Do(_ context.Context, r Request) (*Response, error) {
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
	return &Response{Status: http.StatusOK, Body: []byte(body)}, nil
}

func TestWaitContinuesAfterLongSearch(t *testing.T) {
	api := &largeMailboxAPI{clock: clock.NewFake(time.Unix(1, 0))}
	c := &call{toolset: &toolset{Options: Options{API: api, Clock: api.clock}}, credential: "xm_1", request: &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{}}}
	found, err := waitForMessage(t.Context(), c, WaitMessageArgs{WaitArgs: WaitArgs{MailboxArgs: MailboxArgs{Mailbox: "a@b.example"}, From: "shop", Seconds: 5}})
	if err != nil || found.MessageID != "msg_9" || api.waits != 1 {
		t.Errorf("found %+v, %v after %d calls that wait; want the message that came later, after one", found, err, api.waits)
	}
}
