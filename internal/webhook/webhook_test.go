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
	f := &fixture{t: t, db: d, clock: clock.NewFake(noon()), status: 200}
	f.queue = job.NewQueue(d, f.clock, job.Options{
		Kind: "webhook", LaneMax: 4, Max: 512, Lease: time.Minute, Poll: time.Second, Grace: time.Minute, SingleProcess: true, Logger: slog.New(slog.DiscardHandler),
	})
	f.outbox = webhook.NewOutbox(f.queue, 72*time.Hour)
	var err error
	f.Service, err = webhook.New(webhook.Parts{
		DB: d, Clock: f.clock, Queue: f.queue, Plans: f, Domains: f, Guard: f, Client: &http.Client{Transport: f}, Seal: [32]byte{1},
		Logger: slog.New(slog.DiscardHandler), Policy: webhook.Policy{
			Retries: []time.Duration{time.Minute}, RetryAfterMax: 24 * time.Hour, PauseAfter: 3, PendingMax: 72 * time.Hour, Timeout: time.Minute, ResponseKept: 10,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) WebhookMax(context.Context, id.Account) (int, error)       { return 2, nil }
func (f *fixture) Owns(context.Context, id.Account, id.Domain) (bool, error) { return true, nil }
func (f *fixture) CheckURL(_ context.Context, rawURL string) error {
	if strings.Contains(rawURL, "forbidden") {
		return errors.New("it is forbidden")
	}
	return nil
}

// RoundTrip records a delivery and returns a response to it.
func (f *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, r)
	return &http.Response{StatusCode: f.status, Body: io.NopCloser(strings.NewReader("a long answer"))}, nil
}

// run runs the deliveries until the returned function is called.
func (f *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

func (f *fixture) create(account id.Account, events ...event.Name) *webhook.Endpoint {
	f.t.Helper()
	e, _, err := f.Create(f.t.Context(), account, webhook.Params{URL: "https://hooks.example/", Events: events})
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

func (f *fixture) publish(events ...event.Event) error {
	return f.db.Update(f.t.Context(), func(ctx context.Context, tx *db.Tx) error { return f.outbox.PublishTx(ctx, tx, events...) })
}

func (f *fixture) count(query string, args ...any) (n int) {
	f.t.Helper()
	if err := f.db.QueryRow(f.t.Context(), query, args...).Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// waitDrained waits until the queue is empty.
func (f *fixture) waitDrained(t testing.TB) {
	t.Helper()
	f.waitUntilNone(t, "SELECT count(*) FROM job WHERE state <> 4")
}

// waitSettled waits until every delivery has been attempted: it is done, or has failed and waits for its next attempt.
func (f *fixture) waitSettled(t testing.TB) {
	t.Helper()
	f.waitUntilNone(t, "SELECT count(*) FROM job WHERE state IN (0, 2)")
}

// waitUntilNone waits until a query counts no deliveries.
func (f *fixture) waitUntilNone(t testing.TB, query string) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute) // which ends a test that hangs
	for n := f.count(query); n > 0; n = f.count(query) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %d are left after 5 minutes, want none", query, n)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func expired(account id.Account, domain id.Domain) event.Event {
	return event.Event{Account: account, Domain: domain, At: noon(), Data: event.MailboxExpired{}}
}

func TestEventsGoToSubscribedEndpoints(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d)
		all := f.create(ada, event.MailboxExpiredName)
		some, _, err := f.Create(t.Context(), ada, webhook.Params{URL: "https://hooks.example/", Events: []event.Name{event.MailboxExpiredName}, Domain: "dom_1"})
		if err != nil {
			t.Fatal(err)
		}
		f.create(bob, event.MailboxCreatedName)
		if err := f.publish(expired(ada, ""), expired(ada, "dom_1"), expired(ada, "dom_2"), expired(bob, ""), expired("acc_eve", "")); err != nil {
			t.Fatal(err)
		}
		pings := 1
		for lane, want := range map[id.Webhook]int{all.ID: 3 + pings, some.ID: 1 + pings} {
			if n := f.count("SELECT count(*) FROM job WHERE lane = $1", lane); n != want {
				t.Errorf("%d deliveries for %s, want %d", n, lane, want)
			}
		}
		if n := f.count("SELECT count(*) FROM job"); n != 4+1+3*pings-1 {
			t.Errorf("%d deliveries in all, want %v", n, 4+1+3*pings-1)
		}
	})
}

func TestRolledBackEventIsNotDelivered(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d)
		f.create(ada, event.MailboxExpiredName)
		before := f.count("SELECT count(*) FROM job")
		undone := errors.New("undone")
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(f.outbox.PublishTx(ctx, tx, expired(ada, "")), undone)
		})
		if !errors.Is(err, undone) || f.count("SELECT count(*) FROM job") != before {
			t.Errorf("Update = %v, and there are %d deliveries, want the error %v and %d as before", err, f.count("SELECT count(*) FROM job"), undone, before)
		}
	})
}

