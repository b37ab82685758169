package app

import (
	"context"
	"net/url"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/subscription"
	"github.com/gonebox/gonebox/internal/webhook"
)

// sendNotices makes the service write to the owner when a webhook is paused, a plan ends or a domain is suspended.
func (a *App) sendNotices() {
	a.webhooks.OnPaused(func(ctx context.Context, tx *db.Tx, e *webhook.Endpoint) error {
		return a.accounts.NotifyTx(ctx, tx, e.Account, account.Notice{
			Purpose: outbound.WebhookPaused, Subject: string(e.ID), About: hostOf(e.URL), Reason: string(e.PausedReason),
		})
	})
	a.subscriptions.OnExpired(func(ctx context.Context, tx *db.Tx, e subscription.Expiry) error {
		return a.accounts.NotifyTx(ctx, tx, e.Account, account.Notice{
			Purpose: outbound.PlanEnded, Subject: string(e.ID), About: e.PlanName, Reason: string(e.Cause),
		})
	})
	a.domains.OnSuspended(func(ctx context.Context, tx *db.Tx, p *domain.Private) error {
		return a.accounts.NotifyTx(ctx, tx, p.Account, account.Notice{Purpose: outbound.DomainSuspended, Subject: string(p.ID), About: p.Name})
	})
}

// hostOf returns the host of the URL of an endpoint: without its path, which may be a secret, and its port, which looks like a code.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
