package system_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// cloudflare runs the worker that the program prints, with Cloudflare's interface, in Node.
type cloudflare struct {
	t    *testing.T
	in   *json.Encoder
	out  *bufio.Scanner
	dir  string
	sent int
}

// workerOutcome is what Cloudflare learns about a mail.
type workerOutcome struct {
	Done     bool
	Rejected string
	Thrown   string
}

// startWorker starts the worker of an ingress.
func startWorker(t *testing.T, name string, set map[string]string) *cloudflare {
	t.Helper()
	args := []string{"ingress", "worker", name}
	for key, value := range set {
		args = append(args, "--set", key+"="+value)
	}
	code, out, stderr := command(t, args...)
	if code != 0 {
		t.Fatalf("gonebox ingress worker %s: exit status %d, want 0: %s", name, code, stderr)
	}
	w := &cloudflare{t: t, dir: t.TempDir()}
	module := filepath.Join(w.dir, "worker.mjs")
	if err := os.WriteFile(module, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	node := exec.Command("node", "testdata/worker.mjs", module)
	node.Stderr = os.Stderr
	stdin, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatalf("start the worker in Node: %v", err)
	}
	t.Cleanup(func() { stdin.Close(); _ = node.Wait() })
	w.in, w.out = json.NewEncoder(stdin), bufio.NewScanner(stdout)
	return w
}

