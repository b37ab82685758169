package system_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// Bounds for a PostgreSQL that does not answer. They are at least twice those that docs/operating.md gives, for a busy machine; without
// a bound of the service a call lasts until PostgreSQL answers.
const (
	answerMax   = 20 * time.Second // a call or a step of SMTP; 10 s is promised
	probeMax    = 15 * time.Second // /readyz and /healthz; 5 s is promised
	recoveryMax = 60 * time.Second // once the database answers again; 10 s is promised
)

// TestSilentPostgres makes PostgreSQL stop answering under load: all of its processes are stopped, or its host is gone
// and then replaced. Clients are answered with Retry-After in time, and the service recovers soon after PostgreSQL
// answers again.
func TestSilentPostgres(t *testing.T) {
	for name, use := range map[string]func(t *testing.T, server *dbtest.Server) (url string, silence, end func()){
		"frozen": func(t *testing.T, server *dbtest.Server) (string, func(), func()) {
			return server.URL("gonebox"), func() { must(t, server.Freeze()) }, func() { must(t, server.Thaw()) }
		},
		"vanished": func(t *testing.T, server *dbtest.Server) (string, func(), func()) {
			proxy := server.StartProxy(t)
			return proxy.URL("gonebox"), proxy.Vanish, proxy.Replace
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, silence, end := use(t, newServer(t))
			c := startCluster(t, url, nil, "smtp, api", "smtp, api", "jobs")
			w := newWitness(t, c)
			polled := c.processes[0].longPoll(w.polled)
			w.await("success", true)
			silence()
			w.begin()
			for _, p := range c.processes {
				await(t, "a probe that tells of it", func() bool { return !p.ready() })
				if got := p.probe(); got.Checks["database"] == "ok" || got.Checks["database"] == "" {
					t.Errorf("/readyz of the process %q says %+v, want what is wrong with the database", p.o.set["roles"], got)
				}
			}
			w.await("refusal", false)
			w.await("refusal at once", false)
			w.report("while it is silent")
			end()
			begun := clock.System().Now()
			for _, p := range c.processes {
				await(t, "readiness", p.ready)
			}
			w.begin()
			w.await("success", true)
			took := clock.System().Now().Sub(begun)
			t.Logf("recovered in %s", took.Round(time.Millisecond))
			if took > recoveryMax {
				t.Errorf("recovered in %s, want at most %v", took, recoveryMax)
			}
			for reply := ""; !strings.HasPrefix(reply, "250"); {
				reply = send(t, c.processes[1].smtp, sampleMail("woken", "woken"), w.polled.Address)
			}
			if answer := <-polled; !strings.Contains(answer, `"woken"`) {
				t.Errorf(`a call that waited to the end is answered %s, want "\"woken\"" in it`, answer)
			}
			w.end()
			w.verify()
			for _, p := range c.processes {
				p.stop()
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// witness repeatedly calls the processes of a cluster and measures their response times.
type witness struct {
	t           *testing.T
	api         api
	box, polled mailbox
	client      *http.Client
	stop        context.CancelFunc
	calling     sync.WaitGroup

	mu      sync.Mutex
	seen    map[string]*observed
	taken   map[string]bool // subjects that were acknowledged
	refused map[string]bool // subjects that were not
}

// observed is the outcome of one kind of call since begin.
type observed struct {
	succeeded, refused int
	slowest            time.Duration
}

func newWitness(t *testing.T, c *cluster) *witness {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := &witness{
		t: t, api: c.processes[0].api, box: c.processes[0].newMailbox(), polled: c.processes[0].newMailbox(), stop: stop, seen: make(map[string]*observed),
		client: &http.Client{Timeout: patience}, taken: make(map[string]bool), refused: make(map[string]bool),
	}
	t.Cleanup(w.end)
	for i, p := range c.processes {
		calls := map[string]func() string{
			"readyz": func() string { return w.call(http.MethodGet, "http://"+p.http+"/readyz", "", "") },
		}
		if strings.Contains(p.o.set["roles"], "api") {
			calls["read"] = func() string { return w.call(http.MethodGet, p.url+"/mailboxes/me/messages", w.box.Token, "") }
			calls["write"] = func() string { return w.call(http.MethodPost, p.url+"/mailboxes", "", "{}") }
			calls["mail"] = func() string { return w.mail(ctx, p, i) }
		}
		for name, call := range calls {
			w.follow(ctx, fmt.Sprintf("%s of process %d", name, i), call)
		}
		w.calling.Go(func() {
			for ctx.Err() == nil {
				begun := clock.System().Now()
				if got := w.call(http.MethodGet, "http://"+p.http+"/healthz", "", ""); got != "200" {
					t.Errorf(`healthz: %s, want "200"`, got)
				}
				if took := clock.System().Now().Sub(begun); took > probeMax {
					t.Errorf("healthz took %s, want at most %v", took, probeMax)
				}
				<-time.After(100 * time.Millisecond)
			}
		})
	}
	return w
}

// follow repeats a call, from several clients, until ctx ends.
func (w *witness) follow(ctx context.Context, name string, call func() string) {
	w.mu.Lock() // the clients of other calls are running
	w.seen[name] = &observed{}
	w.mu.Unlock()
	limit := answerMax
	if strings.HasPrefix(name, "readyz") {
		limit = probeMax
	}
	for range 4 {
		w.calling.Go(func() {
			for ctx.Err() == nil {
				begun := clock.System().Now()
				answer := call()
				took := clock.System().Now().Sub(begun)
				if ctx.Err() != nil {
					return // the end of the test may have cut the call off
				}
				w.note(name, answer, took)
				if took > limit {
					w.t.Errorf("%s: %s after %s, want at most %v", name, answer, took, limit)
				}
				<-time.After(20 * time.Millisecond)
			}
		})
	}
}

func (w *witness) note(name, answer string, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.seen[name]
	o.slowest = max(o.slowest, took)
	switch answer[:1] {
	case "2":
		o.succeeded++
	case "4", "5":
		o.refused++
		if !strings.HasPrefix(answer, "503 after ") && !strings.HasPrefix(answer, "451 ") && !strings.HasPrefix(name, "readyz") {
			w.t.Errorf("%s is answered %s, want 503 or 451", name, answer)
		}
	default:
		w.t.Errorf("%s is answered %s, want an answer of the classes 2, 4 and 5", name, answer)
	}
}

// call makes a call and returns its status and its Retry-After.
func (w *witness) call(method, url, token, body string) string {
	r, err := http.NewRequest(method, url, bytes.NewBufferString(body))
	if err != nil {
		return "fault: " + err.Error()
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := w.client.Do(r)
	if err != nil {
		return "fault: " + err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return "fault: " + err.Error()
	}
	if res.StatusCode/100 == 2 {
		return fmt.Sprint(res.StatusCode)
	}
	return fmt.Sprintf("%d after %s: %s", res.StatusCode, res.Header.Get("Retry-After"), text)
}

// mail sends a mail and returns the reply.
func (w *witness) mail(ctx context.Context, p *service, i int) string {
	c, err := dial(ctx, p.smtp)
	if err != nil {
		return "fault: " + err.Error()
	}
	defer c.conn.Close()
	w.mu.Lock()
	subject := fmt.Sprintf("mail %d of %d", len(w.taken)+len(w.refused), i)
	w.refused[subject] = true
	w.mu.Unlock()
	reply, err := c.send("sender@example.org", []string{w.box.Address}, sampleMail(subject, subject))
	if err != nil {
		return "fault: " + err.Error()
	}
	if strings.HasPrefix(reply, "250") {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.taken[subject] = true
		delete(w.refused, subject)
	}
	return reply
}

// begin discards what was observed.
func (w *witness) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.seen {
		*o = observed{}
	}
}

// await waits until each kind of call has succeeded again.
func (w *witness) await(what string, success bool) {
	w.t.Helper()
	count := func(o *observed) int {
		if success {
			return o.succeeded
		}
		return o.refused
	}
	w.mu.Lock()
	before := make(map[string]int)
	for name, o := range w.seen {
		before[name] = count(o)
	}
	w.mu.Unlock()
	await(w.t, what+" of each call", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for name, o := range w.seen {
			if count(o) <= before[name] {
				return false
			}
		}
		return true
	})
}

func (w *witness) report(when string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(w.seen)) {
		w.t.Logf("%s, %s: %d refused, the slowest answer after %s", name, when, w.seen[name].refused, w.seen[name].slowest.Round(time.Millisecond))
	}
}

func (w *witness) end() {
	w.stop()
	w.calling.Wait()
}

// verify checks that each acknowledged mail is stored once, and no other twice.
func (w *witness) verify() {
	w.t.Helper()
	stored := make(map[string]int)
	for _, m := range w.api.messages(w.box) {
		stored[m.Subject]++
	}
	unknown := 0
	for subject, n := range stored {
		if n > 1 {
			w.t.Errorf("%q is stored %d times, want at most 1", subject, n)
		}
		if w.refused[subject] {
			unknown++
		}
	}
	for subject := range w.taken {
		if stored[subject] == 0 {
			w.t.Errorf("%q was acknowledged and is lost, want it stored", subject)
		}
	}
	w.t.Logf("%d mails were acknowledged, %d refused, %d of those are stored all the same", len(w.taken), len(w.refused), unknown)
}

// stopMax is how much longer than shutdown_grace a stop may take: two seconds, and more on a busy machine.
const stopMax = 20 * time.Second

// TestStopWithSilentPostgres stops processes while PostgreSQL does not answer: shutdown_grace bounds that as well.
func TestStopWithSilentPostgres(t *testing.T) {
	const grace = 3 * time.Second
	for name, noticed := range map[string]bool{"before it is noticed": false, "when it is known": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			c := startCluster(t, server.URL("gonebox"), map[string]string{"shutdown_grace": grace.String()}, "smtp, api", "smtp, api", "jobs")
			w := newWitness(t, c)
			w.await("success", true)
			w.end()
			must(t, server.Freeze())
			s := c.processes[0]
			under := mustDial(t, s.smtp)
			go func() { _, _ = under.send("sender@example.org", []string{w.box.Address}, sampleMail("late", "late")) }()
			go w.call(http.MethodPost, s.url+"/mailboxes", "", "{}")
			if noticed {
				for _, p := range c.processes {
					await(t, "a probe that tells of it", func() bool { return !p.ready() })
				}
				w.call(http.MethodPost, s.url+"/mailboxes", "", "{}")
			}
			begun := clock.System().Now()
			for _, p := range c.processes {
				p.proc.signal(syscall.SIGTERM)
			}
			for _, p := range c.processes {
				p.proc.wait(t)
				took := clock.System().Now().Sub(begun)
				t.Logf("%q ended after %s", p.o.set["roles"], took.Round(time.Millisecond))
				if took > grace+stopMax {
					t.Errorf("%q ended after %s, with shutdown_grace %s, want at most %v", p.o.set["roles"], took, grace, grace+stopMax)
				}
			}
		})
	}
}
