package mcp

import (
	"context"
	"net/http"
	"net/url"
	"testing"
)

// searched is an API whose search of messages reads a part of the mailbox in each call: the first part has no match.
type searched struct{ t *testing.T }

func (s searched) Do(_ context.Context, r Request) (*Response, error) {
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
	c := &call{toolset: &toolset{Options: Options{API: searched{t}}}, credential: "xm_1"}
	list, err := listMessages(t.Context(), c, listing{Named: Named{Mailbox: "a@b.example"}, From: "shop"})
	if err != nil || len(list.Messages) != 1 || list.Messages[0].MessageID != "msg_1" || !list.More {
		t.Errorf("the list is %+v, %v; want the message of the second page, and more", list, err)
	}
}
