package system_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/clock"
)

// mailpitService is a service under profile: dev in a control group, called by the Mailpit API.
type mailpitService struct {
	*service
	address string // host:port of the Mailpit API
	group   cgroup
}

// startMailpit starts a service with 512 MiB, which takes writeTimeout for a response at most.
func startMailpit(t *testing.T, writeTimeout time.Duration) *mailpitService {
	t.Helper()
	g := newCgroup(t, 512*mib)
	address := apptest.FreeAddress(t)
	s := start(t, options{wrap: g.wrap(), set: map[string]string{
		"profile": "dev", "compat.mailpit.addr": address, "limits.smtp_connections": "1000", "http.write_timeout": writeTimeout.String(),
	}})
	return &mailpitService{s, address, g}
}

// call makes a call and returns the status and the number of octets of the response.
func (p *mailpitService) call(method, path, body string) (status, octets int) {
	r, err := http.NewRequest(method, "http://"+p.address+path, strings.NewReader(body))
	if err != nil {
		p.t.Error(err)
		return 0, 0
	}
	res, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		p.t.Errorf("call %s %s: %v", method, path, err)
		return 0, 0
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if err != nil {
		p.t.Errorf("%s %s: %d octets, then %v", method, path, n, err)
	}
	return res.StatusCode, int(n)
}

// expect makes a call, whose status must be the given one, once there is memory for it.
func (p *mailpitService) expect(want int, method, path, body string) {
	p.t.Helper()
	status := untilMemory(p.t, method+" "+path, func() int {
		status, _ := p.call(method, path, body)
		return status
	})
	if status != want {
		p.t.Errorf("%s %s with a body of %d octets: %d, want %d", method, path, len(body), status, want)
	}
}

// mail stores mails of the sink over one connection.
func (p *mailpitService) mail(mails int, data []byte) {
	p.t.Helper()
	c, err := dial(p.t.Context(), p.smtp)
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.conn.Close()
	for range mails {
		if reply, err := c.send("app@sender.test", []string{"ada@company.test"}, data); err != nil || !strings.HasPrefix(reply, "250 ") {
			p.t.Fatalf("a mail of %d octets: %s, %v, want 250", len(data), reply, err)
		}
	}
}

// survived checks that the service runs and answers.
func (p *mailpitService) survived(what string) {
	p.t.Helper()
	if !p.proc.running() {
		p.t.Fatalf("%s: the service was killed, want it to run on within its memory", what)
	}
	p.expect(http.StatusOK, http.MethodGet, "/api/v1/messages?limit=1", "")
}

// attached returns a mail with an attachment.
func attached(contentType string, content []byte) []byte {
	var m bytes.Buffer
	fmt.Fprintf(&m, "Subject: attached\r\nContent-Type: multipart/mixed; boundary=q\r\n\r\n--q\r\nContent-Type: %s\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=x\r\n\r\n", contentType)
	m.WriteString(apptest.Base64Lines(content))
	m.WriteString("--q--\r\n")
	return m.Bytes()
}

