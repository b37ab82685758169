package system_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/wfe"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// web is the name that certificates for HTTPS are issued for.
const web = "box.example.org"

// browser returns a client that reaches every name at an address, speaks HTTP/2 where the service does, and verifies
// certificates by roots. It follows no redirects.
func browser(t *testing.T, addr string, roots *x509.CertPool) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// serial returns the serial number of the certificate that a verifying client gets for a name.
func serial(addr, name string, roots *x509.CertPool) (string, error) {
	conn, err := tls.Dial("tcp", addr, &tls.Config{ServerName: name, RootCAs: roots})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

// acmeSettings has a service get its certificates from an authority, for HTTPS and for mail.
func acmeSettings(a *acmeAuthority) map[string]string {
	return map[string]string{
		"base_url": "https://" + web, "smtp.hostname": certified, "http.tls.acme.hosts": web + ", " + certified,
		"http.tls.acme.email": "admin@example.org", "http.tls.acme.directory": a.URL + wfe.DirectoryPath,
	}
}

func TestHTTPSByALPNChallenge(t *testing.T) {
	t.Parallel()
	a := startACME(t, 90*24*time.Hour) // which finds nothing at port 80
	s := start(t, options{set: acmeSettings(a), announce: a.announce})
	res, err := browser(t, s.http, a.roots).Get("https://" + web + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK || res.ProtoMajor != 2 {
		t.Errorf("GET https://%s/: got %d over %s, want 200 over HTTP/2", web, res.StatusCode, res.Proto)
	}
	if got := res.Header.Get("Strict-Transport-Security"); !strings.HasPrefix(got, "max-age=") {
		t.Errorf("GET https://%s/: Strict-Transport-Security %q, want max-age", web, got)
	}
	awaitCertificate(t, s, a) // that of mail is another one of HTTPS
	orders := a.orders.Load()
	for _, hostile := range []string{"evil.example", "www." + web, web + ".evil.example", strings.Repeat("a.", 100) + "example", "127.0.0.1.example"} {
		_, err := serial(s.http, hostile, a.roots)
		if err == nil || !strings.HasSuffix(err.Error(), "unrecognized name") {
			t.Errorf("handshake with the name %s: got %v, want the alert unrecognized_name", hostile, err)
		}
		res, err := browser(t, s.http, a.roots).Do(&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: web, Path: "/readyz"}, Host: hostile})
		if err != nil {
			t.Errorf("GET /readyz with Host %s: %v", hostile, err)
			continue
		}
		res.Body.Close()
	}
	if got := a.orders.Load(); got != orders {
		t.Errorf("hostile names began %d orders, want none", got-orders)
	}
	if out, err := runProgram(t, "ready", s); err != nil {
		t.Errorf("gonebox ready: %v\n%s", err, out)
	}
	if !strings.Contains(s.scrape(), "gonebox_build_info") {
		t.Error("the metrics over plain HTTP have no gonebox_build_info, want it")
	}
}

// announce has the authority find a service at port 443 of every name.
func (a *acmeAuthority) announce(addr string) { a.secure.Store(&addr) }

// runProgram runs a command of the program with the configuration of a service.
func runProgram(t *testing.T, command string, s *service) (string, error) {
	t.Helper()
	args := []string{command, "--set", "http.addr=" + s.http}
	for key, value := range s.o.set {
		args = append(args, "--set", key+"="+value)
	}
	out, err := exec.Command(program(t), args...).CombinedOutput()
	return string(out), err
}

// exchange sends a raw request over plain TCP and returns the response.
func exchange(t *testing.T, addr, request string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("the response to %q: %v, want one", request, err)
	}
	defer res.Body.Close()
	return res
}

