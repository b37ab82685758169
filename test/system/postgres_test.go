package system_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// outages is how often each kind of outage occurs.
const outages = 2

// TestMailAndMoneySurvivePostgresOutages repeatedly stops PostgreSQL, ends it and kills processes of the service while
// mail is sent and orders are paid. In the end each mail that was answered 250 is stored once, and each order that was
// paid is credited once.
func TestMailAndMoneySurvivePostgresOutages(t *testing.T) {
	t.Parallel()
	n := *seed
	if n == 0 {
		n = uint64(rand.Uint32())
	}
	t.Logf("go test ./test/system -run TestMailAndMoneySurvivePostgresOutages -seed %d", n)
	server := newServer(t)
	c := startCluster(t, server.URL("gonebox"), paidSettings(), "smtp, api", "smtp, api", "jobs")
	l := &load{seed: n, addr: c.front.smtp}
	for range 4 {
		l.boxes = append(l.boxes, c.front.newMailbox())
	}
	m := &market{seed: n, url: c.front.url}
	for i := range payers {
		m.payers = append(m.payers, &payer{market: m, n: i, token: c.front.register(fmt.Sprintf("payer-%d@example.org", i)), bought: make(map[string]bool)})
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	closing := make(chan struct{})
	var sending, paying sync.WaitGroup
	for n := range senders / 2 {
		sending.Go(func() { l.run(ctx, n) })
	}
	for _, p := range m.payers {
		paying.Go(func() { p.run(ctx, closing) })
	}
	c.befall(t, server, l, m)
	calm := m.answered() + 300 // so that what was paid meanwhile is credited and spent
	await(t, "calls after it all", func() bool { return m.answered() >= calm })
	close(closing)
	paying.Wait()
	l.end()
	sending.Wait()

	l.verify(t, c.front)
	await(t, "the reconciliation", func() bool { return c.processes[0].unseen() == 0 })
	m.verify(t, c.front)
	for _, p := range c.processes {
		p.stop()
	}
}

// paidSettings are those of a service that accepts payments.
func paidSettings() map[string]string {
	return map[string]string{
		"account.password.memory": "64KiB", "account.password.passes": "1", "limits.register": "100000/1m", "limits.signin_address": "100000/1m",
		"billing.bankpay.apikey": bankSecret, "billing.bankpay.allow_networks": "127.0.0.0/8", "billing.bankpay.bank_bin": "970436",
		"billing.bankpay.account_number": "0011001932418", "plans.plus.price.monthly": fmt.Sprint(planPrice), "limits.other": "1000000/1m",
	}
}

// newServer starts a PostgreSQL with durable commits and an empty database.
func newServer(t *testing.T) *dbtest.Server {
	t.Helper()
	server := dbtest.StartServer(t, "fsync=on")
	if err := server.Create(t.Context(), "gonebox"); err != nil {
		t.Fatal(err)
	}
	return server
}

// befall causes each kind of outage in turn, and waits each time until the service has recovered by itself.
func (c *cluster) befall(t *testing.T, server *dbtest.Server, l *load, m *market) {
	t.Helper()
	rng := rand.New(rand.NewPCG(l.seed, senders))
	restart := func(end func() error) func() {
		return func() {
			if err := end(); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Duration(rng.IntN(200)) * time.Millisecond) // an outage lasts; how long decides nothing
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
		}
	}
	kill := func() {
		p := c.processes[rng.IntN(len(c.processes))]
		p.kill()
		p.restart()
	}
	for range outages {
		for _, misfortune := range []func(){kill, restart(server.Stop), kill, restart(server.Kill)} {
			mails, calls := l.acknowledged()+10+rng.IntN(60), m.answered()+10+rng.IntN(60)
			await(t, "mails and calls being answered", func() bool { return l.acknowledged() >= mails && m.answered() >= calls })
			misfortune()
			await(t, "recovery", c.balancer.allReady)
		}
	}
}

// TestServiceRecoversFromLostPostgres checks what a service answers while PostgreSQL is away: readiness gives the
// reason, calls are 503, mail is 451, and none of it is stored afterwards.
func TestServiceRecoversFromLostPostgres(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	c := startCluster(t, server.URL("gonebox"), nil, "smtp, api, jobs")
	s := c.processes[0]
	box := s.newMailbox()
	open := mustDial(t, s.smtp)
	polled := s.longPoll(box)
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}

	await(t, "a probe that fails", func() bool { return !s.ready() })
	probe := s.probe()
	if probe.Status != "unavailable" || probe.Checks["database"] == "ok" || probe.Checks["smtp"] != "ok" {
		t.Errorf("/readyz says %+v, want unavailable for the database, and SMTP ok", probe)
	}
	for name, reason := range probe.Checks {
		if strings.Contains(reason, "host=") || strings.Contains(reason, "user=") || strings.Contains(reason, "/tmp/") {
			t.Errorf("/readyz says of %s: %s, want nothing that not everybody may read", name, reason)
		}
	}
	if status, text := s.call(http.MethodGet, "/mailboxes/me", box.Token, nil); status != http.StatusServiceUnavailable || !strings.Contains(string(text), "server.unavailable") {
		t.Errorf(`a call is answered %d %s, want %v and "server.unavailable" in it`, status, text, http.StatusServiceUnavailable)
	}
	reply, err := open.send("sender@example.org", []string{box.Address}, sampleMail("away", "tkn-1-1-1."))
	if err != nil || !strings.HasPrefix(reply, "451 4.3.0 ") {
		t.Errorf("the reply to a mail is %q, %v, want 451 4.3.0", reply, err)
	}
	if status, _ := s.call(http.MethodGet, "/healthz", "", nil); status != http.StatusOK {
		t.Errorf("healthz: %d, want %v", status, http.StatusOK)
	}

	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "recovery", s.ready)
	wantReply(t, "after it", send(t, s.smtp, sampleMail("back", "tkn-1-1-2."), box.Address), "250 ")
	if answer := <-polled; !strings.Contains(answer, `"back"`) {
		t.Errorf(`the call that waited to the end is answered %s, want "\"back\"" in it`, answer)
	}
	s.wantSubjects(box, "back")
}

// readiness is the body of /readyz.
type readiness struct {
	Status string
	Checks map[string]string
}

func (s *service) probe() readiness {
	s.t.Helper()
	res, err := http.Get("http://" + s.http + "/readyz")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var answer struct{ Data readiness }
	if err := json.Unmarshal(text, &answer); err != nil {
		s.t.Fatalf("decode %s: %v", text, err)
	}
	return answer.Data
}
