// Package app puts the parts of the service together and is the only one that knows them all. It decides nothing that a
// domain could decide.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/reserve"
	"github.com/gonebox/gonebox/internal/smtpd"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// Version is the program's version; a release sets it when it is built.
var Version = "dev"

// Options are what a test changes of an App. The zero value is right for the service.
type Options struct {
	Clock    clock.Clock              // nil: the machine's
	Logger   *slog.Logger             // nil: made from the configuration
	Resolver mailauth.Resolver        // nil: made from the configuration
	Commit   func(func() error) error // see db.Options
}

// App is the assembled service.
type App struct {
	cfg           *config.Config
	clock         clock.Clock
	log           *slog.Logger
	db            *db.DB
	reserve       *reserve.Reserve // nil on PostgreSQL
	wake          *wake.Hub
	domains       *domain.Service
	boxes         *mailbox.Service
	mail          *message.Service
	guests        *guest.Service
	users         *account.Service
	keys          *apikey.Service
	filters       *filter.Service
	hooks         *hooks
	billing       *billing
	subscriptions *subscription.Service
	inbound       *inbound.Service
	smtp          *smtpd.Server
	web           *http.Server
	admin         *http.Server // nil: no metrics
	acme          *smtpd.ACME  // nil: no certificate is fetched
	metrics       *metrics
	memory        *budget.Budget
	baseURL       string // how clients reach the service

	rawStore     rawStore
	limiter      *ratelimit.Limiter
	cluster      cluster
	smtpListener net.Listener // nil: another process takes mail
	webListener  net.Listener
	adminListen  net.Listener  // nil: no metrics
	common       *job.Schedule // what is done once for all processes, where this one has the role jobs
	own          *job.Schedule // what each process does for itself
	stopping     atomic.Bool
}

// New opens the storage, brings it up to date and assembles the service. It listens already, so that a port that is
// taken is told at once; Run answers. Close releases everything if Run is not called.
func New(ctx context.Context, cfg *config.Config, o Options) (_ *App, err error) {
	a := &App{cfg: cfg, clock: o.Clock, log: o.Logger, wake: wake.New(), metrics: newMetrics(), memory: budget.New(memoryBudget(cfg))}
	a.metrics.countMemory(a.memory)
	if a.clock == nil {
		a.clock = clock.System()
	}
	if a.log == nil {
		a.log = newLogger(cfg.Log, os.Stderr)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := a.demandSecret(); err != nil {
		return nil, err
	}
	for _, w := range cfg.Warnings() {
		a.log.Warn("a setting opens the service to everyone", "key", w.Key, "value", w.Value, "advice", w.Advice)
	}
	warm := a.warm()
	if err := a.listen(ctx); err != nil {
		return nil, err
	}
	ctx = db.Freeing(ctx) // the little that a start writes may not keep a service on a full disk from starting
	if err := a.open(ctx, o); err != nil {
		return nil, err
	}
	master, err := token.LoadMaster(cfg.DataDir, string(cfg.Secrets.Key))
	if err != nil {
		return nil, err
	}
	if err := a.sameSecret(ctx, master); err != nil {
		return nil, err
	}
	if err := a.assemble(master, o); err != nil {
		return nil, err
	}
	if err := a.domains.Reload(ctx); err != nil {
		return nil, err
	}
	a.tellOfBilling(ctx)
	<-warm
	return a, nil
}

// Close releases the ports and the storage. Run does it by itself.
func (a *App) Close() error {
	var errs []error
	for _, l := range []net.Listener{a.webListener, a.smtpListener, a.adminListen} {
		if l != nil {
			_ = l.Close() // closed already after Run
		}
	}
	if a.hooks != nil {
		a.hooks.guard.Close()
	}
	errs = append(errs, a.cluster.close())
	if a.db != nil {
		errs = append(errs, a.db.Close())
		a.db = nil
	}
	if a.rawStore != nil {
		errs = append(errs, a.rawStore.Close())
		a.rawStore = nil
	}
	return errors.Join(errs...)
}
