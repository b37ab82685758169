package app

import (
	"context"
	"errors"
	"math"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/block"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/mailcheck"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resolver"
	"github.com/gonebox/gonebox/internal/sink"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/transcript"
)

// assemble creates the parts in the order in which they depend on each other. Every key is derived for one purpose:
// those that sign tokens from the master secrets, which can be rotated, and those for what is stored from the data
// key, which stays. The purposes in the calls of token.Derive must not change: data that is stored could not be read
// any more.
func (a *App) assemble(masters token.Masters, dataKey []byte, o Options) error {
	cfg := a.cfg
	keys, err := newKeyring(masters)
	if err != nil {
		return err
	}
	a.rotation.keys, a.rotation.loaded = keys, masters
	holdKey, err := token.Derive(dataKey, addressHoldKey)
	if err != nil {
		return err
	}
	catalogue, err := cfg.Catalogue()
	if err != nil {
		return err
	}
	a.billing = newBilling(a.db, a.clock, a.log, cfg, func() { a.wake.Wake(bankTopic + ":") })
	a.subscriptions = subscription.New(a.db, a.clock, catalogue, a.billing.wallet, a.billing.responses)
	entitled := entitlements{catalogue, a.subscriptions}
	dns := a.newResolver(o)
	a.domains = domain.New(a.db, a.clock, dns, entitled, domain.Policy{
		Configured: cfg.Domains, Hostname: cfg.SMTP.Hostname, RecheckEvery: cfg.Domain.RecheckEvery, SuspendAfter: cfg.Domain.SuspendAfter,
	})
	if a.webhooks, err = a.newWebhooks(dataKey, entitled, dns); err != nil {
		return err
	}
	outbox := a.webhooks.outbox(cfg.Webhooks.PendingMax)
	a.domains.PublishTo(outbox)
	if err := errors.Join(a.newDeliveryLog(dataKey), a.newOutbound(dataKey)); err != nil { // in this order
		return err
	}
	a.mailboxes = mailbox.New(mailbox.Parts{
		DB: a.db, Clock: a.clock, Keys: keys, Wake: a.wake, Plans: entitled, Domains: a.domains, Outbox: outbox, HoldSecret: holdKey[:], Deliveries: a.deliveries,
		Policy: mailbox.Policy{
			Cooldown: cfg.Mailbox.AddressCooldown, MaxMessages: cfg.Mailbox.MaxMessages, Reserved: cfg.Mailbox.Reserved,
			SinkTTL: cfg.SMTP.Sink.TTL, SinkMax: cfg.SMTP.Sink.Mailboxes,
		},
		ObserveBatch: a.metrics.observeEraseBatch, Arrivals: a.arrivals,
	})
	a.messages = message.New(message.Parts{
		DB: a.db, Clock: a.clock, Wake: a.wake, Mailboxes: a.mailboxes, RawMessages: a.rawStore, Program: newProgram(running),
		Policy: message.Policy{PreviewLength: cfg.Message.PreviewLength, InlineImageMax: int64(cfg.Message.InlineImageMax)},
	})
	a.sink, a.checks, a.follow = sink.New(a.db, a.clock, a.messages), mailcheck.New(), follow.New(follow.Parts{Clock: a.clock, Wake: a.wake, Mailboxes: a.mailboxes, Messages: a.messages})
	a.guests = guest.New(a.db, a.clock, a.mailboxes, cfg.Session.Idle)
	a.limiter = a.newLimiter()
	a.baseURL = a.effectiveBaseURL()
	if a.accounts, err = newAccounts(a.db, a.clock, a.limiter, cfg, dataKey); err != nil {
		return err
	}
	if err := a.completeAccounts(dataKey); err != nil {
		return err
	}
	a.keys, a.blocks, a.registry = apikey.New(a.db, a.clock, a.wake, entitled), block.New(a.db, a.clock), newRegistry(a.db, a.clock, cfg, catalogue, a.mailboxes.ForgetTokens)
	a.filters, a.projects = filter.New(a.db, a.clock, entitled, a.domains), a.newProjects(entitled)
	a.faults, a.transcripts = fault.New(a.db, a.clock), transcript.New(a.db, a.clock, a.log)
	a.joinCluster()
	a.inbound = a.newInbound(dns, outbox)
	a.schedule()
	return a.assembleServers(catalogue, o)
}

