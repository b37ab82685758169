package netguard_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// raw serves what no http.Handler could: it reads a request and lets answer write octets of its own.
func raw(t *testing.T, answer func(w io.Writer) error) *endpoint {
	t.Helper()
	e := serve(t, false, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		for err == nil {
			err = answer(conn)
		}
	}, nil)
	e.Timeout = 2 * time.Second
	return e
}

// endless is a response that begins like that and never ends.
func endless(begin, more string) func(io.Writer) error {
	more = strings.Repeat(more, 1+4096/len(more))
	return func(w io.Writer) error {
		text := begin + more
		begin = ""
		_, err := io.WriteString(w, text)
		return err
	}
}

// No response takes more memory or time than is set for one, whatever a server sends.
func TestEndlessAnswersEnd(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for what, c := range map[string]struct {
		begin, more string
		answered    bool
	}{
		"status line":     {"HTTP/1.1 200 ", "x", false},
		"no HTTP":         {"", "\x00\xff", false},
		"empty lines":     {"", "\r\n", false},
		"fields":          {ok, "X-More: x\r\n", false},
		"field":           {ok + "X: ", "x", false},
		"folded field":    {ok + "X: x\r\n", " x\r\n", false},
		"length":          {ok + "Content-Length: ", "9", false},
		"body":            {ok + "\r\n", "x", true},
		"chunk":           {ok + "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n", "x", true},
		"small chunks":    {ok + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", true},
		"chunk size":      {ok + "Transfer-Encoding: chunked\r\n\r\n", "0", false},
		"chunk extension": {ok + "Transfer-Encoding: chunked\r\n\r\n1;", "x", false},
		"extensions":      {ok + "Transfer-Encoding: chunked\r\n\r\n", "1;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\nx\r\n", false},
		"trailers":        {ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "X-More: x\r\n", false},
		"continues":       {"", "HTTP/1.1 100 Continue\r\n\r\n", false},
		"hints":           {"", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", false},
	} {
		t.Run(what, func(t *testing.T) {
			e := raw(t, endless(c.begin, c.more))
			if c.answered { // however busy the machine is
				e.Timeout = time.Minute
			}
			a, body, err := answer(t, e.guard(t).Client(), e.url)
			if c.answered && (err != nil || len(body) != 64<<10) || !c.answered && err == nil && len(body) > 64<<10 {
				t.Errorf("the endless answer is %v with %d octets, %v, want at most %d octets", a, len(body), err, 64<<10)
			}
			if !c.answered && err == nil {
				t.Errorf("the endless answer has the status %v and %d octets, want an error", a.Status, len(body))
			}
		})
	}
}

// A server that takes the connection and never speaks TLS costs as much as one that never answers.
func TestAHandshakeThatNeverEndsEnds(t *testing.T) {
	e := serve(t, true, func(http.ResponseWriter, *http.Request) {}, func(s *httptest.Server) {
		s.Listener = silentListener{s.Listener}
	})
	e.Timeout = 200 * time.Millisecond
	if _, _, err := answer(t, e.guard(t).Client(), e.url); err == nil {
		t.Error("a handshake that never ends led to an answer, want an error")
	}
}

// silentListener accepts connections and reads from them, and says nothing.
type silentListener struct{ net.Listener }

func (l silentListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return mute{conn}, nil
}

type mute struct{ net.Conn }

func (m mute) Write(b []byte) (int, error) { return len(b), nil }

// What a server chooses of TLS is not less than 1.2, and the name that it is asked for is that of the URL.
func TestTheHandshakeNamesTheHost(t *testing.T) {
	asked := make(chan *tls.ClientHelloInfo, 1)
	e := serve(t, true, func(http.ResponseWriter, *http.Request) {}, func(s *httptest.Server) {
		s.TLS = &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			asked <- h
			return nil, nil //nolint:nilnil // keep the configuration
		}}
	})
	if _, _, err := answer(t, e.guard(t).Client(), strings.Replace(e.url, "example.com", "EXAMPLE.com", 1)); err != nil {
		t.Fatal(err)
	}
	hello := <-asked
	if !strings.EqualFold(hello.ServerName, "example.com") {
		t.Errorf("the handshake named %q, want example.com", hello.ServerName)
	}
	for _, version := range hello.SupportedVersions {
		if version < tls.VersionTLS12 {
			t.Errorf("offers version %x, want at least %v", version, tls.VersionTLS12)
		}
	}
}
