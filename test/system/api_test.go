package system_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"
)

// api is the HTTP API of a running service.
type api struct {
	t   *testing.T
	url string // with the base path
}

type mailbox struct {
	ID, Address, Token string

	MessageCount, UnreadCount int
}

type address struct{ Name, Address string }

// message is what the tests read of a message, summary or full.
type message struct {
	ID, Subject, Preview, Text, MessageID string

	From            address
	To, CC, ReplyTo []address
	HTML            *string
	SentAt          *string
	Size            int64
	Seen            bool
	OTP             *struct{ Code string }
	Headers         []struct{ Name, Value string }
	Attachments     []attachment
	Envelope        struct {
		From string
		To   []string
		TLS  bool
	}
}

type attachment struct {
	ID, Filename, ContentType, SHA256 string

	Size      int
	Inline    bool
	ContentID *string
}

// call makes a request and returns the status and body.
func (a api) call(method, path, token string, body any) (int, []byte) {
	a.t.Helper()
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			a.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, &sent)
	if err != nil {
		a.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatalf("read the response to %s %s: %v", method, path, err)
	}
	return res.StatusCode, text
}

// get makes a call that must answer 200.
func (a api) get(path, token string) []byte {
	a.t.Helper()
	status, body := a.call(http.MethodGet, path, token, nil)
	if status != http.StatusOK {
		a.t.Fatalf("GET %s: %d %s, want %v", path, status, body, http.StatusOK)
	}
	return body
}

// newMailbox makes a mailbox; fields are pairs of name and value of the request.
func (a api) newMailbox(fields ...string) mailbox {
	a.t.Helper()
	wish := map[string]string{}
	for i := 0; i < len(fields); i += 2 {
		wish[fields[i]] = fields[i+1]
	}
	status, body := a.call(http.MethodPost, "/mailboxes", "", wish)
	if status != http.StatusCreated {
		a.t.Fatalf("make a mailbox %v: %d %s, want %v", fields, status, body, http.StatusCreated)
	}
	return decode[mailbox](a.t, body)
}

// refresh returns the mailbox as it is now.
func (a api) refresh(m mailbox) mailbox {
	a.t.Helper()
	return decode[mailbox](a.t, a.get("/mailboxes/me", m.Token))
}

// messages lists everything in a mailbox, newest first, page by page.
func (a api) messages(m mailbox) []message {
	a.t.Helper()
	var all []message
	for cursor := ""; ; {
		var page struct {
			Data       []message
			NextCursor *string
		}
		if err := json.Unmarshal(a.get("/mailboxes/me/messages?limit=100&cursor="+url.QueryEscape(cursor), m.Token), &page); err != nil {
			a.t.Fatal(err)
		}
		all = append(all, page.Data...)
		if page.NextCursor == nil {
			return all
		}
		cursor = *page.NextCursor
	}
}

// only returns the single message that a mailbox must hold, in full.
func (a api) only(m mailbox) message {
	a.t.Helper()
	all := a.messages(m)
	if len(all) != 1 {
		a.t.Fatalf("%s holds %d messages, want 1", m.Address, len(all))
	}
	return a.read(m, all[0].ID)
}

func (a api) read(m mailbox, id string) message {
	a.t.Helper()
	return decode[message](a.t, a.get("/messages/"+id, m.Token))
}

// raw returns the raw message after the fields that the service added in front, and those fields.
func (a api) raw(m mailbox, id string) (trace, sent []byte) {
	a.t.Helper()
	whole := a.get("/messages/"+id+"/raw", m.Token)
	end := bytes.Index(whole, []byte("\r\nReceived: "))
	if !bytes.HasPrefix(whole, []byte("Return-Path: <")) || end < 0 {
		a.t.Fatalf("the raw message of %s begins with %.300q, want Return-Path and Received", id, whole)
	}
	for end += len("\r\n"); ; { // to the end of the folded field
		line := bytes.Index(whole[end:], []byte("\r\n")) + len("\r\n")
		end += line
		if end >= len(whole) || whole[end] != '\t' {
			return whole[:end], whole[end:]
		}
	}
}

func decode[T any](t *testing.T, body []byte) T {
	t.Helper()
	var whole struct{ Data T }
	if err := json.Unmarshal(body, &whole); err != nil {
		t.Fatalf("decode %s: %v", body, err)
	}
	return whole.Data
}