// assembleServers creates the servers, with the certificates that they share.
func (a *App) assembleServers(catalogue plan.Catalogue, o Options) error {
	if err := a.assembleTLS(); err != nil {
		return err
	}
	a.assembleSMTP(o)
	if err := a.assembleIngress(o); err != nil {
		return err
	}
	return a.assembleHTTP(catalogue)
}

// maxOfDomain bounds the queries in progress for one domain, an eighth of all: the sender of a mail decides which names
// are looked up.
const maxOfDomain = 128

// newResolver returns the DNS resolver that the whole service shares, with one cache; blocklists have their own.
func (a *App) newResolver(o Options) mailauth.Resolver {
	if o.Resolver != nil {
		return o.Resolver
	}
	return resolver.New(resolver.Config{Addr: a.cfg.DNS.Resolver, Clock: a.clock, Timeout: a.cfg.DNS.Timeout, MaxOfDomain: maxOfDomain})
}

// newAllMail creates the lists of all messages of accounts.
func (a *App) newAllMail() *allmail.Service {
	const indexShare = 8 // of the budget, beside which the indexes of searches exist
	return allmail.New(allmail.Parts{
		Clock: a.clock, Wake: a.wake, Mailboxes: a.mailboxes, Messages: a.messages, Tags: a.sink, Follow: a.follow, IndexMax: a.memory.Total() / indexShare,
	})
}

// The purposes of keys that the service and its commands derive from the data key.
const (
	addressHoldKey = "address hold"
	deliveryLogKey = "delivery log"
)

// newDeliveryLog creates the delivery log with its metrics.
func (a *App) newDeliveryLog(dataKey []byte) error {
	key, err := token.Derive(dataKey, deliveryLogKey)
	if err != nil {
		return err
	}
	parts := deliverylog.Parts{DB: a.db, Clock: a.clock, Logger: a.log, Secret: key[:]}
	if a.sharesDatabase() {
		parts.Existing = func(ctx context.Context, tx *db.Tx, boxes []id.Mailbox) ([]id.Mailbox, error) {
			return a.mailboxes.ExistingTx(ctx, tx, boxes) // not a method value: a.mailboxes, which needs the log, is still nil
		}
	}
	a.deliveries = deliverylog.New(parts)
	a.metrics.countDeliveryLog(a.deliveries)
	return nil
}

// newInbound creates the receiving of mail, for SMTP and for injected mail.
func (a *App) newInbound(dns mailauth.Resolver, outbox inbound.Outbox) *inbound.Service {
	a.once = once.New(a.db, a.clock)
	return inbound.New(inbound.Parts{
		DB: a.db, Clock: a.clock, Wake: a.wake, Domains: a.domains, Mailboxes: a.mailboxes, Messages: a.messages, RawMessages: a.rawStore, Filters: a.filters, Outbox: outbox,
		Sink: a.newSink(), Projects: projects{a}, SinkMails: a.sink, Once: a.once,
		Authenticator: mailauth.New(dns, a.cfg.SMTP.Hostname, a.cfg.DNS.MailAuthBudget),
		Logger:        a.log, Hostname: a.cfg.SMTP.Hostname, AttachmentMax: int64(a.cfg.Message.AttachmentMax), BatchMax: a.cfg.SMTP.SetMax,
		AllowStaff:    a.allowStaffMail,
		ObserveStored: a.recordStored,
		ObserveBatch:  func(mails int) { a.metrics.batchSize.Observe(float64(mails)) },
	})
}

// newAccounts creates the account service. The limiter counts wrong two-factor codes.
func newAccounts(d *db.DB, c clock.Clock, l *ratelimit.Limiter, cfg *config.Config, dataKey []byte) (*account.Service, error) {
	seal, err := token.Derive(dataKey, "two-factor seal")
	if err != nil {
		return nil, err
	}
	recovery, err := token.Derive(dataKey, "recovery code")
	if err != nil {
		return nil, err
	}
	return account.New(d, c, l, account.Policy{
		TokenTTL: cfg.Account.TokenTTL, TOTPPending: cfg.Account.TOTPPending, RecoveryCodes: cfg.Account.RecoveryCodes,
		Password: hashCost(cfg.Account.Password), Registrations: account.Registrations(cfg.Access.Registration),
	}, account.Secrets{Seal: seal, Recovery: recovery})
}

// hashCost returns the cost of one password hash; the configuration bounds passes and threads.
func hashCost(p config.Password) account.Cost {
	const kib = 1 << 10
	return account.Cost{
		Memory: uint32(min(int64(p.Memory)/kib, math.MaxUint32)), Passes: uint32(p.Passes), Threads: uint8(p.Threads),
	}
}