// TestMailpitStaysWithinMemory calls the Mailpit and MailHog APIs of a service with 512 MiB with what is small on the wire and
// large in memory.
func TestMailpitStaysWithinMemory(t *testing.T) {
	p := startMailpit(t, patience) // large responses to eight clients at a time take long on a busy machine
	peak := p.group.watch(t)
	began := func(what string) func() {
		from := clock.System().Now()
		return func() {
			t.Helper()
			p.survived(what)
			t.Logf("%s: %s, resident at most %d MiB so far", what, clock.System().Now().Sub(from), peak.Load()/mib)
		}
	}
	together := func(n int, do func()) {
		var all sync.WaitGroup
		for range n {
			all.Go(do)
		}
		all.Wait()
	}

	done := began("sending")
	objects := `{"From":{"Email":"a@b.test"},"To":[{"Email":"x@y.test"}],"Attachments":[` + strings.Repeat("{},", 5_000_000) + "{}]}"
	whole, err := json.Marshal(map[string]any{
		"From": map[string]string{"Email": "a@b.test"}, "To": []any{map[string]string{"Email": "x@y.test"}},
		"Attachments": []any{map[string]string{"Filename": "x", "Content": base64.StdEncoding.EncodeToString(make([]byte, 11*mib))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	together(4, func() { p.expect(http.StatusBadRequest, http.MethodPost, "/api/v1/send", objects) })
	together(4, func() {
		if status, _ := p.call(http.MethodPost, "/api/v1/send", string(whole)); status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Errorf("POST /api/v1/send with an attachment of 11 MiB: %d, want 200 or 503", status)
		}
	})
	done()

	done = began("thumbnails")
	picture := image.NewNRGBA64(image.Rect(0, 0, 2048, 2048))
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		t.Fatal(err)
	}
	p.mail(1, attached("image/png", encoded.Bytes()))
	together(20, func() { p.expect(http.StatusOK, http.MethodGet, "/api/v1/message/latest/part/1/thumb", "") })
	done()

	done = began("nested parts")
	nested := "Content-Type: application/x\r\n\r\n" + strings.Repeat(strings.Repeat("\x01\x02\x03", 24)+"\r\n", 100_000)
	for i := range 9 {
		nested = fmt.Sprintf("Content-Type: multipart/mixed; boundary=q%d\r\n\r\n--q%d\r\n%s\r\n--q%d--\r\n", i, i, nested, i)
	}
	p.mail(2, []byte(nested))
	together(4, func() { p.expect(http.StatusOK, http.MethodGet, "/api/v2/messages?limit=2", "") })
	done()

	done = began("pages of long lists of addresses")
	var to strings.Builder
	for i := range 100 {
		fmt.Fprintf(&to, ",\r\n %s <u%d@company.test>", strings.Repeat("n", 700), i)
	}
	p.mail(300, []byte("From: a@b.test\r\nTo: x@y.test"+to.String()+"\r\nSubject: long\r\n\r\nhi\r\n"))
	together(8, func() { p.expect(http.StatusOK, http.MethodGet, "/api/v1/messages?limit=1000", "") })
	done()
	if peak.Load() > 400*mib {
		t.Errorf("the service took %d MiB, want at most 400", peak.Load()/mib)
	}
}

// TestMailpitStreamsStayWithinMemory opens event streams that are not read, and changes every mail: the other calls are
// answered, and the service stays within its 512 MiB.
func TestMailpitStreamsStayWithinMemory(t *testing.T) {
	const mails, streams = 4000, 100
	p := startMailpit(t, 30*time.Second)
	var to strings.Builder
	for i := range 99 {
		fmt.Fprintf(&to, ", u%d@x.test", i)
	}
	body := []byte("From: a@b.test\r\nTo: x@y.test" + to.String() + "\r\nSubject: " + strings.Repeat("s", 900) + "\r\n\r\n" + strings.Repeat("lorem ipsum ", 250) + "\r\n")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { p.mail(mails/4, body) })
	}
	all.Wait()
	peak := p.group.watch(t)
	for range streams {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
			base64.StdEncoding.EncodeToString(make([]byte, 16)))
	}
	for _, seen := range []bool{true, false, true} {
		var worst int64
		var marking sync.WaitGroup
		marking.Go(func() { p.expect(http.StatusOK, http.MethodPut, "/api/v1/messages", fmt.Sprintf(`{"Read":%t}`, seen)) })
		for range 20 {
			began := clock.System().Now()
			p.expect(http.StatusOK, http.MethodGet, "/api/v1/messages?limit=1", "")
			worst = max(worst, clock.System().Now().Sub(began).Milliseconds())
		}
		marking.Wait()
		t.Logf("while all mails are marked as %t, the slowest list took %d ms", seen, worst)
	}
	p.survived("marking")
	t.Logf("resident: at most %d MiB", peak.Load()/mib)
	if peak.Load() > 400*mib {
		t.Errorf("the service took %d MiB, want at most 400", peak.Load()/mib)
	}
}
