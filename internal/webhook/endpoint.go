package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
)

// Params are the input of Create. The caller has checked that Events are names that can be subscribed to.
type Params struct {
	URL    string
	Events []event.Name
	Domain id.Domain // "": all events of the account
	Local  bool      // the client is a trusted one; see Parts.Local
}

// Create creates an endpoint and enqueues a ping for it. It returns the signing secret, which is shown only once: the
// database has it encrypted. The quota is checked in the transaction that inserts the endpoint, so concurrent calls
// cannot exceed it.
//
// Errors: webhook.url_forbidden, webhook.limit_reached, request.invalid.
func (s *Service) Create(ctx context.Context, account id.Account, p Params) (*Endpoint, string, error) {
	if err := s.checkURL(ctx, p.URL, p.Local); err != nil {
		return nil, "", err
	}
	if err := s.checkDomain(ctx, account, p.Domain); err != nil {
		return nil, "", err
	}
	max, err := s.Plans.WebhookMax(ctx, account)
	if err != nil {
		return nil, "", err
	}
	now := s.Clock.Now().Truncate(time.Microsecond)
	e := &Endpoint{ID: id.New[id.Webhook](now), Account: account, URL: p.URL, Events: p.Events, Domain: p.Domain, CreatedAt: now, local: p.Local && s.Local != nil}
	secret := newSecret()
	e.secret = s.sealer.Seal(secret, string(e.ID))
	err = s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := countTx(ctx, tx, account)
		if err != nil {
			return err
		}
		if n >= max {
			return problem.Detailf(problem.WebhookLimitReached, "the plan allows %d webhooks and there are %d", max, n)
		}
		if err := insertTx(ctx, tx, e); err != nil {
			return err
		}
		_, err = s.pingTx(ctx, tx, e, false)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return e, shownSecret(secret), nil
}

// checkURL checks that a URL may be used, for which it looks up the host in DNS. local says that the client is a trusted
// one. A host that does not resolve is forbidden too. Errors: webhook.url_forbidden; that of ctx, if it ends first.
func (s *Service) checkURL(ctx context.Context, rawURL string, local bool) error {
	guard := s.Guard
	if local && s.Local != nil {
		guard = s.Local.Guard
	}
	err := guard.CheckURL(ctx, rawURL)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	p := problem.New(problem.WebhookURLForbidden)
	p.Detail = err.Error()
	p.Fields = []problem.Field{{Pointer: "/url", Message: err.Error()}}
	return p
}

// checkDomain returns request.invalid unless domain is empty or a private domain of the account.
func (s *Service) checkDomain(ctx context.Context, account id.Account, domain id.Domain) error {
	if domain == "" {
		return nil
	}
	owns, err := s.Domains.Owns(ctx, account, domain)
	if err == nil && !owns {
		err = problem.Invalid("/domainId", "is not one of your private domains")
	}
	return err
}

// pingTx enqueues a webhook.ping and returns its event. With once it is attempted once, even if the endpoint is paused;
// otherwise it is retried like other events.
func (s *Service) pingTx(ctx context.Context, tx *db.Tx, e *Endpoint, once bool) (id.Event, error) {
	p, err := newPayload(event.Event{Account: e.Account, At: s.Clock.Now(), Data: event.WebhookPing{Webhook: e.Resource()}})
	if err != nil {
		return "", err
	}
	p.Once = once
	return p.Event, s.sendTx(ctx, tx, e, p)
}

// sendTx enqueues a delivery to one endpoint, whether it is subscribed to the event or not.
func (s *Service) sendTx(ctx context.Context, tx *db.Tx, e *Endpoint, p payload) error {
	text, err := p.text()
	if err != nil {
		return err
	}
	return s.Queue.EnqueueTx(ctx, tx, job.New{Lane: e.lane(), Payload: text})
}

// List returns at most max endpoints of an account that are older than the endpoint before, newest first. If before is ""
// it starts with the newest. before may name an endpoint that has been deleted.
func (s *Service) List(ctx context.Context, account id.Account, before id.Webhook, max int) ([]*Endpoint, error) {
	return page(ctx, s.DB, account, before, max)
}

// Change has the fields of an endpoint to change; nil leaves one unchanged.
type Change struct {
	URL    *string
	Events []event.Name
	Paused *bool
	Local  bool // the client is a trusted one; see Parts.Local
}

