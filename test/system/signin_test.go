package system_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

const (
	crowd        = 400
	crowdMemory  = 300 << 10 // KiB
	userPassword = "correct horse battery staple"
)

// TestSignInsAtOnce has four hundred clients sign in at once, at the default cost of a password hash: all are answered,
// and the memory of the process stays within bounds, on few cores and on as many as hashing may use. The limits of
// sign-in are raised, so that only the queue of hashes holds the clients back.
func TestSignInsAtOnce(t *testing.T) { // not beside others: it takes all cores for seconds
	for name, wrap := range map[string][]string{"own cores": nil, "sixteen": {"env", "GOMAXPROCS=16"}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, options{wrap: wrap, set: map[string]string{"limits.signin": "100000/1m", "limits.signin_account": "100000/1m"}})
			status, text := s.call(http.MethodPost, "/auth/register", "", map[string]string{"email": "ada@example.org", "password": userPassword})
			if status != http.StatusCreated {
				t.Fatalf("register: %d %s, want %v", status, text, http.StatusCreated)
			}
			before := s.peak()
			answered := s.signInAtOnce()
			after := s.peak()
			t.Logf("%d MiB at most before, %d MiB after; %v", before>>10, after>>10, answered)
			if after >= crowdMemory {
				t.Errorf("%d sign-ins at once took %d MiB, want less than %d MiB", crowd, after>>10, crowdMemory>>10)
			}
			if answered["200"] == 0 || answered["401 auth.invalid_credentials"] == 0 {
				t.Errorf("the sign-ins were answered %v, want 200 and 401 auth.invalid_credentials among the answers", answered)
			}
			if status, text = s.call(http.MethodPost, "/auth/token", "", map[string]string{"email": "ada@example.org", "password": userPassword}); status != http.StatusOK {
				t.Errorf("afterwards: %d %s, want %v", status, text, http.StatusOK)
			}
		})
	}
}

// signInAtOnce connects all clients first and then lets them sign in. It counts the answers by status and code.
func (s *service) signInAtOnce() map[string]int {
	s.t.Helper()
	errs, answers := make([]error, crowd), make([]string, crowd)
	var connected, all sync.WaitGroup
	connected.Add(crowd)
	for i := range crowd {
		all.Go(func() {
			from := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%200+1))}} // one address holds a few slots alone
			conn, err := from.Dial("tcp", s.http)
			connected.Done()
			if err != nil {
				errs[i] = err
				return
			}
			defer conn.Close()
			connected.Wait()
			answers[i], errs[i] = signIn(conn, i)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		s.t.Errorf("not every client was answered: %.2000v", err)
	}
	counts := make(map[string]int)
	for _, answer := range answers {
		counts[answer]++
	}
	return counts
}

// signIn signs in on a connection: of every three sign-ins one is right, one has a wrong password, and one is for an
// unknown account.
func signIn(conn net.Conn, i int) (answer string, err error) {
	wish := map[string]string{"email": "ada@example.org", "password": userPassword}
	expected := http.StatusUnauthorized
	switch i % 3 {
	case 0:
		expected = http.StatusOK
	case 1:
		wish["password"] = "wrong"
	case 2:
		wish["email"] = fmt.Sprintf("unknown-%d@example.org", i)
	}
	body, err := json.Marshal(wish)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequest(http.MethodPost, "http://"+conn.RemoteAddr().String()+"/api/v1/auth/token", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if err := errors.Join(conn.SetDeadline(time.Now().Add(patience)), r.Write(conn)); err != nil {
		return "", err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	var problem struct{ Code string }
	if err := json.Unmarshal(text, &problem); err != nil {
		return "", err
	}
	turnedAway := res.StatusCode == http.StatusTooManyRequests && problem.Code == "rate.limited" && res.Header.Get("Retry-After") != ""
	if res.StatusCode != expected && !turnedAway {
		return "", fmt.Errorf("%v: %d %s", wish, res.StatusCode, text)
	}
	return strings.TrimSpace(strconv.Itoa(res.StatusCode) + " " + problem.Code), nil
}

// peak is the peak resident memory of the process in KiB.
func (s *service) peak() int {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.proc.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				s.t.Fatal(err)
			}
			return kib
		}
	}
	s.t.Fatal("/proc/PID/status has no VmHWM, want it")
	return 0
}

const (
	floodConnections = 220
	floodOthers      = 12
)

// TestOneAddressCannotKeepOthersFromSigningIn has one address sign in over 220 connections as often as it can. Twelve
// others, each at an address of its own, sign in meanwhile. How long they wait is printed only.
func TestOneAddressCannotKeepOthersFromSigningIn(t *testing.T) { // not beside others: it takes all cores for seconds
	s := start(t, options{})
	from := func(i int) net.IP { return net.IPv4(127, 0, 2, byte(i+1)) }
	right := func(i int) map[string]string {
		return map[string]string{"email": fmt.Sprintf("user-%d@example.org", i), "password": userPassword}
	}
	for i := range floodOthers {
		if status, text, err := s.postFrom(from(i), "/auth/register", right(i)); status != http.StatusCreated {
			t.Fatalf("register: %d %s %v, want %v", status, text, err, http.StatusCreated)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	defer flood.Wait()
	defer stop()
	var tried, refused atomic.Int64
	for i := range floodConnections {
		flood.Go(func() {
			client := clientFrom(net.IPv4(127, 0, 3, 1))
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				wish := map[string]string{"email": fmt.Sprintf("unknown-%d@example.org", i), "password": "wrong"}
				status, _, err := s.post(ctx, client, "/auth/token", wish)
				tried.Add(1)
				if err != nil || status == http.StatusTooManyRequests { // or there are too many connections
					refused.Add(1)
				}
			}
		})
	}
	await(t, "the flood", func() bool { return refused.Load() > floodConnections })
	for i := range floodOthers {
		began := clock.System().Now()
		var status int
		var text string
		var err error
		for range 3 { // a machine with much else to do is too slow for one place in the line, and a client tries again
			if status, text, err = s.postFrom(from(i), "/auth/token", right(i)); status != http.StatusTooManyRequests {
				break
			}
		}
		t.Logf("sign-in %d: %d after %s, beside %d calls of the flood", i, status, clock.System().Now().Sub(began).Round(time.Millisecond), tried.Load())
		if status != http.StatusOK {
			t.Errorf("sign-in %d: %d %s %v, want %v", i, status, text, err, http.StatusOK)
		}
	}
}

// clientFrom is an HTTP client that connects from a loopback address.
func clientFrom(ip net.IP) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	return &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: dialer.DialContext}}
}

// postFrom makes a POST request from an address.
func (s *service) postFrom(ip net.IP, path string, body any) (status int, text string, err error) {
	client := clientFrom(ip)
	defer client.CloseIdleConnections()
	return s.post(s.t.Context(), client, path, body)
}

func (s *service) post(ctx context.Context, client *http.Client, path string, body any) (status int, text string, err error) {
	content, err := json.Marshal(body)
	if err != nil {
		return 0, "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(content))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, string(answer), err
}
