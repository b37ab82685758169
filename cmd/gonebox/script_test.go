package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/clock"
)

// TestScripts plays the scripts of testdata/script, one file for each subject: what a person types, and what comes of it. README.md
// beside them lists the commands that scripts have.
func TestScripts(t *testing.T) {
	testscript.RunT(scriptT{t}, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Values[stateKey{}] = &state{t: e.T().(scriptT).T}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"gonebox": func(ts *testscript.TestScript, neg bool, args []string) {
				stateOf(ts).command(ts, args, map[bool]int{false: exitOK, true: exitFailure}[neg])
			},
			"usage":   func(ts *testscript.TestScript, _ bool, args []string) { stateOf(ts).command(ts, args, exitUsage) },
			"status":  status,
			"input":   func(ts *testscript.TestScript, _ bool, args []string) { stateOf(ts).stdin = ts.ReadFile(args[0]) },
			"service": startService,
			"stop":    stopService,
			"call":    call,
			"await":   await,
			"keep":    keep,
			"smtp":    startSMTP,
			"mail":    func(ts *testscript.TestScript, _ bool, _ []string) { fmt.Fprint(ts.Stdout(), <-stateOf(ts).smtp.got) },
			"bank":    bank,

			"database": database,
		},
	})
}

// scriptT is a test that plays scripts, or one that plays one of them.
type scriptT struct{ *testing.T }

func (t scriptT) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(scriptT{t}) })
}

func (scriptT) Verbose() bool { return testing.Verbose() }

type stateKey struct{}

// state is what a script has set up.
type state struct {
	t        *testing.T
	stdin    string // of the next command
	service  *apptest.Service
	smtp     *server
	payments int // that the bank has reported
}

func stateOf(ts *testscript.TestScript) *state { return ts.Value(stateKey{}).(*state) }

// variables are the environment variables of a script that its commands see.
var variables = [...]string{"HOME", "SUDO_USER", "GONEBOX_CONFIG", "GONEBOX_URL", "GONEBOX_SECRETS_KEY", "GONEBOX_HTTP_ADDRR"}

// run runs a command of gonebox in this process and returns its exit code. What it prints is what stdout and stderr of the
// script compare.
func (s *state) run(ts *testscript.TestScript, args []string) (code int, stdout, stderr string) {
	var environ []string
	for _, name := range variables {
		if value := ts.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	var out, err bytes.Buffer
	code = run(s.t.Context(), args, environ, io.NopCloser(strings.NewReader(s.stdin)), &out, &err)
	s.stdin = ""
	fmt.Fprint(ts.Stdout(), out.String())
	fmt.Fprint(ts.Stderr(), err.String())
	return code, out.String(), err.String()
}

// command runs a command that must exit with a code. One that succeeds prints no errors, and one that does not prints one line
// on standard error alone; after a usage error the line names the help.
func (s *state) command(ts *testscript.TestScript, args []string, want int) {
	code, stdout, stderr := s.run(ts, args)
	if code != want {
		ts.Fatalf("gonebox %q: exit status %d, want %d; its errors:\n%s", args, code, want, stderr)
	}
	if want == exitOK {
		if stderr != "" {
			ts.Fatalf("gonebox %q succeeded with the errors %q, want none", args, stderr)
		}
		return
	}
	if stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "gonebox: ") {
		ts.Fatalf("gonebox %q: standard output %q, standard error %q, want one line of the latter alone, with \"gonebox: \" in front", args, stdout, stderr)
	}
	if want == exitUsage && !regexp.MustCompile(`; see gonebox.* --help\n$`).MatchString(stderr) {
		ts.Fatalf("gonebox %q: %q, want an end that names the help", args, stderr)
	}
}

// database makes a SQLite database, or changes one, by the statements of files.
func database(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	pool, err := sql.Open("sqlite", "file:"+path)
	ts.Check(err)
	for _, file := range args[1:] {
		_, err := pool.Exec(ts.ReadFile(file))
		ts.Check(err)
	}
	ts.Check(pool.Close())
}

// status runs a command whose exit status is the first argument, and that may print anything.
func status(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if code, _, _ := stateOf(ts).run(ts, args[1:]); code != want {
		ts.Fatalf("gonebox %q: exit status %d, want %d", args[1:], code, want)
	}
}