// Update changes an endpoint of an account. Resuming it resets its failure count and releases the held deliveries; if
// there are too many for one call, Upkeep releases the rest. Pausing does not stop attempts in progress.
//
// Errors: webhook.not_found, webhook.url_forbidden.
func (s *Service) Update(ctx context.Context, account id.Account, webhook id.Webhook, c Change) (*Endpoint, error) {
	if _, err := getOwned(ctx, s.DB, account, webhook); err != nil { // before a DNS lookup
		return nil, err
	}
	c.Local = c.Local && s.Local != nil
	if c.URL != nil {
		if err := s.checkURL(ctx, *c.URL, c.Local); err != nil {
			return nil, err
		}
	}
	var e *Endpoint
	var resumed bool
	err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if e, err = getOwned(ctx, tx, account, webhook); err != nil {
			return err
		}
		resumed = c.apply(e)
		return saveTx(ctx, tx, e)
	})
	if err == nil && resumed {
		_, err = s.Queue.ReleaseLane(ctx, e.lane()) // after the commit, so that no delivery finds the endpoint still paused; Upkeep releases the rest
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// apply changes an endpoint and reports whether that resumed it. Pausing replaces no earlier reason.
func (c Change) apply(e *Endpoint) (resumed bool) {
	if c.URL != nil {
		e.URL, e.local = *c.URL, c.Local
	}
	if c.Events != nil {
		e.Events = c.Events
	}
	switch {
	case c.Paused == nil || *c.Paused == e.Paused():
		return false
	case *c.Paused:
		e.PausedReason = Manual
		return false
	}
	e.PausedReason, e.FailureCount = "", 0
	return true
}

// Delete deletes an endpoint of an account with its attempts and its undelivered events. Error: webhook.not_found.
func (s *Service) Delete(ctx context.Context, account id.Account, webhook id.Webhook) error {
	err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		e, err := getOwned(ctx, tx, account, webhook)
		if err != nil {
			return err
		}
		return deleteTx(ctx, tx, e.ID)
	})
	if err == nil {
		_, err = s.Queue.DeleteLane(ctx, string(webhook)) // deliveries that are left end when they find no endpoint
	}
	return err
}

// RotateSecret replaces the secret of an endpoint and returns the new one. For Policy.OldSecretFor, deliveries are signed
// with the previous secret as well, so that the receiver can switch without rejecting any. A secret from an earlier
// rotation is no longer used.
// Error: webhook.not_found.
func (s *Service) RotateSecret(ctx context.Context, account id.Account, webhook id.Webhook) (*Endpoint, string, error) {
	secret := newSecret()
	var e *Endpoint
	err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if e, err = getOwned(ctx, tx, account, webhook); err != nil {
			return err
		}
		e.oldSecret, e.oldSecretUntil = e.secret, s.Clock.Now().Add(s.Policy.OldSecretFor)
		e.secret = s.sealer.Seal(secret, string(e.ID))
		return saveTx(ctx, tx, e)
	})
	if err != nil {
		return nil, "", err
	}
	return e, shownSecret(secret), nil
}

// Test enqueues a ping for an endpoint, which is attempted once, even if the endpoint is paused. It does not wait for the
// attempt, and returns the event by which Deliveries shows it. Error: webhook.not_found.
func (s *Service) Test(ctx context.Context, account id.Account, webhook id.Webhook) (ev id.Event, err error) {
	err = s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		e, err := getOwned(ctx, tx, account, webhook)
		if err != nil {
			return err
		}
		ev, err = s.pingTx(ctx, tx, e, true)
		return err
	})
	return ev, err
}

// Redeliver sends the event of one of the last 100 attempts again, once, with the same identifier and body, even if
// the endpoint is paused. It does not wait for the attempt. Errors: webhook.not_found; webhook.delivery_not_found,
// also if the body was erased with the message it is about.
func (s *Service) Redeliver(ctx context.Context, account id.Account, webhook id.Webhook, delivery id.Delivery) (ev id.Event, err error) {
	err = s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		e, err := getOwned(ctx, tx, account, webhook)
		if err != nil {
			return err
		}
		p, err := getPayloadTx(ctx, tx, webhook, delivery)
		if err != nil {
			return err
		}
		p.Once, ev = true, p.Event
		return s.sendTx(ctx, tx, e, p)
	})
	return ev, err
}

// Status returns the endpoint's status in the API: active or paused.
func (e *Endpoint) Status() string {
	if e.Paused() {
		return "paused"
	}
	return "active"
}

// eventNames converts event names to strings, for the JSON form.
func eventNames(events []event.Name) []string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = string(e)
	}
	return names
}

// Resource returns the endpoint as the API and webhook.ping represent it, without its signing secret.
func (e *Endpoint) Resource() resource.Webhook {
	shown := resource.Webhook{
		ID: e.ID, URL: e.URL, Events: eventNames(e.Events), Status: e.Status(), FailureCount: e.FailureCount,
		LastDeliveryAt: clock.Optional(e.LastDeliveryAt), CreatedAt: clock.Stamp{Time: e.CreatedAt},
	}
	if e.Domain != "" {
		shown.DomainID = &e.Domain
	}
	if e.Paused() {
		reason := string(e.PausedReason)
		shown.PausedReason = &reason
	}
	return shown
}

// EraseTx deletes all endpoints of an account with their attempts and their undelivered events.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	all, err := db.Collect(ctx, tx, db.Value[id.Webhook], selectIDs, account)
	if err != nil {
		return fmt.Errorf("list the webhooks of %s: %w", account, err)
	}
	for _, webhook := range all {
		if err := deleteTx(ctx, tx, webhook); err != nil {
			return err
		}
		if err := s.Queue.DeleteLaneTx(ctx, tx, string(webhook)); err != nil {
			return err
		}
	}
	return nil
}
