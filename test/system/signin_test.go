package system_test

import (
	"bufio"
	"bytes"
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
	"testing"
	"time"
)

const (
	crowd        = 1000
	crowdMemory  = 300 << 10 // KiB
	userPassword = "correct horse battery staple"
)

// TestSignInsAtOnce has a thousand sign in at the same moment, at the default cost of a password: everybody gets an
// answer, and the memory of the process stays within bounds, on few cores and on as many as the gate may use. The limits
// of sign-in are raised, so that nothing but the gate stands between the crowd and the hashes.
func TestSignInsAtOnce(t *testing.T) { // not beside others: it takes all cores for seconds
	for name, wrap := range map[string][]string{"own cores": nil, "sixteen": {"env", "GOMAXPROCS=16"}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, options{wrap: wrap, set: map[string]string{"limits.signin": "100000/1m", "limits.signin_account": "100000/1m"}})
			status, text := s.call(http.MethodPost, "/auth/register", "", map[string]string{"email": "ada@example.org", "password": userPassword})
			if status != http.StatusCreated {
				t.Fatalf("register: %d %s", status, text)
			}
			before := s.peak()
			answered := s.signInAtOnce()
			after := s.peak()
			t.Logf("%d MiB at most before, %d MiB after; %v", before>>10, after>>10, answered)
			if after >= crowdMemory {
				t.Errorf("%d sign-ins at once took %d MiB, want less than %d MiB", crowd, after>>10, crowdMemory>>10)
			}
			if answered["200"] == 0 || answered["401 auth.invalid_credentials"] == 0 {
				t.Errorf("nobody got through: %v", answered)
			}
			if status, text = s.call(http.MethodPost, "/auth/token", "", map[string]string{"email": "ada@example.org", "password": userPassword}); status != http.StatusOK {
				t.Errorf("afterwards: %d %s", status, text)
			}
		})
	}
}

// signInAtOnce connects everybody first and then lets them all ask. It counts the answers by status and code.
func (s *service) signInAtOnce() map[string]int {
	s.t.Helper()
	errs, answers := make([]error, crowd), make([]string, crowd)
	var connected, all sync.WaitGroup
	connected.Add(crowd)
	for i := range crowd {
		all.Go(func() {
			conn, err := net.DialTimeout("tcp", s.http, patience)
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
		s.t.Errorf("not everybody was answered: %.2000v", err)
	}
	counts := make(map[string]int)
	for _, answer := range answers {
		counts[answer]++
	}
	return counts
}

// signIn signs in on a connection: of each three, one is right, one has a wrong password, one is unknown.
func signIn(conn net.Conn, i int) (answer string, err error) {
	wish := map[string]string{"email": "ada@example.org", "password": userPassword}
	expected := http.StatusUnauthorized
	switch i % 3 {
	case 0:
		expected = http.StatusOK
	case 1:
		wish["password"] = "wrong"
	case 2:
		wish["email"] = fmt.Sprintf("nobody-%d@example.org", i)
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

// peak is the most resident memory that the process has had, in KiB.
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
	s.t.Fatal("no VmHWM")
	return 0
}
