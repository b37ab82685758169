package gonebox_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	gonebox "github.com/gonebox/gonebox/clients/go"
)

// A search that reads much of a mailbox may answer with an empty page and a cursor.
func TestMessagesFollowsCursorOfEmptyPage(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"data": [], "nextCursor": "c"}`
		switch {
		case r.URL.Path == "/api/v1/mailboxes":
			answer = `{"data": {"id": "mbx_1", "address": "a@b.test", "token": "xm_1"}}`
		case r.URL.Query().Get("cursor") == "c":
			answer = `{"data": [{"id": "msg_1"}], "nextCursor": null}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer service.Close()
	m, err := gonebox.New(service.URL).CreateMailbox(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 1, 5} {
		all, err := m.Messages(context.Background(), gonebox.Filter{From: "shop", Limit: limit})
		if err != nil || len(all) != 1 || all[0].ID != "msg_1" {
			t.Errorf("with the limit %d: %v, %v; want the message of the second page", limit, all, err)
		}
	}
}
