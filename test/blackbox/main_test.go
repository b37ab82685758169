// Package blackbox_test tests the API from outside: the assembled service, over HTTP and SMTP. Every answer that any
// test receives is checked against the service's own OpenAPI document, and at the end every answer that the document
// declares must have been received (coverage_test.go).
package blackbox_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestMain(m *testing.M) {
	apptest.Child()
	if err := flag.Set("rapid.checks", "25"); err != nil { // each is a conversation over the network; a flag asks for more
		panic(err)
	}
	flag.Parse()
	code := apptest.WithAuthority(&authority, func() int {
		code := m.Run()
		if err := apptest.EndChildren(); err != nil {
			panic(err)
		}
		return code
	})
	if err := leftBehind(); code == 0 && err != nil {
		fmt.Println("goroutines are left behind:", err)
		code = 1
	}
	everything := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == ""
	if code == 0 && everything {
		if missing := exercised.missing(shared.document); len(missing) > 0 {
			fmt.Println("FAIL: the OpenAPI document declares these answers, but no test received them. Add a test for each, or take the code out of the operation:\n  " +
				strings.Join(missing, "\n  "))
			code = 1
		}
	}
	os.Exit(code)
}

// leftBehind returns the goroutines that are still there, if any. Those of closed connections may take a while to end on a busy machine.
func leftBehind() (err error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if err = goleak.Find(); err == nil { // looks again for half a second
			return nil
		}
	}
	return err
}

// authority issues the certificates of webhook receivers; every service here trusts it.
var authority *apptest.Authority

// service is a running service whose answers are all checked.
type service struct {
	*apptest.Service
	t testing.TB
}

// settings are configuration keys.
type settings map[string]string

func start(t testing.TB, set settings) *service {
	t.Helper()
	return startWith(t, apptest.Options{Set: set})
}

func startWith(t testing.TB, o apptest.Options) *service {
	t.Helper()
	s := &service{t: t}
	o.Processes = processes(t)
	inspector := &inspector{t: t}
	o.OnResponse = inspector.inspect
	s.Service = apptest.Start(t, o)
	inspector.base = s.URL
	inspector.document = sharedDocument(t, s.Service)
	return s
}

// processes are the roles of the service's processes. With GONEBOX_TEST_ENGINE=postgres there are two that serve
// clients and one for background work, on one PostgreSQL; otherwise there is one process, on SQLite.
func processes(t testing.TB) []string {
	switch engine := os.Getenv("GONEBOX_TEST_ENGINE"); engine {
	case "", "sqlite":
		return nil
	case "postgres":
		return []string{"smtp, api", "smtp, api", "jobs"}
	default:
		t.Fatalf("GONEBOX_TEST_ENGINE = %q, want sqlite or postgres", engine)
		return nil
	}
}

// problem is an error as a client reads it.
type problem struct {
	Type, Title, Code, TraceID, Detail string
	Status                             int
	Errors                             []struct{ Pointer, Message string }
}

// want fails the test unless an answer has the status and, for a problem, the code.
func want(t testing.TB, a apptest.Response, status int, code string) {
	t.Helper()
	if a.Status != status || a.Code() != code {
		t.Errorf("%s: got %d %s, want %d %q", a.Request, a.Status, a.Body, status, code)
	}
}

// call makes a call without a body and expects a status and a code.
func (s *service) call(method, path, token string, status int, code string) apptest.Response {
	s.t.Helper()
	a := s.Call(method, path, token, nil)
	want(s.t, a, status, code)
	return a
}

// do sends a request that the test made; change may modify it first.
func (s *service) do(method, path, token string, body any, change func(*http.Request)) apptest.Response {
	s.t.Helper()
	r, err := s.Request(s.t.Context(), method, path, token, body)
	if err != nil {
		s.t.Fatal(err)
	}
	change(r)
	a, err := s.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// get decodes the data of a call that must succeed.
func get[T any](s *service, path, token string) (v T) {
	s.t.Helper()
	a := s.Call(http.MethodGet, path, token, nil)
	if a.Status != http.StatusOK {
		s.t.Fatalf("%s: got %d %s, want 200", a.Request, a.Status, a.Body)
	}
	a.Into(s.t, &v)
	return v
}

// pages yields what a list holds, page by page. Each page is fetched when the one before has been used.
func pages[T any](s *service, path, token string) iter.Seq[T] {
	s.t.Helper()
	return func(yield func(T) bool) {
		for cursor := ""; ; {
			var page struct {
				Data       []T
				NextCursor *string
			}
			a := s.call(http.MethodGet, path+cursor, token, http.StatusOK, "")
			if err := json.Unmarshal(a.Body, &page); err != nil {
				s.t.Fatal(err)
			}
			for _, v := range page.Data {
				if !yield(v) {
					return
				}
			}
			if page.NextCursor == nil {
				return
			}
			cursor = "&cursor=" + url.QueryEscape(*page.NextCursor)
		}
	}
}

// mail sends a mail to a mailbox and returns the summary of the message.
func (s *service) mail(box apptest.Mailbox, m apptest.Mail) summary {
	s.t.Helper()
	m.To = []string{box.Address}
	s.Send(m)
	return get[[]summary](s, "/mailboxes/me/messages?limit=1", box.Token)[0]
}

// patience bounds how long a test waits for something that happens soon; it is reached only when the test fails.
const patience = 2 * time.Minute

// eventually waits for a condition that another goroutine of the service brings about.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain, want %s", patience, what)
		}
		time.Sleep(time.Millisecond) // leaves the processor to what is waited for; it decides nothing
	}
}
