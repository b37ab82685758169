package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/webhook"
)

// webhooks registers the group webhooks (spec §4).
func (a *API) webhooks() {
	const group = "webhooks"
	with := func(method, id, path, summary string, status int, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/me/webhooks" + path, Summary: summary, Status: status, Codes: codes,
			Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
		}
	}
	list := with(http.MethodGet, "list-webhooks", "", "List the webhook endpoints", 200)
	list.Text = "Newest first, without their secrets."
	register(a, group, list, a.listWebhooks)
	create := with(http.MethodPost, "create-webhook", "", "Register a webhook endpoint", 201, problem.WebhookURLForbidden, problem.WebhookLimitReached)
	create.Text = "The answer holds the signing secret, this once. A `webhook.ping` is sent at once. Deliveries follow Standard Webhooks."
	register(a, group, create, a.createWebhook)
	update := with(http.MethodPatch, "update-webhook", "/{id}", "Change, pause or resume a webhook endpoint", 200, problem.WebhookNotFound, problem.WebhookURLForbidden)
	update.Text = "What is left out stays as it is. What happens while an endpoint is paused waits for it, up to three days. Resuming it clears its failures and delivers what waits."
	register(a, group, update, a.updateWebhook)
	remove := with(http.MethodDelete, "delete-webhook", "/{id}", "Delete a webhook endpoint", 204, problem.WebhookNotFound)
	remove.Text = "What waits for it goes with it."
	register(a, group, remove, a.deleteWebhook)
	history := with(http.MethodGet, "list-deliveries", "/{id}/deliveries", "List the last delivery attempts", 200, problem.WebhookNotFound)
	history.Text = "The last 100, newest first, on one page."
	register(a, group, history, a.listDeliveries)
	rotate := with(http.MethodPost, "rotate-webhook-secret", "/{id}/rotate-secret", "Give a webhook endpoint a new secret", 200, problem.WebhookNotFound)
	rotate.Text = "The answer holds it, this once. For 24 hours deliveries are signed by both, the new one and the one before."
	register(a, group, rotate, a.rotateSecret)
	test := with(http.MethodPost, "test-webhook", "/{id}/test", "Send a ping to a webhook endpoint", 202, problem.WebhookNotFound)
	test.Text = "It is sent once, now, even where the endpoint is paused. How that went is among its deliveries."
	register(a, group, test, a.testWebhook)
	again := with(http.MethodPost, "redeliver", "/{id}/deliveries/{deliveryId}/redeliver", "Send an event again", 202,
		problem.WebhookNotFound, problem.WebhookDeliveryNotFound)
	again.Text = "The event of one of the last 100 attempts is sent once more, now, with the same `webhook-id` and body, even where the endpoint is paused."
	register(a, group, again, a.redeliver)
}

// Webhook is a webhook endpoint as its owner sees it (decisions §2).
type Webhook struct {
	ID             id.Webhook   `json:"id"`
	URL            string       `json:"url"`
	Events         []event.Name `json:"events" nullable:"false"`
	DomainID       *id.Domain   `json:"domainId" nullable:"true" doc:"The private domain it is for, or null."`
	Status         string       `json:"status" enum:"active,paused"`
	FailureCount   int          `json:"failureCount" doc:"Failed attempts in a row."`
	PausedReason   *string      `json:"pausedReason" nullable:"true" enum:"manual,failures,gone" doc:"Why it is paused, or null."`
	LastDeliveryAt *clock.Stamp `json:"lastDeliveryAt" doc:"When it last took an event, or null."`
	CreatedAt      clock.Stamp  `json:"createdAt"`
	Secret         string       `json:"secret,omitempty" doc:"The signing secret, whsec_ and base64, where one is handed out."`
}

func shownWebhook(e *webhook.Endpoint, secret string) Webhook {
	shown := e.Shown()
	return Webhook{
		ID: shown.ID, URL: shown.URL, Events: shown.Events, DomainID: shown.DomainID, Status: shown.Status, FailureCount: shown.FailureCount,
		PausedReason: shown.PausedReason, LastDeliveryAt: shown.LastDeliveryAt, CreatedAt: shown.CreatedAt, Secret: secret,
	}
}

