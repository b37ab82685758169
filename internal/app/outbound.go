package app

import (
	"context"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/httpapi"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/release"
	"github.com/gonebox/gonebox/internal/token"
)

// newOutbound creates the sending of mail through the operator's relay. Without a relay, a.outbound stays nil.
func (a *App) newOutbound(dataKey []byte) (err error) {
	cfg := a.cfg.Relay
	server, ok := cfg.Server()
	if !ok {
		return nil
	}
	seal, err := token.Derive(dataKey, "outgoing mail seal")
	if err != nil {
		return err
	}
	a.outbound, err = outbound.New(outbound.Parts{
		DB: a.db, Clock: a.clock, Logger: a.log, Deliveries: a.deliveries, Relay: outbound.Relay(server), From: cfg.Sender(), Hostname: a.cfg.SMTP.Hostname, Seal: seal,
		Policy: outbound.Policy{Retries: cfg.RetrySchedule, KeepFor: cfg.KeepFor, InFlight: cfg.InFlight, Timeout: cfg.Timeout},
		Notify: func() { a.wake.Wake(outbound.Kind + ":") }, SingleProcess: !a.sharesDatabase(), Grace: a.cfg.ShutdownGrace,
		Observe: a.metrics.counts.countRelay(), Address: a.addressOf,
	})
	return err
}

// addressOf returns the address of a mailbox; "" if it was erased.
func (a *App) addressOf(ctx context.Context, box id.Mailbox) (string, error) {
	m, err := a.mailboxes.Get(ctx, box)
	if err != nil || m == nil {
		return "", err
	}
	return m.Address, nil
}

// completeAccounts gives the service of accounts what erases the account of an owner who leaves, the issuer if there is one and, if there
// is a relay, what sends mail.
func (a *App) completeAccounts(dataKey []byte) error {
	a.accounts.EraseBy(a.eraseAccount)
	if a.outbound != nil {
		a.sendLetters()
		a.sendNotices()
	}
	return a.newOIDC(dataKey)
}

// sendLetters lets the service of accounts send mail.
func (a *App) sendLetters() {
	a.accounts.SendBy(account.Letters{
		Outbound: a.outbound, From: a.cfg.Relay.Sender(), Hostname: a.cfg.SMTP.Hostname, BaseURL: a.baseURL, Required: a.cfg.Access.ConfirmEmail == "required",
		Queue: job.Options{
			Poll: deliveryPoll, Grace: a.cfg.ShutdownGrace, SingleProcess: !a.sharesDatabase(), Logger: a.log,
			Notify: func() { a.wake.Wake(account.ForgottenKind + ":") },
		},
	})
}

// access returns what clients may know of how the service is set up.
func (a *App) access() httpapi.Access {
	access := a.cfg.Access
	shown := httpapi.Access{
		Registration: access.Registration, Guests: access.Guests == "on", Mail: a.outbound != nil, ConfirmEmail: access.ConfirmEmail == "required",
		Password: access.Password == "on",
	}
	if a.oidc != nil {
		name := a.cfg.OIDC.Label()
		shown.OIDC = &name
	}
	if access.Contact != "" {
		shown.Contact = &access.Contact
	}
	return shown
}

// newRelease creates the releasing of messages.
func (a *App) newRelease() *release.Service {
	return release.New(release.Parts{
		Clock: a.clock, Mailboxes: a.mailboxes, Messages: a.messages, Accounts: a.accounts, Outbound: a.outbound,
		From: a.cfg.Relay.Sender(), Hostname: a.cfg.SMTP.Hostname, Allow: a.cfg.Relay.Allow,
	})
}
