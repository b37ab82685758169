package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Response is the response to a call of the API, read completely.
type Response struct {
	Request string // as DescribeRequest gives it, for messages of failing tests
	Status  int
	Header  http.Header
	Body    []byte
}

// DescribeRequest returns the method and the path of a request and the beginning of its body: "POST /api/v1/mailboxes {}".
func DescribeRequest(r *http.Request) string {
	const most = 200 // octets of a body
	text := r.Method + " " + r.URL.RequestURI()
	if r.GetBody == nil {
		return text
	}
	content, err := r.GetBody()
	if err != nil {
		return text
	}
	defer content.Close()
	begin := make([]byte, most+1)
	n, _ := io.ReadFull(content, begin)
	if n > most {
		return text + " " + strings.ToValidUTF8(string(begin[:most]), "\ufffd") + "…"
	}
	return strings.TrimSuffix(text+" "+strings.ToValidUTF8(string(begin[:n]), "\ufffd"), " ")
}

// Call sends a request to the API and fails the test if there is no response. body is sent as JSON unless it is a []byte or nil.
// token, if not empty, is sent as a bearer token.
func (s *Service) Call(method, path, token string, body any) Response {
	s.t.Helper()
	a, err := s.TryCall(s.t.Context(), method, path, token, body)
	if err != nil {
		s.t.Fatalf("%s %s: got no response: %v", method, path, err)
	}
	return a
}

// TryCall is Call with a context, for requests that may fail or are canceled.
func (s *Service) TryCall(ctx context.Context, method, path, token string, body any) (Response, error) {
	r, err := s.Request(ctx, method, path, token, body)
	if err != nil {
		return Response{}, err
	}
	return s.Do(r)
}

// Request makes the request that Call would send, so that a test can change it.
func (s *Service) Request(ctx context.Context, method, path, token string, body any) (*http.Request, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		reader = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r, nil
}

// Do sends a request to the process whose turn it is. It follows no redirect. Of an event stream it returns the status and the
// header, and ends it.
func (s *Service) Do(r *http.Request) (Response, error) {
	res, err := s.open(r)
	if err != nil {
		return Response{}, err
	}
	var text []byte
	if res.Header.Get("Content-Type") != "text/event-stream" {
		text, err = io.ReadAll(res.Body)
	}
	a := Response{Request: DescribeRequest(r), Status: res.StatusCode, Header: res.Header, Body: text}
	if err = errors.Join(err, res.Body.Close()); err == nil && s.onResponse != nil {
		s.onResponse(r, a)
	}
	return a, err
}

// open sends a request to the process whose turn it is.
func (s *Service) open(r *http.Request) (*http.Response, error) {
	if own, ok := strings.CutPrefix(s.edges[0].Web, "http://"); ok && r.URL.Host == own && r.Host == own {
		r.URL.Host = strings.TrimPrefix(s.next().Web, "http://")
	}
	return s.client.Do(r)
}

// ClientFrom returns a client that calls from a loopback address, each time on a connection of its own: one that is kept
// alive may be closed by the service just as a call takes it.
func ClientFrom(address string) *http.Client {
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: from.DialContext}}
}

// Code returns the code of a problem, or "".
func (a Response) Code() string {
	var p struct{ Code string }
	_ = json.Unmarshal(a.Body, &p)
	return p.Code
}

// Into decodes the member data of the response into v.
func (a Response) Into(t testing.TB, v any) {
	t.Helper()
	whole := struct{ Data any }{v}
	if err := json.Unmarshal(a.Body, &whole); err != nil {
		t.Fatalf("%s: got %d %s, want data that fits %T: %v", a.Request, a.Status, a.Body, v, err)
	}
}

// Mailbox is the response to creating a mailbox.
type Mailbox struct{ ID, Address, Token string }

// NewMailbox creates a guest mailbox.
func (s *Service) NewMailbox() Mailbox {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/mailboxes", "", nil)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("%s: got %d %s, want 201", a.Request, a.Status, a.Body)
	}
	var m Mailbox
	a.Into(s.t, &m)
	return m
}
