package smtpd_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/smtpd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// delivery is a message that was passed to Deliver.
type delivery struct {
	env  inbound.Envelope
	data string
}

// fakeInbound accepts and records every message, except for the errors that a test sets.
type fakeInbound struct {
	refuse map[string]error // by address, the error of Accept
	fail   error            // the error of Deliver
	before func(ctx context.Context)

	mu        sync.Mutex
	delivered []delivery
}

func (f *fakeInbound) Accept(_ context.Context, address string) (inbound.Recipient, error) {
	if err := f.refuse[address]; err != nil {
		return inbound.Recipient{}, err
	}
	local, domain, _ := strings.Cut(address, "@")
	return inbound.Recipient{Address: address, Local: strings.ToLower(local), Domain: strings.ToLower(domain)}, nil
}

// Memory returns the memory for two copies of a message.
func (*fakeInbound) Memory(size int64) int64 { return 2 * size }

func (f *fakeInbound) Deliver(ctx context.Context, env *inbound.Envelope, data []byte) (inbound.Receipt, error) {
	if f.before != nil {
		f.before(ctx)
	}
	if f.fail != nil {
		return inbound.Receipt{}, f.fail
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delivered = append(f.delivered, delivery{env: *env, data: string(data)})
	return inbound.Receipt{}, nil
}

func (f *fakeInbound) deliveries() []delivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.delivered
}

// faultOrProblem is the error that a dialog names: a problem's code, or "fault" for an error that is none.
func faultOrProblem(name string) error {
	if name == "fault" {
		return context.DeadlineExceeded
	}
	return problem.New(problem.Code(name))
}

// serve starts a server on a port of its own and returns its address. It is shut down when the test ends.
func serve(tb testing.TB, cfg smtpd.Config, in smtpd.Inbound) (*smtpd.Server, string) {
	tb.Helper()
	return serveBy(tb, (*smtpd.Server).Serve, cfg, in)
}

// serveTLS is serve for clients that begin with TLS.
func serveTLS(tb testing.TB, cfg smtpd.Config, in smtpd.Inbound) (*smtpd.Server, string) {
	tb.Helper()
	return serveBy(tb, (*smtpd.Server).ServeTLS, cfg, in)
}

func serveBy(tb testing.TB, method func(*smtpd.Server, net.Listener) error, cfg smtpd.Config, in smtpd.Inbound) (*smtpd.Server, string) {
	tb.Helper()
	if cfg.Hostname == "" {
		cfg.Hostname = "mx.example.test"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := smtpd.New(cfg, in)
	served := make(chan error, 1)
	go func() { served <- method(s, l) }()
	tb.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // do not wait for clients that are still connected
		_ = s.Shutdown(ctx)
		if err := <-served; err != nil {
			tb.Errorf("Serve: %v", err)
		}
		_ = s.Shutdown(context.Background())
	})
	return s, l.Addr().String()
}