// startService starts a service. Its arguments are configuration keys with their values, and perhaps first -real, for the
// system's clock, or -now, for one that stands still at the present time, which commands compare theirs with.
func startService(ts *testscript.TestScript, _ bool, args []string) {
	s := stateOf(ts)
	o := apptest.Options{Set: map[string]string{"account.password.memory": "64KiB", "account.password.passes": "1", "limits.signin": "10000/1m"}}
	now := false
	for _, arg := range args {
		key, value, set := strings.Cut(arg, "=")
		switch {
		case set:
			o.Set[key] = value
		case arg == "-real":
			o.RealClock = true
		case arg == "-now":
			now = true
		default:
			ts.Fatalf("service %s: want -real, -now or key=value", arg)
		}
	}
	s.service = apptest.Start(s.t, o)
	if now {
		s.service.Clock.Advance(clock.System().Now().Sub(s.service.Clock.Now()))
	}
	ts.Setenv("DATA", s.service.Dir)
	ts.Setenv("URL", strings.TrimSuffix(s.service.URL, "/api/v1"))
	ts.Setenv("HTTP", strings.TrimPrefix(ts.Getenv("URL"), "http://"))
	ts.Setenv("SMTP", s.service.SMTP)
}

// stopService shuts the service down: stop.
func stopService(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(stateOf(ts).service.Stop())
}

// call makes a call of the API with the credential in TOKEN: call METHOD PATH STATUS [BODY]. It prints the response.
func call(ts *testscript.TestScript, _ bool, args []string) {
	body := any(nil)
	if len(args) > 3 {
		body = json.RawMessage(args[3])
	}
	a := stateOf(ts).service.Call(args[0], args[1], ts.Getenv("TOKEN"), body)
	if got := strconv.Itoa(a.Status); got != args[2] {
		ts.Fatalf("%s %s: status %s, want %s; the response is %s", args[0], args[1], got, args[2], a.Body)
	}
	fmt.Fprintf(ts.Stdout(), "%s\n", a.Body)
}

// await repeats GET until its response matches a pattern, or does not after an exclamation mark: await PATTERN PATH.
func await(ts *testscript.TestScript, neg bool, args []string) {
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	real := clock.System()
	for deadline := real.Now().Add(30 * time.Second); ; <-real.NewTimer(5 * time.Millisecond).C {
		a := stateOf(ts).service.Call(http.MethodGet, args[1], ts.Getenv("TOKEN"), nil)
		if pattern.Match(a.Body) != neg {
			return
		}
		if real.Now().After(deadline) {
			ts.Fatalf("GET %s: %s, want a match of %s: %t", args[1], a.Body, args[0], !neg)
		}
	}
}

// keep sets a variable to what the first group of a pattern matches in the last output: keep NAME PATTERN.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("keep %s: the output is\n%s\nwant a match of %s", args[0], ts.ReadFile("stdout"), args[1])
	}
	ts.Setenv(args[0], found[1])
}

// startSMTP starts a mail server that refuses recipients that begin with "no", at ADDR. The command mail prints the next mail
// that it got.
func startSMTP(ts *testscript.TestScript, _ bool, _ []string) {
	s := stateOf(ts)
	s.smtp = newServer(s.t)
	ts.Setenv("ADDR", s.smtp.addr)
}

// bank has the bank report a transfer, and waits until the service has reconciled it: bank in|out AMOUNT CONTENT. The bank
// numbers its transfers from 1.
func bank(ts *testscript.TestScript, _ bool, args []string) {
	s := stateOf(ts)
	s.payments++
	amount, err := strconv.Atoi(args[1])
	ts.Check(err)
	content, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	r, err := s.service.Request(s.t.Context(), http.MethodPost, "/integrations/bankpay/webhook", "", map[string]any{
		"id": s.payments, "transferType": args[0], "transferAmount": amount, "accountNumber": "123", "content": content,
	})
	ts.Check(err)
	r.Header.Set("Authorization", "Apikey secret")
	if a, err := s.service.Do(r); err != nil || a.Status != http.StatusOK {
		ts.Fatalf("the bank reports a transfer: %d %s, %v, want 200", a.Status, a.Body, err)
	}
	real := clock.System()
	for deadline := real.Now().Add(30 * time.Second); ; <-real.NewTimer(5 * time.Millisecond).C {
		var out, errs bytes.Buffer
		if code := run(s.t.Context(), []string{"payment", "list", "--json", "--limit", "1", "--data-dir", s.service.Dir}, nil, nil, &out, &errs); code != exitOK {
			ts.Fatalf("payment list: exit status %d, %s, want %v", code, errs.String(), exitOK)
		}
		if !strings.Contains(out.String(), `"outcome": "new"`) {
			return
		}
		if real.Now().After(deadline) {
			ts.Fatalf("payment list after the transfer %d is\n%s\nwant no transfer with the outcome new", s.payments, out.String())
		}
	}
}