func TestLimitsAndForbiddenURLs(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d)
		for want, params := range map[problem.Code]webhook.Params{problem.WebhookURLForbidden: {URL: "https://forbidden/", Events: event.Names()}} {
			if _, _, err := f.Create(t.Context(), ada, params); !problem.Has(err, want) {
				t.Errorf("Create(%+v) = %v, want the problem %s", params, err, want)
			}
		}
		f.create(ada, event.WebhookPingName)
		e := f.create(ada, event.WebhookPingName)
		if _, _, err := f.Create(t.Context(), ada, webhook.Params{URL: "https://hooks.example/", Events: event.Names()}); !problem.Has(err, problem.WebhookLimitReached) {
			t.Errorf("a third endpoint: %v, want the problem %v", err, problem.WebhookLimitReached)
		}
		url := "https://forbidden/"
		if _, err := f.Update(t.Context(), ada, e.ID, webhook.Change{URL: &url}); !problem.Has(err, problem.WebhookURLForbidden) {
			t.Errorf("f.Update(ada, e.ID, webhook.Change{URL: &url}) = %v, want the problem %v", err, problem.WebhookURLForbidden)
		}
		if _, err := f.Update(t.Context(), bob, e.ID, webhook.Change{URL: &url}); !problem.Has(err, problem.WebhookNotFound) {
			t.Errorf("another's: %v, want the problem %v", err, problem.WebhookNotFound)
		}
	})
}

// A service without Parts.Local does not mark an endpoint as one of a trusted client: it would be trusted later, when the
// service is started with Parts.Local.
func TestNoEndpointIsLocalWithoutPartsLocal(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d)
		created, _, err := f.Create(t.Context(), ada, webhook.Params{URL: "https://hooks.example/", Events: event.Names(), Local: true})
		if err != nil {
			t.Fatal(err)
		}
		url := "https://hooks.example/other"
		changed, err := f.Update(t.Context(), ada, created.ID, webhook.Change{URL: &url, Local: true})
		if err != nil || created.Local() || changed.Local() {
			t.Errorf("created as local: %t, changed to local: %t, %v; want neither", created.Local(), changed.Local(), err)
		}
	})
}

// Upkeep completes pausing, resuming and deleting, which leave deliveries behind if there are many, or if events are
// published concurrently.
func TestUpkeepReleasesAndDeletesHeldDeliveries(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d)
		active, paused := f.create(ada, event.MailboxExpiredName), f.create(ada, event.MailboxExpiredName)
		yes := true
		if _, err := f.Update(t.Context(), ada, paused.ID, webhook.Change{Paused: &yes}); err != nil {
			t.Fatal(err)
		}
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return f.queue.EnqueueTx(ctx, tx,
				job.New{Lane: string(active.ID), Payload: `{"event":"evt_1","body":{}}`, HeldFor: time.Hour},
				job.New{Lane: string(paused.ID), Payload: `{"event":"evt_1","body":{}}`, HeldFor: time.Hour},
				job.New{Lane: "whk_deleted", Payload: `{"event":"evt_1","body":{}}`, HeldFor: time.Hour},
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for lane, want := range map[id.Webhook]int{active.ID: 0, paused.ID: 1, "whk_deleted": 0} {
			if n := f.count("SELECT count(*) FROM job WHERE state = 3 AND lane = $1", lane); n != want {
				t.Errorf("%d deliveries are held for %s, want %d", n, lane, want)
			}
		}
		if n := f.count("SELECT count(*) FROM job WHERE lane = 'whk_deleted'"); n != 0 {
			t.Errorf("%d deliveries are left for an endpoint that was deleted, want 0", n)
		}
	})
}

func TestMalformedDeliveryIsBuried(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d)
		e := f.create(ada, event.MailboxExpiredName)
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return f.queue.EnqueueTx(ctx, tx, job.New{Lane: string(e.ID), Payload: "{"}, job.New{Lane: "whk_deleted", Payload: `{"event":"evt_1","body":{}}`})
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := f.run()
		f.waitDrained(t)
		stop()
		if dead := f.count("SELECT count(*) FROM job WHERE state = 4"); dead != 1 || len(f.sent) != 1 { // the ping
			t.Errorf("%d dead letters, %d requests, want 1 and 1 in sent", dead, len(f.sent))
		}
		if all, err := f.Deliveries(t.Context(), ada, e.ID); err != nil || len(all) != 1 || all[0].ResponseBody != "a long ans" {
			t.Errorf("Deliveries(%s) = %v, %+v, want one whose response body is cut to a long ans", e.ID, err, all)
		}
	})
}