func (a *API) listWebhooks(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[Webhook], error) {
	last, err := httpkit.Before[id.Webhook](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Webhooks.List(ctx, from(ctx).account.ID, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(e *webhook.Endpoint) string { return string(e.ID) })
	shown := make([]Webhook, len(all))
	for i, e := range all {
		shown[i] = shownWebhook(e, "")
	}
	return httpkit.Page(shown, next), nil
}

// webhookCreation is the body that registers an endpoint (spec §2 Webhook endpoint).
type webhookCreation struct {
	_        struct{}     `additionalProperties:"false"`
	URL      string       `json:"url" minLength:"1" maxLength:"2048" doc:"https on port 443 or 8443, leading to a public address." example:"https://hooks.example.org/gonebox"`
	Events   []event.Name `json:"events" minItems:"1" uniqueItems:"true" nullable:"false" enum:"message.received,otp.extracted,mailbox.created,mailbox.expired,domain.verified,domain.suspended,webhook.ping"`
	DomainID *string      `json:"domainId,omitempty" nullable:"true" maxLength:"64" doc:"One of your private domains: only what happens there is told. Everything where absent."`
}

func (c webhookCreation) wish() (w webhook.Wish, err error) {
	w = webhook.Wish{URL: c.URL, Events: c.Events}
	if c.DomainID != nil {
		if w.Domain, err = id.Parse[id.Domain](*c.DomainID); err != nil {
			err = problem.Invalid("/domainId", "is not one of your private domains")
		}
	}
	return w, err
}

func (a *API) createWebhook(ctx context.Context, in *struct{ Body webhookCreation }) (*httpkit.One[Webhook], error) {
	wish, err := in.Body.wish()
	if err != nil {
		return nil, err
	}
	e, secret, err := a.Webhooks.Create(ctx, from(ctx).account.ID, wish)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownWebhook(e, secret)), nil
}

// WebhookPath is the path of what concerns one endpoint.
type WebhookPath struct {
	ID string `path:"id" doc:"The webhook endpoint's id."`
}

// webhook is the id in the path; one that cannot be is like one that is not there.
func (p WebhookPath) webhook() (id.Webhook, error) {
	w, err := id.Parse[id.Webhook](p.ID)
	if err != nil {
		return "", problem.New(problem.WebhookNotFound)
	}
	return w, nil
}

// webhookUpdate is the body that changes an endpoint (spec §4 webhooks).
type webhookUpdate struct {
	_      struct{}     `additionalProperties:"false"`
	URL    *string      `json:"url,omitempty" minLength:"1" maxLength:"2048"`
	Events []event.Name `json:"events,omitempty" minItems:"1" uniqueItems:"true" enum:"message.received,otp.extracted,mailbox.created,mailbox.expired,domain.verified,domain.suspended,webhook.ping"`
	Status *string      `json:"status,omitempty" enum:"active,paused"`
}

func (a *API) updateWebhook(ctx context.Context, in *struct {
	WebhookPath
	Body webhookUpdate
},
) (*httpkit.One[Webhook], error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	c := webhook.Change{URL: in.Body.URL, Events: in.Body.Events}
	if in.Body.Status != nil {
		paused := *in.Body.Status != statusActive
		c.Paused = &paused
	}
	e, err := a.Webhooks.Update(ctx, from(ctx).account.ID, known, c)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownWebhook(e, "")), nil
}

func (a *API) deleteWebhook(ctx context.Context, in *WebhookPath) (*struct{}, error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	return nil, a.Webhooks.Delete(ctx, from(ctx).account.ID, known)
}

func (a *API) rotateSecret(ctx context.Context, in *WebhookPath) (*httpkit.One[Webhook], error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	e, secret, err := a.Webhooks.RotateSecret(ctx, from(ctx).account.ID, known)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownWebhook(e, secret)), nil
}
