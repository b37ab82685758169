package webhook_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ada id.Account = "acc_ada"
	bob id.Account = "acc_bob"
)

// fixture is a Service with a transport that records requests and responds with status.
type fixture struct {
	*webhook.Service
	t      testing.TB
	db     *db.DB
	clock  *clock.Fake
	queue  *job.Queue
	outbox *webhook.Outbox

	mu     sync.Mutex
	sent   []*http.Request
	status int
}

func newFixture(t testing.TB, d *db.DB) *fixture {
	w := &fixture{t: t, db: d, clock: clock.NewFake(noon()), status: 200}
	w.queue = job.NewQueue(d, w.clock, job.Options{
		Kind: "webhook", LaneMax: 4, Max: 512, Lease: time.Minute, Poll: time.Second, Grace: time.Minute, SingleProcess: true, Logger: slog.New(slog.DiscardHandler),
	})
	w.outbox = webhook.NewOutbox(w.queue, 72*time.Hour)
	var err error
	w.Service, err = webhook.New(webhook.Parts{
		DB: d, Clock: w.clock, Queue: w.queue, Plans: w, Domains: w, Guard: w, Client: &http.Client{Transport: w}, Seal: [32]byte{1},
		Logger: slog.New(slog.DiscardHandler), Policy: webhook.Policy{
			Retries: []time.Duration{time.Minute}, RetryAfterMax: 24 * time.Hour, PauseAfter: 3, PendingMax: 72 * time.Hour, Timeout: time.Minute, ResponseKept: 10,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *fixture) WebhookMax(context.Context, id.Account) (int, error)       { return 2, nil }
func (w *fixture) Owns(context.Context, id.Account, id.Domain) (bool, error) { return true, nil }
func (w *fixture) CheckURL(_ context.Context, rawURL string) error {
	if strings.Contains(rawURL, "forbidden") {
		return errors.New("it is forbidden")
	}
	return nil
}

// RoundTrip records a delivery and returns a response to it.
func (w *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, r)
	return &http.Response{StatusCode: w.status, Body: io.NopCloser(strings.NewReader("a long answer"))}, nil
}

// run runs the deliveries until the returned function is called.
func (w *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

func (w *fixture) create(account id.Account, events ...event.Name) *webhook.Endpoint {
	w.t.Helper()
	e, _, err := w.Create(w.t.Context(), account, webhook.Params{URL: "https://hooks.example/", Events: events})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *fixture) publish(events ...event.Event) error {
	return w.db.Update(w.t.Context(), func(ctx context.Context, tx *db.Tx) error { return w.outbox.PublishTx(ctx, tx, events...) })
}

func (w *fixture) count(query string, args ...any) (n int) {
	w.t.Helper()
	if err := w.db.QueryRow(w.t.Context(), query, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// waitDrained waits until the queue is empty.
func (w *fixture) waitDrained(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute) // which ends a test that hangs
	for w.count("SELECT count(*) FROM job WHERE state <> 4") > 0 {
		if time.Now().After(deadline) {
			t.Fatal("deliveries are left")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func expired(account id.Account, domain id.Domain) event.Event {
	return event.Event{Account: account, Domain: domain, At: noon(), Data: event.MailboxExpired{}}
}

func TestEventsGoToSubscribedEndpoints(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newFixture(t, d)
		all := w.create(ada, event.MailboxExpiredName)
		some, _, err := w.Create(t.Context(), ada, webhook.Params{URL: "https://hooks.example/", Events: []event.Name{event.MailboxExpiredName}, Domain: "dom_1"})
		if err != nil {
			t.Fatal(err)
		}
		w.create(bob, event.MailboxCreatedName)
		if err := w.publish(expired(ada, ""), expired(ada, "dom_1"), expired(ada, "dom_2"), expired(bob, ""), expired("acc_eve", "")); err != nil {
			t.Fatal(err)
		}
		pings := 1
		for lane, want := range map[id.Webhook]int{all.ID: 3 + pings, some.ID: 1 + pings} {
			if n := w.count("SELECT count(*) FROM job WHERE lane = $1", lane); n != want {
				t.Errorf("%d deliveries for %s, want %d", n, lane, want)
			}
		}
		if n := w.count("SELECT count(*) FROM job"); n != 4+1+3*pings-1 {
			t.Errorf("%d deliveries in all", n)
		}
	})
}

func TestRolledBackEventIsNotDelivered(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newFixture(t, d)
		w.create(ada, event.MailboxExpiredName)
		before := w.count("SELECT count(*) FROM job")
		undone := errors.New("undone")
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(w.outbox.PublishTx(ctx, tx, expired(ada, "")), undone)
		})
		if !errors.Is(err, undone) || w.count("SELECT count(*) FROM job") != before {
			t.Errorf("%v, %d deliveries", err, w.count("SELECT count(*) FROM job"))
		}
	})
}

func TestLimitsAndForbiddenURLs(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newFixture(t, d)
		for want, params := range map[problem.Code]webhook.Params{problem.WebhookURLForbidden: {URL: "https://forbidden/", Events: event.Names()}} {
			if _, _, err := w.Create(t.Context(), ada, params); !problem.Has(err, want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		w.create(ada, event.WebhookPingName)
		e := w.create(ada, event.WebhookPingName)
		if _, _, err := w.Create(t.Context(), ada, webhook.Params{URL: "https://hooks.example/", Events: event.Names()}); !problem.Has(err, problem.WebhookLimitReached) {
			t.Errorf("a third endpoint: %v", err)
		}
		url := "https://forbidden/"
		if _, err := w.Update(t.Context(), ada, e.ID, webhook.Change{URL: &url}); !problem.Has(err, problem.WebhookURLForbidden) {
			t.Errorf("%v", err)
		}
		if _, err := w.Update(t.Context(), bob, e.ID, webhook.Change{URL: &url}); !problem.Has(err, problem.WebhookNotFound) {
			t.Errorf("another's: %v", err)
		}
	})
}

// A service without Parts.Local does not mark an endpoint as one of a trusted client: it would be trusted later, when the
// service is started with Parts.Local.
func TestNoEndpointIsLocalWithoutPartsLocal(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newFixture(t, d)
		created, _, err := w.Create(t.Context(), ada, webhook.Params{URL: "https://hooks.example/", Events: event.Names(), Local: true})
		if err != nil {
			t.Fatal(err)
		}
		url := "https://hooks.example/other"
		changed, err := w.Update(t.Context(), ada, created.ID, webhook.Change{URL: &url, Local: true})
		if err != nil || created.Local() || changed.Local() {
			t.Errorf("created as local: %t, changed to local: %t, %v; want neither", created.Local(), changed.Local(), err)
		}
	})
}