// email hands a mail to the worker.
func (w *cloudflare) email(from, to string, mail []byte) (o workerOutcome) {
	w.t.Helper()
	w.sent++
	file := filepath.Join(w.dir, fmt.Sprintf("%d.eml", w.sent))
	if err := os.WriteFile(file, mail, 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := w.in.Encode(map[string]string{"from": from, "to": to, "file": file}); err != nil {
		w.t.Fatal(err)
	}
	if !w.out.Scan() {
		w.t.Fatalf("the worker ended with %v, want an outcome", w.out.Err())
	}
	if err := json.Unmarshal(w.out.Bytes(), &o); err != nil {
		w.t.Fatalf("the worker printed %q: %v", w.out.Bytes(), err)
	}
	return o
}

const workerSecret = `a "secret" of the worker \ 42`

// The worker that the program prints tells Cloudflare the truth: stored, refused for good, or to be sent again.
func TestWorkerTellsWhatBecameOfAMail(t *testing.T) {
	t.Parallel()
	set := map[string]string{"ingress.cf.kind": "cloudflare", "ingress.cf.secret": workerSecret, "mailbox.max_messages": "2"}
	s := start(t, options{set: set})
	box := s.newMailbox()
	set["base_url"] = "http://" + s.http
	w := startWorker(t, "cf", set)
	mail := func(name string) []byte {
		return []byte("From: shop@sender.example\r\nSubject: " + name + "\r\n\r\nYour code is 482913.\r\n")
	}
	const from = "shop@sender.example"

	if o := w.email(from, box.Address, mail("stored")); !o.Done {
		t.Errorf("a mail for %s: %+v, want it done", box.Address, o)
	}
	if o := w.email("", box.Address, mail("stored")); !o.Done {
		t.Errorf("a mail with the null reverse-path: %+v, want it done", o)
	}
	if o := w.email(from, "nosuch@gonebox.localhost", mail("unknown")); !strings.HasPrefix(o.Rejected, "550 5.1.1") {
		t.Errorf("a mail for an unknown recipient: %+v, want it rejected with 550 5.1.1", o)
	}
	if o := w.email("grüße@sender.example", "gró@gonebox.localhost", mail("utf8")); !strings.HasPrefix(o.Rejected, "550 5.1.1") {
		t.Errorf("a mail with addresses beyond ASCII: %+v, want it rejected with 550 5.1.1", o)
	}
	if o := w.email(from, box.Address, mail("third")); !strings.Contains(o.Thrown, "503") {
		t.Errorf("a mail for a full mailbox: %+v, want an error with 503", o)
	}
	if list := s.messages(box); len(list) != 2 {
		t.Fatalf("%s has %d messages, want the two that were stored", box.Address, len(list))
	}
	if status, body := s.call(http.MethodDelete, "/messages/"+s.messages(box)[0].ID, box.Token, nil); status != http.StatusNoContent {
		t.Fatalf("delete a message: %d %s, want 204", status, body)
	}
	if o := w.email(from, box.Address, mail("third")); !o.Done {
		t.Errorf("the same mail, when there is a place: %+v, want it done", o)
	}

	large := s.newMailbox()
	body := bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTU\r\n"), 20<<20/70)
	if o := w.email(from, large.Address, append(mail("large"), body...)); !o.Done {
		t.Errorf("a mail of 20 MiB: %+v, want it done", o)
	}
	if list := s.messages(large); len(list) != 1 {
		t.Errorf("%s has %d messages, want the large one", large.Address, len(list))
	}
	if o := w.email(from, large.Address, append(mail("too large"), bytes.Repeat(body, 2)...)); !strings.HasPrefix(o.Rejected, "552 5.3.4") {
		t.Errorf("a mail of 40 MiB: %+v, want it rejected with 552 5.3.4", o)
	}

	s.kill()
	if o := w.email(from, large.Address, mail("down")); o.Thrown == "" {
		t.Errorf("a mail while the service is down: %+v, want an error", o)
	}
	s.restart()
	for range 2 { // it may have been stored although Cloudflare got no answer
		if o := w.email(from, large.Address, mail("down")); !o.Done {
			t.Errorf("the same mail, when the service is up again: %+v, want it done", o)
		}
	}
	if list := s.messages(large); len(list) != 2 {
		t.Errorf("%s has %d messages, want the large one and the one that was sent again", large.Address, len(list))
	}
	set["ingress.cf.secret"] = "another"
	if o := startWorker(t, "cf", set).email(from, large.Address, mail("wrong secret")); !strings.Contains(o.Thrown, "401") {
		t.Errorf("a mail of a worker with another secret: %+v, want an error with 401, so that it is sent again", o)
	}
}

func TestIngressTestSaysWhatCameOfAMail(t *testing.T) {
	t.Parallel()
	set := map[string]string{"ingress.ses.kind": "ses", "ingress.ses.topic": "arn:aws:sns:eu-west-1:123456789012:mail"}
	for _, kind := range []string{"raw", "cloudflare", "mailgun", "postmark", "sendgrid"} {
		set["ingress."+kind+".kind"], set["ingress."+kind+".secret"] = kind, workerSecret
	}
	s := start(t, options{set: set})
	box := s.newMailbox()
	try := func(name string, more ...string) (code int, out, stderr string) {
		args := append([]string{"ingress", "test", name, "--url", "http://" + s.http}, more...)
		for key, value := range set {
			args = append(args, "--set", key+"="+value)
		}
		return command(t, args...)
	}
	for i, kind := range []string{"raw", "cloudflare", "mailgun", "postmark", "sendgrid"} {
		if code, out, stderr := try(kind, "--to", box.Address); code != 0 || !strings.HasPrefix(out, box.Address+": 250 ") {
			t.Errorf("gonebox ingress test %s --to %s: %d %q %q, want the reply 250", kind, box.Address, code, out, stderr)
		}
		if n := len(s.messages(box)); n != i+1 {
			t.Errorf("after the test of %s the mailbox has %d messages, want %d", kind, n, i+1)
		}
		if code, out, stderr := try(kind, "--to", "nosuch@gonebox.localhost"); code != 1 || !strings.Contains(out+stderr, "550 5.1.1") {
			t.Errorf("gonebox ingress test %s for an unknown recipient: %d %q %q, want 1 and 550 5.1.1", kind, code, out, stderr)
		}
	}
	if code, out, stderr := try("raw"); code != 0 || !strings.HasPrefix(out, "postmaster@gonebox.localhost: 250 ") {
		t.Errorf("gonebox ingress test raw: %d %q %q, want 250 for postmaster", code, out, stderr)
	}
	if code, _, stderr := try("ses"); code != 1 || !strings.Contains(stderr, "only the provider can sign") {
		t.Errorf("gonebox ingress test ses: %d %q, want 1 and the reason", code, stderr)
	}
	if code, _, stderr := try("nosuch"); code != 1 || !strings.Contains(stderr, `no ingress "nosuch"`) {
		t.Errorf("gonebox ingress test nosuch: %d %q, want 1 and the reason", code, stderr)
	}
	s.kill()
	if code, _, stderr := try("raw"); code != 1 || !strings.Contains(stderr, "refused") {
		t.Errorf("gonebox ingress test raw while the service is down: %d %q, want 1 and the reason", code, stderr)
	}
	if code, _, stderr := try("raw", "--url", "http://"+apptest.FreeAddress(t)); code != 1 || stderr == "" {
		t.Errorf("gonebox ingress test raw at another port: %d %q, want 1 and the reason", code, stderr)
	}
}
