package retention_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

var (
	lasts   = flag.Duration("for", 0, "how long TestErasingKeepsUpWithMail measures, by the machine's clock; 0: it does not")
	rate    = flag.Int("rate", 500, "mails a second, by the machine's clock")
	each    = flag.Int("each", 5, "mails that each mailbox gets")
	on      = flag.String("on", "postgres", "the engine: postgres or sqlite")
	every   = flag.Duration("every", 10*time.Second, "how often a line is printed")
	conf    = flag.String("conf", "", "settings of PostgreSQL beside Debian's, separated by commas: autovacuum_naptime=6s")
	workers = flag.Int("senders", 16, "connections that send at the same time")
)

// The service's clock runs ten times as fast as the machine's, in steps: an hour passes in six minutes.
const (
	haste = 10
	step  = 100 * time.Millisecond
)

// boxLife is how long mailboxes live by the service's clock: a minute of the machine's.
const boxLife = 10 * time.Minute

// fast are settings with which everything that is retained expires within a measurement.
func fast() map[string]string {
	return map[string]string{
		"plans.guest.mailbox.ttl.default": boxLife.String(), "mailbox.address_cooldown": "20m", "plans.guest.mail.daily.max": "100000",
		"smtp.session_timeout": "1000h", "smtp.command_timeout": "1000h", "limits.mailbox_create": "1000000/1s", "limits.smtp_messages": "1000000/1s", "limits.smtp_connections": "1000",
	}
}

// TestErasingKeepsUpWithMail sends mail at a fixed rate to mailboxes that expire and are erased meanwhile, and prints
// the size of the database over time. It is a measurement: go -C test/bench test ./retention -run KeepsUp -v -for 8m
func TestErasingKeepsUpWithMail(t *testing.T) {
	if *lasts == 0 {
		t.Skip("a measurement, made where -for says how long")
	}
	s := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), *lasts)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { hurry(ctx, s.Clock) })
	m := &mailing{service: s, begun: time.Now()}
	for range *workers {
		running.Go(func() { m.work(ctx, t) })
	}
	look := newSampler(t, s)
	t.Log(look.heading())
	ticks := time.NewTicker(*every)
	defer ticks.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticks.C:
			t.Log(look.line(time.Since(m.begun), m.since()))
		case <-ctx.Done():
		}
	}
	running.Wait()
	settle(t, s, look.db)
	t.Log(look.line(time.Since(m.begun), m.since()))
}

// open starts the service as one process, on a PostgreSQL with Debian's settings or on SQLite.
func open(t *testing.T) *apptest.Service {
	o := apptest.Options{Set: fast()}
	if *on == "sqlite" {
		return apptest.Start(t, o)
	}
	debian := []string{"fsync=on", "full_page_writes=on", "shared_buffers=128MB", "max_wal_size=1GB", "autovacuum_naptime=1min", "jit=on"}
	server := dbtest.StartServer(t, append(debian, strings.FieldsFunc(*conf, func(r rune) bool { return r == ',' })...)...)
	if err := server.Create(t.Context(), "retention"); err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Processes = t.TempDir(), []string{"smtp, api, jobs"}
	if err := os.WriteFile(filepath.Join(o.Dir, "database.url"), []byte(server.URL("retention")), 0o600); err != nil {
		t.Fatal(err)
	}
	return apptest.Start(t, o)
}

// hurry moves the service's clock until ctx ends.
func hurry(ctx context.Context, c *apptest.Clock) {
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			c.Move(haste * step)
		case <-ctx.Done():
			return
		}
	}
}

// mailing is the state that the senders share.
type mailing struct {
	service *apptest.Service
	begun   time.Time
	next    atomic.Int64 // the number of the next mail
	mu      sync.Mutex
	took    []time.Duration // time to the 250 of the mails since the last call of since
}

// work creates mailboxes and sends each its mails on schedule.
func (m *mailing) work(ctx context.Context, t *testing.T) {
	var s *sender
	for ctx.Err() == nil {
		box, err := m.newBox(ctx)
		for i := 0; i < *each && err == nil && ctx.Err() == nil; i++ {
			serial := int(m.next.Add(1))
			time.Sleep(time.Until(m.begun.Add(time.Duration(serial) * time.Second / time.Duration(*rate)))) // a rate is what is wanted
			if s == nil {
				if s, err = dial(m.service.SMTP); err != nil {
					break
				}
				defer s.conn.Close()
			}
			var took time.Duration
			if took, err = s.send(box.Address, sampleMail(box.Address, serial)); err == nil {
				m.note(took)
			}
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
			return
		}
	}
}

func (m *mailing) newBox(ctx context.Context) (box apptest.Mailbox, err error) {
	a, err := m.service.TryCall(ctx, http.MethodPost, "/mailboxes", "", nil)
	if err != nil {
		return box, err
	}
	whole := struct{ Data *apptest.Mailbox }{&box}
	if err := json.Unmarshal(a.Body, &whole); err != nil || a.Status != http.StatusCreated {
		return box, errors.New(string(a.Body))
	}
	return box, nil
}

func (m *mailing) note(took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took = append(m.took, took)
}

// since returns the reply times measured since the last call, sorted.
func (m *mailing) since() []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.took
	m.took = nil
	slices.Sort(all)
	return all
}