func TestHTTPSByHTTPChallengeAndRedirect(t *testing.T) {
	t.Parallel()
	a := startACME(t, 90*24*time.Hour) // which finds nothing at port 443
	set := acmeSettings(a)
	redirects := apptest.FreeAddress(t)
	set["http.redirect_addr"] = redirects
	a.found <- redirects
	s := start(t, options{set: set})
	await(t, "a handshake with the name "+web, func() bool { _, err := serial(s.http, web, a.roots); return err == nil })
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: box.example.org":                       "308 https://box.example.org/",
		"GET /a/b?c=d%20e HTTP/1.1\r\nHost: BOX.example.org:80":         "308 https://box.example.org/a/b?c=d%20e",
		"POST /api/v1/mailboxes HTTP/1.1\r\nHost: box.example.org.":     "308 https://box.example.org/api/v1/mailboxes",
		"GET / HTTP/1.1\r\nHost: mx.box.example":                        "308 https://mx.box.example/",
		"GET //evil.example/ HTTP/1.1\r\nHost: box.example.org":         "308 https://box.example.org//evil.example/",
		"GET http://evil.example/ HTTP/1.1\r\nHost: box.example.org":    "421 ",
		"GET / HTTP/1.1\r\nHost: evil.example":                          "421 ",
		"GET / HTTP/1.1\r\nHost: box.example.org.evil.example":          "421 ",
		"GET / HTTP/1.1\r\nHost: box.example.org@evil.example":          "400 ",
		"GET / HTTP/1.1\r\nHost: evil.example/box.example.org":          "400 ",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1":                             "421 ",
		"GET / HTTP/1.0":                                                "421 ",
		"OPTIONS * HTTP/1.1\r\nHost: box.example.org":                   "200 ",
		"CONNECT box.example.org:443 HTTP/1.1\r\nHost: box.example.org": "400 ",
		"GET /.well-known/acme-challenge/x HTTP/1.1\r\nHost: evil.test": "421 ",
	} {
		res := exchange(t, redirects, request+"\r\n\r\n")
		if got := fmt.Sprintf("%d %s", res.StatusCode, res.Header.Get("Location")); got != want {
			t.Errorf("the response to %q is %q, want %q", request, got, want)
		}
	}
	if res := exchange(t, s.http, "GET / HTTP/1.1\r\nHost: box.example.org\r\n\r\n"); res.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP to the port of HTTPS: got %d, want 400", res.StatusCode)
	}
}

func TestHTTPSCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	a := startACME(t, 24*time.Second) // a third before its end it is renewed
	s := start(t, options{set: acmeSettings(a), announce: a.announce})
	first := ""
	await(t, "a certificate", func() bool {
		var err error
		first, err = serial(s.http, web, a.roots)
		return err == nil // on a busy machine it may have just expired
	})
	await(t, "another certificate", func() bool {
		next, err := serial(s.http, web, a.roots)
		return err == nil && next != first
	})
}

// However many clients connect, an order that fails is not repeated for minutes.
func TestClientsDoNotRepeatFailedOrders(t *testing.T) {
	t.Parallel()
	a := startACME(t, 90*24*time.Hour)
	a.found <- apptest.FreeAddress(t) // where nothing listens
	s := &service{t: t, dir: t.TempDir(), o: options{set: acmeSettings(a)}, http: apptest.FreeAddress(t), smtp: apptest.FreeAddress(t), metrics: apptest.FreeAddress(t)}
	s.o.set["http.tls.acme.hosts"] = web
	s.proc = launch(t, nil, s.arguments()...)
	t.Cleanup(s.kill)
	const failed = "no certificate for " + web
	await(t, failed, func() bool { return strings.Contains(s.proc.err.String(), failed) })
	orders := a.orders.Load()
	if orders == 0 || orders > 3 { // one for each kind of challenge, and one that ends when no kind is left
		t.Errorf("the first try began %d orders, want 1 to 3", orders)
	}
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() {
			if got, err := serial(s.http, web, a.roots); err == nil {
				t.Errorf("handshake without a certificate: got the certificate %s, want an error", got)
			}
		})
	}
	clients.Wait()
	if got := a.orders.Load(); got != orders {
		t.Errorf("50 handshakes began %d orders, want none", got-orders)
	}
}

// httpsFiles returns the configuration of HTTPS with a self-signed certificate, which is also a root to verify it by.
func httpsFiles(t *testing.T, name string) (map[string]string, *x509.CertPool) {
	t.Helper()
	set := certificate(t, name)
	maps.Copy(set, map[string]string{"http.tls.cert": set["smtp.tls.cert"], "http.tls.key": set["smtp.tls.key"]})
	delete(set, "smtp.tls.cert")
	delete(set, "smtp.tls.key")
	return set, rootsOf(t, set["http.tls.cert"])
}

// rootsOf returns the certificates of a file.
func rootsOf(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	return roots
}

func TestHTTPSCertificateFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	set, roots := httpsFiles(t, web)
	set["base_url"], set["http.redirect_addr"] = "https://"+web, apptest.FreeAddress(t)
	s := start(t, options{set: set})
	if _, err := serial(s.http, web, roots); err != nil {
		t.Fatalf("handshake with the first certificate: %v", err)
	}
	for host, want := range map[string]string{web: "max-age=31536000", "localhost": "", "box.test": "", "127.0.0.1": ""} {
		res, err := browser(t, s.http, roots).Do(&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: web, Path: "/"}, Host: host})
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Strict-Transport-Security"); got != want {
			t.Errorf("GET / with Host %s: Strict-Transport-Security %q, want %q", host, got, want)
		}
	}
	if res := exchange(t, set["http.redirect_addr"], "GET /x HTTP/1.1\r\nHost: "+web+"\r\n\r\n"); res.Header.Get("Location") != "https://"+web+"/x" {
		t.Errorf("GET http://%s/x: got %d, Location %q, want https://%[1]s/x", web, res.StatusCode, res.Header.Get("Location"))
	}
	renewed, roots := httpsFiles(t, web)
	for _, key := range []string{"http.tls.cert", "http.tls.key"} {
		if err := os.Rename(renewed[key], set[key]); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the new certificate", func() bool {
		_, err := serial(s.http, web, roots)
		return err == nil
	})
}

// A redirect names the host of the request as a URL does, which has brackets around an IPv6 address.
func TestRedirectsKeepTheHost(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]map[string]string{
		"https://[2001:db8::25]":      {"[2001:db8::25]": "https://[2001:db8::25]/x?y", "[2001:DB8::25]:80": "https://[2001:db8::25]/x?y", web + ".:80": "https://" + web + "/x?y"},
		"https://[2001:db8::25]:8443": {"[2001:db8::25]": "https://[2001:db8::25]:8443/x?y", "[2001:db8::25]:80": "https://[2001:db8::25]:8443/x?y", web: "https://" + web + ":8443/x?y"},
		"https://" + web:              {web + ":8080": "https://" + web + "/x?y", "[::1]:80": "", "other.example": "", web + ".other.example": ""},
	} {
		set, _ := httpsFiles(t, web)
		set["base_url"], set["http.redirect_addr"] = base, apptest.FreeAddress(t)
		start(t, options{set: set})
		for host, want := range want {
			status := http.StatusPermanentRedirect
			if want == "" {
				status = http.StatusMisdirectedRequest
			}
			res := exchange(t, set["http.redirect_addr"], "GET /x?y HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
			if got := res.Header.Get("Location"); res.StatusCode != status || got != want {
				t.Errorf("base_url %s: GET http://%s/x?y: %d, Location %q, want %d, %q", base, host, res.StatusCode, got, status, want)
			}
		}
	}
}

// A client that begins a handshake and does not end it is disconnected, and hinders no other meanwhile.
func TestSlowHandshakesEnd(t *testing.T) {
	t.Parallel()
	set, roots := httpsFiles(t, web)
	set["http.read_header_timeout"] = "1s"
	s := start(t, options{set: set})
	var slow sync.WaitGroup
	for _, begun := range []string{"", "\x16", "\x16\x03\x01\x02\x00\x01"} {
		conn, err := net.Dial("tcp", s.http)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, begun); err != nil {
			t.Fatal(err)
		}
		slow.Go(func() {
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a handshake that stops after %q is open after %s, want it closed", begun, patience)
			}
		})
	}
	if _, err := serial(s.http, web, roots); err != nil {
		t.Errorf("handshake beside slow ones: %v", err)
	}
	slow.Wait()
}

// Over HTTP/2 a long-poll outlasts http.write_timeout, an event stream delivers events as they happen, and connections over
// the limit are answered.
func TestHTTP2KeepsWaitsOpen(t *testing.T) {
	t.Parallel()
	set, roots := httpsFiles(t, web)
	maps.Copy(set, map[string]string{"base_url": "https://" + web, "http.write_timeout": "1s", "http.read_timeout": "1s", "http.read_header_timeout": "1s", "limits.http_connections": "1"})
	s := start(t, options{set: set})
	client := browser(t, s.http, roots)
	await(t, "the end of the connection that asked for readiness", func() bool {
		res, err := client.Get("https://" + web + "/")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	call := func(method, path, token string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "https://"+web+"/api/v1"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s %s: got %v, want a response", method, path, err)
		}
		t.Cleanup(func() { res.Body.Close() })
		if res.ProtoMajor != 2 || res.StatusCode >= 300 {
			t.Fatalf("%s %s: got %d over %s, want success over HTTP/2", method, path, res.StatusCode, res.Proto)
		}
		return res
	}
	var made struct{ Data mailbox }
	if err := json.NewDecoder(call(http.MethodPost, "/mailboxes", "").Body).Decode(&made); err != nil {
		t.Fatal(err)
	}
	box := made.Data
	events := bufio.NewScanner(call(http.MethodGet, "/mailboxes/me/events", box.Token).Body)
	call(http.MethodGet, "/mailboxes/me/messages?wait=3", box.Token)
	if res, err := browser(t, s.http, roots).Get("https://" + web + "/"); err != nil || res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a second connection: got %v, %v, want 429", res, err)
	}
	if out, err := exec.Command(program(t), "send", "--server", s.smtp, "--to", box.Address, "--subject", "over HTTP/2").CombinedOutput(); err != nil {
		t.Fatalf("gonebox send: %v\n%s", err, out)
	}
	for events.Scan() {
		if strings.Contains(events.Text(), "over HTTP/2") {
			return
		}
	}
	t.Errorf("the stream ended with %v, want the mail in it", events.Err())
}