// Upkeep completes pausing, resuming and deleting, which leave deliveries behind if there are many, or if events are
// published concurrently.
func TestUpkeepReleasesAndDeletesHeldDeliveries(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newFixture(t, d)
		active, paused := w.create(ada, event.MailboxExpiredName), w.create(ada, event.MailboxExpiredName)
		yes := true
		if _, err := w.Update(t.Context(), ada, paused.ID, webhook.Change{Paused: &yes}); err != nil {
			t.Fatal(err)
		}
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return w.queue.EnqueueTx(ctx, tx,
				job.New{Lane: string(active.ID), Payload: `{"event":"evt_1","body":{}}`, HeldFor: time.Hour},
				job.New{Lane: string(paused.ID), Payload: `{"event":"evt_1","body":{}}`, HeldFor: time.Hour},
				job.New{Lane: "whk_deleted", Payload: `{"event":"evt_1","body":{}}`, HeldFor: time.Hour},
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for lane, want := range map[id.Webhook]int{active.ID: 0, paused.ID: 1, "whk_deleted": 0} {
			if n := w.count("SELECT count(*) FROM job WHERE state = 3 AND lane = $1", lane); n != want {
				t.Errorf("%d deliveries are held for %s, want %d", n, lane, want)
			}
		}
		if n := w.count("SELECT count(*) FROM job WHERE lane = 'whk_deleted'"); n != 0 {
			t.Errorf("%d deliveries are left for an endpoint that is not there", n)
		}
	})
}

func TestMalformedDeliveryIsBuried(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := newFixture(t, d)
		e := w.create(ada, event.MailboxExpiredName)
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return w.queue.EnqueueTx(ctx, tx, job.New{Lane: string(e.ID), Payload: "{"}, job.New{Lane: "whk_deleted", Payload: `{"event":"evt_1","body":{}}`})
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := w.run()
		w.waitDrained(t)
		stop()
		if dead := w.count("SELECT count(*) FROM job WHERE state = 4"); dead != 1 || len(w.sent) != 1 { // the ping
			t.Errorf("%d dead letters, %d requests", dead, len(w.sent))
		}
		if all, err := w.Deliveries(t.Context(), ada, e.ID); err != nil || len(all) != 1 || all[0].ResponseBody != "a long ans" {
			t.Errorf("%v %+v", err, all)
		}
	})
}