// What is configured wrongly stops the start, before anything listens.
func TestHTTPSWithWrongFilesDoesNotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no certificate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	for _, c := range []struct {
		set  map[string]string
		want string
	}{
		{map[string]string{"http.tls.cert": missing, "http.tls.key": missing}, `http.tls.cert = "` + missing + `"`},
		{map[string]string{"http.tls.cert": text, "http.tls.key": text}, `http.tls.cert = "` + text + `"`},
		{map[string]string{"http.tls.acme.hosts": web, "http.tls.acme.roots": missing}, `http.tls.acme.roots = "` + missing + `"`},
		{map[string]string{"http.tls.acme.hosts": web, "http.tls.acme.roots": text}, `http.tls.acme.roots = "` + text + `"`},
	} {
		args := []string{"serve", "--data-dir", t.TempDir(), "--set", "http.addr=127.0.0.1:0", "--set", "smtp.addr=127.0.0.1:0"}
		for key, value := range c.set {
			args = append(args, "--set", key+"="+value)
		}
		out, err := exec.Command(program(t), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("serve with %v: got %v and %q, want an error with %s", c.set, err, out, c.want)
		}
	}
}

// The configuration in docs/operating.md leads from the bare binary to a page over HTTPS and to mail over TLS, with an
// authority in the place of Let's Encrypt.
func TestWalkFromBinaryToHTTPS(t *testing.T) {
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```yaml\n")
	text, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("docs/operating.md has no block of configuration, want one")
	}
	a := startACME(t, 90*24*time.Hour)
	s := &service{t: t, dir: t.TempDir(), http: apptest.FreeAddress(t), smtp: apptest.FreeAddress(t), metrics: apptest.FreeAddress(t)}
	redirects := apptest.FreeAddress(t)
	for from, to := range map[string]string{
		"/var/lib/gonebox": s.dir, `":443"`: s.http, `":80"`: redirects, `":25"`: s.smtp, `"127.0.0.1:9125"`: s.metrics,
		"{email:": "{directory: " + a.URL + wfe.DirectoryPath + ", email:",
	} {
		if strings.Count(text, from) != 1 {
			t.Fatalf("the configuration of docs/operating.md has %s %d times, want once:\n%s", from, strings.Count(text, from), text)
		}
		text = strings.Replace(text, from, to, 1)
	}
	file := filepath.Join(t.TempDir(), "gonebox.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := program(t)
	a.found <- redirects
	a.announce(s.http)

	began := time.Now()
	s.proc = launch(t, nil, "serve", "--config", file)
	t.Cleanup(s.kill)
	client := browser(t, s.http, a.roots)
	await(t, "a page over HTTPS", func() bool {
		res, err := client.Get("https://" + web + "/")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	t.Logf("from the bare binary to a page over HTTPS: %s", time.Since(began).Round(time.Millisecond))
	const mail = "mx.example.org"
	await(t, "the certificate for mail", func() bool { _, err := serial(s.http, mail, a.roots); return err == nil })
	out, err := exec.Command(binary, "doctor", "--config", file).CombinedOutput()
	for _, want := range []string{
		"that for box.example.org ends on", "that for mx.example.org ends on",
		"http.addr " + s.http + " is bound", "http.redirect_addr " + redirects + " is bound",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("gonebox doctor: got %v and\n%s\nwant %q", err, out, want)
		}
	}
	if res := exchange(t, redirects, "GET / HTTP/1.1\r\nHost: "+web+"\r\n\r\n"); res.Header.Get("Location") != "https://"+web+"/" {
		t.Errorf("GET http://%s/: got %d, Location %q, want https://%[1]s/", web, res.StatusCode, res.Header.Get("Location"))
	}
}
